import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { contentType } from '../../src/builds/readPackage.ts';
import { hasCode } from '../../src/errors.ts';
import { sha256Hex } from '../../src/model/signing.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = '.sources';

const PAGE_FOLDER = join(ROOT, 'dist');

const IS_SOURCE = /\.(?:tsx?|css|html)$/;
/** The oldest browsers that the page is compiled for. */
const FLOOR = join(ROOT, '../../shared/src/build/floor.ts');
const IS_TEST = /\.test\.tsx?$|^Gallery\./;

async function sourcesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => IS_SOURCE.test(name) && !IS_TEST.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Of the page itself, of the kit it is made with, and of the versions of React it carries. */
async function sourceHash(): Promise<string> {
  const kit = dirname(fileURLToPath(import.meta.resolve('@liaozhai/shared/ui')));
  const packages = ['react', 'react-dom'].map((name) => fileURLToPath(import.meta.resolve(`${name}/package.json`)));
  const own = await sourcesBelow(join(ROOT, 'src'));
  const files = [...own, ...(await sourcesBelow(kit)), join(ROOT, 'rsbuild.config.ts'), FLOOR, ...packages];
  const contents = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return sha256Hex(files.map((file, at) => `${basename(file)}\n${contents[at]}`).join('\n'));
}

const builtFrom = (): Promise<string> =>
  readFile(join(PAGE_FOLDER, STAMP), 'utf8').catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return '';
    throw cause;
  });

/** Builds the console's page unless it was built from these very sources. */
export async function buildPage(): Promise<string> {
  const hash = await sourceHash();
  if ((await builtFrom()) === hash) return PAGE_FOLDER;
  const { createRsbuild, loadConfig } = await import('@rsbuild/core');
  const { content } = await loadConfig({ cwd: ROOT });
  const rsbuild = await createRsbuild({ cwd: ROOT, config: { ...content, logLevel: 'error' } });
  const { close } = await rsbuild.build();
  await close();
  await writeFile(join(PAGE_FOLDER, STAMP), hash);
  return PAGE_FOLDER;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const ABSENT = { message: 'there is no such page', cure: 'The console is at /, its API below /v1/.', details: [] };

async function readFiles(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return [];
    throw cause;
  });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (file): Promise<[string, Buffer]> => [file.slice(folder.length), await readFile(file)]),
    ),
  );
}

/** The console's page, from memory: what was not there at the start cannot be asked for. */
export async function pageFiles(folder: string): Promise<Hono> {
  const files = await readFiles(folder);
  const page = new Hono();
  page.get('*', (context, next) => {
    const path = context.req.path === '/' ? '/index.html' : context.req.path;
    const body = files.get(path);
    if (!body) return next();
    return context.body(new Uint8Array(body), 200, {
      ...HEADERS,
      'content-type': contentType(path) ?? 'application/octet-stream',
    });
  });
  return page.all('*', (context) => context.json(ABSENT, 404, HEADERS));
}
