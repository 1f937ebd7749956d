import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  dictionarySchema,
  filePathSchema,
  nameSchema,
  type RemoteDescription,
  remoteDescriptionSchema,
} from '@liaozhai/shared/contract';
import semver from 'semver';
import * as v from 'valibot';
import { hasCode, refused } from '../errors.ts';
import { contractRangeSchema, rangeSchema } from '../model/build.ts';
import { parseAs, parseJson } from '../model/documents.ts';
import { sha256Hex } from '../model/signing.ts';

// A guest is a remote built without our packages. Module Federation's manifest and the remote's package.json describe it.

const MANIFEST = 'mf-manifest.json';
const DEFAULT_ENTRY = 'remoteEntry.js';
/** Federation version assumed for the bundler's own container plug-in, which writes no manifest. */
const FEDERATION_1 = '1.0.0';

const { label, routes, slots } = remoteDescriptionSchema.entries;
const [routeEntries, slotEntries] = [routes.pipe[0].item.entries, slots.pipe[0].item.entries];

/** The field `liaozhai` of a guest's package.json. Misspelt keys are refused: nothing else would report them. */
const fieldSchema = v.strictObject({
  name: v.optional(nameSchema),
  label,
  contract: contractRangeSchema,
  routes: v.optional(
    v.array(
      v.strictObject({
        name: routeEntries.name,
        path: routeEntries.path,
        title: routeEntries.title,
        requiresAuth: v.optional(v.boolean(), false),
        keepAlive: v.optional(v.boolean(), false),
        outsideShell: v.optional(v.boolean(), false),
      }),
    ),
    [],
  ),
  slots: v.optional(v.array(v.strictObject({ name: slotEntries.name, order: slotEntries.order })), []),
});

const packageSchema = v.object({
  name: v.pipe(
    v.string(),
    v.transform((name) => name.replace(/^@[^/]*\//, '')),
  ),
  version: v.optional(v.string()),
  peerDependencies: v.optional(
    v.pipe(
      dictionarySchema(v.string(), v.string()),
      // the bundler resolved all other packages at build time
      v.object({ react: v.optional(rangeSchema), 'react-dom': v.optional(rangeSchema) }),
    ),
    {},
  ),
  liaozhai: fieldSchema,
});

const filesSchema = v.optional(v.object({ sync: v.array(filePathSchema), async: v.array(filePathSchema) }), {
  sync: [],
  async: [],
});
const assetsSchema = v.object({ js: filesSchema, css: filesSchema });

const manifestSchema = v.object({
  metaData: v.object({
    globalName: v.string(),
    publicPath: v.optional(v.string(), 'auto'),
    getPublicPath: v.optional(v.string()),
    pluginVersion: v.string(),
    remoteEntry: v.object({ name: v.string(), path: v.optional(v.string(), ''), type: v.optional(v.string(), 'var') }),
  }),
  shared: v.array(
    v.object({
      name: v.string(),
      version: v.optional(v.string(), ''),
      requiredVersion: v.nullish(v.union([v.string(), v.boolean()]), '*'),
      assets: assetsSchema,
    }),
  ),
  exposes: v.array(v.object({ path: v.string(), assets: assetsSchema })),
});

type Manifest = v.InferOutput<typeof manifestSchema>;
type GuestPackage = v.InferOutput<typeof packageSchema>;

async function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'EISDIR')) return null;
    throw cause;
  });
}

const hasField = (source: string | null): source is string => source !== null && /"liaozhai"\s*:/.test(source);

/** The nearest package.json above the folder; null where no folder has one. */
async function findPackageAbove(folder: string): Promise<string | null> {
  const parent = dirname(folder);
  if (parent === folder) return null;
  return (await readText(join(parent, 'package.json'))) ?? findPackageAbove(parent);
}

/** Returns the folder's own package.json if it has the field `liaozhai`, else the nearest one above; null if that lacks it. */
async function findGuestPackage(folder: string): Promise<string | null> {
  const ownSource = await readText(join(folder, 'package.json'));
  const source = hasField(ownSource) ? ownSource : await findPackageAbove(folder);
  return hasField(source) ? source : null;
}

export const BROKEN_CURE = 'Build it again and publish what is whole.';
export const GUEST_CURE = 'Set what these lines name: see "Without a package of ours" in docs/for-teams.md.';

const notRemote = (what: string): string => `${what} does not describe a remote`;

const GLOBAL = String.raw`\b(?:self|globalThis|window)(?:\.|\[["'])`;
/** `self.webpackChunkgifts = self.webpackChunkgifts || []`, the start of a chunk runtime. webpack 5.113 tests for an array. */
const CHUNK_GLOBAL = new RegExp(String.raw`${GLOBAL}([\w$]+)["'\]]*\s*(?:=|\)\s*\?)\s*${GLOBAL}\1\b`, 'g');
/** `(self.webpackChunkgifts = …).push([[`, the start of a chunk, which waits for the bundler's runtime. */
const CHUNK = new RegExp(String.raw`${CHUNK_GLOBAL.source}[^;,]*\.push\(\s*\[\[`);

/** Takes the last match: modules, which may create other lists (`window.dataLayer`), precede the bundler's runtime. */
const chunkGlobalOf = (entry: string): string | undefined => [...entry.matchAll(CHUNK_GLOBAL)].at(-1)?.[1];

function assertUsable({ metaData, shared }: Manifest): void {
  for (const { name, requiredVersion } of shared)
    if (typeof requiredVersion === 'string' && !v.is(rangeSchema, requiredVersion))
      throw refused(
        `${MANIFEST} requires ${name} "${requiredVersion}", which is no semver range`,
        'Set requiredVersion of the federation plug-in to one, such as ^19.0.0, and build again.',
      );
  const { publicPath, getPublicPath, remoteEntry } = metaData;
  // federation copies a function into the entry verbatim, but wraps any other text in `new Function`
  if (getPublicPath && !getPublicPath.startsWith('function'))
    throw refused(
      `${MANIFEST} has a getPublicPath, which the entry evaluates as text: the page's policy forbids that`,
      "Build again without getPublicPath and with output.publicPath: 'auto'.",
    );
  if (!['auto', './', ''].includes(publicPath))
    throw refused(
      `${MANIFEST} has the publicPath "${publicPath}", where no published file will be`,
      "Set output.publicPath (Rsbuild: output.assetPrefix) to 'auto', or Vite's base to './', and build again.",
    );
  if (!['var', 'global', 'window', 'self', 'script', 'module', 'esm'].includes(remoteEntry.type))
    throw refused(
      `${MANIFEST} has an entry of the type "${remoteEntry.type}", which no page can load`,
      "Set library: { type: 'var', name } of the federation plug-in and build again.",
    );
}

const sharedLibrariesOf = ({ shared }: Manifest, { peerDependencies }: GuestPackage): RemoteDescription['shared'] => {
  const isBundled = ({ assets: { js } }: Manifest['shared'][number]) => js.sync.length + js.async.length > 0;
  const rangeOf = (range: string | boolean) => (typeof range === 'string' ? range : '*');
  const { react, 'react-dom': reactDom } = peerDependencies;
  return {
    // federation writes version 0 for a library whose package has none
    provides: Object.fromEntries(
      shared.filter(isBundled).map(({ name, version }) => [name, semver.valid(version) ?? '0.0.0']),
    ),
    requires: {
      ...(react ? { react } : {}),
      ...(reactDom ? { 'react-dom': reactDom } : {}),
      ...Object.fromEntries(shared.map(({ name, requiredVersion }) => [name, rangeOf(requiredVersion)])),
    },
  };
};

const versionedName = (name: string, version: string) => `${name}_${version}`.replace(/[^\w$]/g, '_');

/** Replaces a missing manifest, from the package's name and the text of the entry. */
function fallbackManifest(name: string, version: string, entry: string): Manifest {
  const noFiles = { sync: [], async: [] };
  const remoteModule = { path: './remote', assets: { js: { sync: [DEFAULT_ENTRY], async: [] }, css: noFiles } };
  return {
    metaData: {
      globalName: versionedName(name, version),
      publicPath: 'auto',
      pluginVersion: FEDERATION_1,
      remoteEntry: { name: DEFAULT_ENTRY, path: '', type: 'var' },
    },
    shared: [],
    exposes: entry.includes('./remote') ? [remoteModule] : [],
  };
}

/** Module statements, which a container of the bundler's own plug-in does not contain. */
const MODULE_SYNTAX = /\b(?:import|export)\s*[{"'*]/;

/**
 * Reads a guest's description; null if the folder contains no guest. `requestedVersion` is the version to publish, if not the package's. Throws
 * refused for an incomplete or contradictory description.
 */
export async function describeGuest(folder: string, requestedVersion = ''): Promise<unknown> {
  const manifestSource = await readText(join(folder, MANIFEST));
  const fallbackEntry = await readText(join(folder, DEFAULT_ENTRY));
  if (manifestSource === null && fallbackEntry === null) return null;
  const source = await findGuestPackage(resolve(folder));
  if (source === null)
    throw refused(
      `${folder} holds no liaozhai.json, which builds of our packages have`,
      'Set the field "liaozhai" of its package.json: see "Without a package of ours" in docs/for-teams.md.',
    );
  const packageSource = parseJson(source, 'package.json', 'Write it as JSON, without comments.');
  const packageJson = parseAs(packageSchema, packageSource, notRemote('package.json'), GUEST_CURE);
  const version = packageJson.version ?? requestedVersion;
  if (manifestSource === null && MODULE_SYNTAX.test(fallbackEntry ?? ''))
    throw refused(
      `${DEFAULT_ENTRY} is an ES module, and ${MANIFEST}, which describes one, is missing`,
      'Set manifest: true of the federation plug-in and build again.',
    );
  const manifest =
    manifestSource === null
      ? fallbackManifest(packageJson.name, version, fallbackEntry ?? '')
      : parseAs(manifestSchema, parseJson(manifestSource, MANIFEST, BROKEN_CURE), notRemote(MANIFEST), GUEST_CURE);
  assertUsable(manifest);
  const { metaData, exposes } = manifest;
  const entry = [metaData.remoteEntry.path, metaData.remoteEntry.name]
    .filter(Boolean)
    .join('/')
    .replace(/^\.?\//, '');
  const isModule = /^(module|esm)$/.test(metaData.remoteEntry.type);
  const text = (await readText(join(folder, entry))) ?? '';
  if (CHUNK.test(text))
    throw refused(
      `${entry} waits for the bundler's runtime, which is a script of its own that no page loads`,
      'Set optimization.runtimeChunk: false and build again.',
    );
  const remoteAssets = exposes.find(({ path }) => path === './remote')?.assets;
  const { name = packageJson.name, ...field } = packageJson.liaozhai;
  // only the bundler knows the chunks of pages, so they are not preloaded
  const noFiles = { js: [], css: [] };
  return {
    kind: 'remote',
    ...field,
    name,
    version,
    sourceHash: sha256Hex(text).slice(0, 12),
    federation: metaData.pluginVersion,
    shared: sharedLibrariesOf(manifest, packageJson),
    entry,
    css: [],
    ...(isModule ? { entryType: 'module' } : {}),
    // a module sets no global: the value only has to differ between versions
    global: isModule ? versionedName(metaData.globalName, requestedVersion || version) : metaData.globalName,
    chunkGlobal: chunkGlobalOf(text),
    exposes: exposes.map(({ path }) => path),
    module: { js: remoteAssets?.js.sync.length ? remoteAssets.js.sync : [entry], css: remoteAssets?.css.sync ?? [] },
    routes: field.routes.map((route) => ({ ...route, ...noFiles })),
    slots: field.slots.map((slot) => ({ ...slot, ...noFiles })),
  };
}
