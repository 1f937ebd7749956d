import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { buildFileHeaders } from '../builds/files.ts';
import { channelKey, requireChannel } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { hasCode, refused, usage } from '../errors.ts';
import { buildFolder } from '../model/build.ts';
import { sha384Integrity } from '../model/signing.ts';
import { makePageSet, renderPage } from '../serve/renderPage.ts';
import { brandedManifest, brandIcon, escapeHtml, hasOwnSeal, type SiteBrand, siteBrand } from '../serve/siteConfig.ts';
import { guardFolder } from '../store/fileStore.ts';

export interface ExportOptions {
  folder: string;
  config: Record<string, unknown>;
  connectSrc?: string[];
  imgOrigins?: string[];
}

/** Throws usage for a file, and for a folder with files of somebody else. */
async function requireSiteFolder(folder: string): Promise<void> {
  const entries = await readdir(resolve(folder)).catch((cause: unknown): string[] => {
    if (hasCode(cause, 'ENOENT')) return [];
    if (hasCode(cause, 'ENOTDIR')) throw usage(`${folder} is a file, or below one`, 'Name a folder.');
    throw cause;
  });
  if (entries.length === 0 || (entries.includes('_headers') && entries.includes('channels'))) return;
  throw usage(
    `${folder} has files, and is no earlier export`,
    'Name an empty folder, a new one or that of an earlier export.',
  );
}

async function writeAtomically(folder: string, path: string, body: string | Buffer): Promise<void> {
  const target = resolve(folder, path);
  if (!target.startsWith(join(resolve(folder), sep)))
    throw refused(`${path} leads out of ${folder}`, 'Roll back to a set without such a path.');
  await mkdir(dirname(target), { recursive: true });
  await writeFile(`${target}.new`, body);
  await rename(`${target}.new`, target);
}

async function copyBuild(writer: Writer, id: string, folder: string): Promise<string[]> {
  const keys = await writer.store.list(`${buildFolder(id)}/`);
  for (const key of keys) {
    const body = await writer.store.read(key);
    if (body) await writeAtomically(folder, key, body);
  }
  return keys;
}

const pageFile = (path: string): string => join(path.slice(1), 'index.html');

/** Removes pages of former routes, which would keep running their old set. Other files stay. */
async function removeFormerPages(folder: string, pages: readonly string[]): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  const pageFiles = new Set(pages.map(pageFile));
  const formerPages = files.filter((file) => basename(file) === 'index.html' && !pageFiles.has(file));
  for (const file of formerPages.filter((path) => !path.startsWith(join('builds', '/')))) {
    const html = await readFile(join(folder, file), 'utf8');
    if (html.includes('id="liaozhai-set"')) await rm(join(folder, file));
  }
}

const headerFile = (blocks: [path: string, headers: Record<string, string>][]): string =>
  blocks
    .map(
      ([path, headers]) =>
        `${path}\n${Object.entries(headers)
          .map(([name, value]) => `  ${name}: ${value}\n`)
          .join('')}`,
    )
    .join('\n');

const ONLY_AS_HEADER = 'frame-ancestors';

/** Puts the policy into the page. It differs per page and switch, but static hosting has the same headers for all. */
function withPolicy(html: string, policy: string): string {
  const content = policy.split('; ').filter((part) => !part.startsWith(ONLY_AS_HEADER));
  const meta = `<meta http-equiv="content-security-policy" content="${escapeHtml(content.join('; '))}">`;
  return html.replace(/<head\b[^>]*>(?:\s*<meta charset=[^>]*>)?/i, (start) => `${start}\n${meta}`);
}

const POLICY = 'content-security-policy';

/** Policies of files that a browser opens as documents. One rule per ending, because hosts limit the number of rules. */
const documentRules = (files: readonly string[]): [string, Record<string, string>][] =>
  [...new Set(files.map((path) => extname(path)))].sort().flatMap((ending) => {
    const { [POLICY]: policy } = buildFileHeaders(`x${ending}`);
    return policy ? [[`/builds/*${ending}`, { [POLICY]: policy }]] : [];
  });

/**
 * Headers by path. Rules for the same path never set the same header, because hosts join such values. Policies are an exception: when
 * joined, each of them applies.
 */
function siteHeaders(
  page: Record<string, string>,
  pages: readonly string[],
  files: readonly string[],
): [string, Record<string, string>][] {
  const { 'content-type': _, 'cache-control': __, [POLICY]: policy = '', ...commonHeaders } = page;
  const framePolicy = policy.split('; ').filter((part) => part.startsWith(ONLY_AS_HEADER));
  const { 'cache-control': cacheControl = '', 'access-control-allow-origin': allowedOrigin = '' } =
    buildFileHeaders('x.js');
  const revalidate = { 'cache-control': 'no-cache' };
  return [
    ['/*', { ...commonHeaders, [POLICY]: framePolicy.join('; ') }],
    ['/builds/*', { 'cache-control': cacheControl, 'access-control-allow-origin': allowedOrigin }],
    ...documentRules(files),
    ...[...pages, '/channels/*', '/sw.js'].map((path): [string, Record<string, string>] => [path, revalidate]),
  ];
}

/** Copies icons, manifest and other files that browsers request at the origin's root. */
async function copyRootFiles(writer: Writer, hostId: string, folder: string, brand: SiteBrand): Promise<void> {
  const { files, description } = await writer.catalog.record(hostId);
  const internalFiles = new Set([
    'liaozhai.json',
    ...(description.kind === 'host' ? [description.template, description.serviceWorker] : []),
  ]);
  for (const path of Object.keys(files).filter((file) => !file.includes('/') && !internalFiles.has(file))) {
    const body = await writer.store.read(`${buildFolder(hostId)}/${path}`);
    if (body) await writeAtomically(folder, path, brandedFile(path, body, brand));
  }
}

/** Brands the manifest and the SVG icon. Only the product's server draws bitmaps. */
function brandedFile(path: string, body: Buffer, brand: SiteBrand): string | Buffer {
  if (path === 'manifest.webmanifest') return brandedManifest(body.toString('utf8'), brand);
  return path === 'favicon.svg' && hasOwnSeal(brand) ? brandIcon(brand) : body;
}

/** Paths without parameters, which get a page with their own preloads. All others fall back to index.html. */
const plainPaths = (routes: readonly { path: string }[]): string[] =>
  routes.map(({ path }) => path).filter((path) => !/[:*]/.test(path) && path !== '/');

/**
 * Writes the stable set as a tree for static hosting: builds, then pages, then the channel. A copy in that order never refers to a
 * missing file. `_headers` has the headers of each path, which change only with the pages and kinds of documents. Candidates, which
 * need a server, are left out.
 */
export const exportSite = (writer: Writer, options: ExportOptions) =>
  guardFolder(options.folder, () => writeSite(writer, options));

async function writeSite(writer: Writer, options: ExportOptions) {
  await requireSiteFolder(options.folder);
  const { store, catalog, channel, key } = writer;
  const { document, source } = await requireChannel(writer);
  if (!document.stable) throw refused(`channel ${channel} has nothing live yet`, 'Publish and `activate` first.');
  const body = await catalog.set(document.stable.set);
  const builds = [...new Set([...document.stable.builds, ...Object.values(document.lastGood)])];
  const files: string[] = [];
  for (const id of builds) files.push(...(await copyBuild(writer, id, options.folder)));
  const template = await store.read(body.host.template.slice(1));
  if (!template || sha384Integrity(template) !== body.host.templateIntegrity)
    throw refused('the page template was changed', 'Roll the host back.');
  const chosenSet = { hash: document.stable.set, body, candidate: false, override: null };
  const pageSet = await makePageSet(catalog, document, key.publicKey, chosenSet);
  const pages = ['/', ...plainPaths(Object.values(body.remotes).flatMap((remote) => remote.routes))];
  let headers: Record<string, string> = {};
  for (const path of pages) {
    const page = renderPage({ ...options, template: template.toString('utf8'), pageSet, path });
    headers = page.headers;
    const html = withPolicy(page.html, headers[POLICY] ?? '');
    await writeAtomically(options.folder, pageFile(path), html);
  }
  await removeFormerPages(options.folder, pages);
  await copyRootFiles(writer, body.host.id, options.folder, siteBrand(options.config.brand));
  const worker = body.host.serviceWorker && (await store.read(body.host.serviceWorker.slice(1)));
  if (worker) await writeAtomically(options.folder, 'sw.js', worker);
  await writeAtomically(options.folder, '_headers', headerFile(siteHeaders(headers, pages, files)));
  await writeAtomically(options.folder, channelKey(channel), source);
  return { folder: options.folder, set: document.stable.set, pages, builds };
}
