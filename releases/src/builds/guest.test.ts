import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { readRecord } from './catalog.ts';

let at: TestStore;
beforeAll(async () => {
  at = await openTestStore();
  await at.activate(await at.host('1.0.0'), await at.remote('stories'));
});
afterAll(() => at.remove());

interface Parts {
  package?: Record<string, unknown>;
  field?: Record<string, unknown>;
  metaData?: Record<string, unknown>;
  manifest?: Record<string, unknown> | string | null;
  files?: Record<string, string | null>;
}

const both = (sync: string[]) => ({ js: { sync, async: [] }, css: { sync: [], async: [] } });
const shared = (version: string, requiredVersion: string | null) => [
  { name: 'chart', version, requiredVersion, assets: both(['900.js']) },
];

let places = 0;

/** Writes a bundler's output for a guest, with some parts changed. Returns its dist folder. */
async function writeGuest(parts: Parts = {}): Promise<string> {
  places += 1;
  const root = join(at.folder, `guest-${places}`);
  const global = `gifts_1_0_${places}`;
  const field = {
    label: '礼物',
    contract: '^1.0.0',
    routes: [{ name: 'gifts', path: '/gifts', title: '礼物' }],
    slots: [{ name: 'my.entries', order: 30 }],
    ...parts.field,
  };
  const manifest = {
    metaData: {
      globalName: global,
      publicPath: 'auto',
      pluginVersion: '2.3.3',
      remoteEntry: { name: 'remoteEntry.js', path: '', type: 'var' },
      ...parts.metaData,
    },
    shared: [],
    exposes: [{ path: './remote', assets: both(['expose.js']) }],
    ...(typeof parts.manifest === 'object' ? parts.manifest : {}),
  };
  const text = parts.manifest === null ? null : (parts.manifest ?? manifest);
  const files: Record<string, string | null> = {
    'package.json': JSON.stringify({
      name: '@team/gifts',
      version: `1.0.${places}`,
      liaozhai: field,
      ...parts.package,
    }),
    'dist/mf-manifest.json': text === null || typeof text === 'string' ? text : JSON.stringify(manifest),
    'dist/remoteEntry.js': `var ${global};self.chunk_${global}=self.chunk_${global}||[];"./remote"`,
    'dist/expose.js': '1',
    'dist/900.js': '1',
    ...parts.files,
  };
  for (const [path, body] of Object.entries(files)) {
    if (body === null) continue;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), body);
  }
  return join(root, 'dist');
}

/** Publishes and judges a guest. Returns the problems; empty if it is accepted. */
async function verdict(dist: string, version?: string): Promise<string> {
  try {
    return (await at.verdict([await at.publishFrom(dist, version)])).join('\n');
  } catch (cause) {
    const { message, cure = '', details = [] } = cause as { message: string; cure?: string; details?: string[] };
    return [message, ...details, cure].join('\n');
  }
}

test('a remote from another build tool is described by its manifest and package.json', async () => {
  const dist = await writeGuest({
    manifest: { shared: shared('4.5.0', '^4.0.0') },
    package: { peerDependencies: { react: '^19.0.0' } },
  });
  expect(await verdict(dist)).toBe('');
  const { description } = await readRecord(at.store, await at.publishFrom(dist));
  expect(description).toMatchObject({
    name: 'gifts',
    label: '礼物',
    federation: '2.3.3',
    entry: 'remoteEntry.js',
    chunkGlobal: `chunk_gifts_1_0_${places}`,
    shared: { provides: { chart: '4.5.0' }, requires: { chart: '^4.0.0', react: '^19.0.0' } },
    module: { js: ['expose.js'], css: [] },
    routes: [{ name: 'gifts', path: '/gifts', requiresAuth: false, js: [] }],
    slots: [{ name: 'my.entries', order: 30 }],
  });
});

test('a byte order mark is ignored', async () => {
  const mark = '\uFEFF';
  const metaData = { globalName: 'gifts_marked', pluginVersion: '2.3.3', remoteEntry: { name: 'remoteEntry.js' } };
  const manifest = { metaData, shared: [], exposes: [{ path: './remote', assets: both(['expose.js']) }] };
  const field = { label: '礼物', contract: '^1.0.0', routes: [{ name: 'gifts', path: '/gifts', title: '礼物' }] };
  const files = {
    'package.json': mark + JSON.stringify({ name: 'gifts', version: '8.0.0', liaozhai: field }),
    'dist/mf-manifest.json': mark + JSON.stringify(manifest),
    'dist/remoteEntry.js': 'var gifts_marked;"./remote"',
  };
  expect(await verdict(await writeGuest({ files }))).toBe('');
});

test.each([
  ['webpack 5.113', (name: string) => `r=Array.isArray(self.${name})?self.${name}:self.${name}=[];r.forEach(x)`],
  [
    'webpack 5.113, not minified',
    (name: string) => `Array.isArray(self["${name}"]) ? self["${name}"] : (self["${name}"] = []);`,
  ],
  [
    'webpack, after a list of a library',
    (name: string) => `window.list=window.list||[];(self.${name}=self.${name}||[])`,
  ],
])('the global of the chunks is read from an entry of %s', async (_, entry) => {
  const metaData = { globalName: 'gifts_own' };
  const dist = await writeGuest({ metaData, files: { 'dist/remoteEntry.js': `var gifts_own;${entry('chunks_own')}` } });
  const { description } = await readRecord(at.store, await at.publishFrom(dist));
  expect(description).toMatchObject({ chunkGlobal: 'chunks_own' });
});

const asChunk = (queue: string) => ({
  files: { 'dist/remoteEntry.js': `var gifts;(${queue}).push([[1],{},r=>{gifts=r(2)}])` },
});

test("the bundler's own container plug-in, which writes no manifest, is described by the names of its package", async () => {
  const dist = await writeGuest({ manifest: null });
  expect(await verdict(dist)).toBe('');
});

test('an entry of ES modules is identified by its address, with a name per version', async () => {
  const modules = (to: string) => ({
    metaData: { globalName: 'gifts', remoteEntry: { name: 'remoteEntry.js', path: '', type: 'module' } },
    files: {
      'dist/remoteEntry.js': `import './expose.js'; export const get = ${to};`,
      'dist/.vite/manifest.json': '{}',
    },
  });
  const first = await writeGuest(modules('1'));
  expect(await verdict(first)).toBe('');
  await at.activate(await at.publishFrom(first));
  expect(await verdict(await writeGuest(modules('2')))).toBe('');
  expect(await verdict(await writeGuest(modules('{')))).toContain('does not parse');
});

test.each([
  ['named without a range', '4.5.0', '4.5.0'],
  ['whose package has no version', '', '0.0.0'],
  ['of a prerelease', '5.0.0-beta.2', '5.0.0-beta.2'],
])('a guest is admitted with a library %s', async (_, written, carried) => {
  const dist = await writeGuest({ manifest: { shared: shared(written, null) } });
  expect(await verdict(dist)).toBe('');
  const { description } = await readRecord(at.store, await at.publishFrom(dist));
  expect(description).toMatchObject({ shared: { provides: { chart: carried }, requires: { chart: '*' } } });
});

test('a version given on publishing replaces the package’s version, also in module names', async () => {
  const modules = (text: string): Parts => ({
    package: { version: undefined },
    metaData: { globalName: 'gifts', remoteEntry: { name: 'remoteEntry.js', path: '', type: 'module' } },
    files: { 'dist/remoteEntry.js': `export const get = ${text};` },
  });
  expect(await verdict(await writeGuest(modules('1')), '9.0.1')).toBe('');
  await at.activate(await at.publishFrom(await writeGuest(modules('2')), '9.0.2'));
  expect(await verdict(await writeGuest(modules('3')), '9.0.3')).toBe('');
  expect(await verdict(await writeGuest(modules('4')))).toContain('version');
});

const noise = Array.from({ length: 60 }, (_, n) => [`dist/c${n}.0123456789abcdef.js`, `${n}`]);

test.each<[what: string, Parts, says: string]>([
  ['a manifest that is cut off', { manifest: '{' }, 'mf-manifest.json is damaged'],
  ['a manifest that is no JSON', { manifest: '<!doctype html>' }, 'Build it again'],
  ['a package.json with comments', { files: { 'package.json': '// 礼物\n{ "liaozhai": {} }' } }, 'without comments'],
  ['a package without the field', { package: { liaozhai: undefined } }, 'Set the field "liaozhai" of its package.json'],
  ['a name with capitals', { package: { name: '@Team/Gifts' } }, 'Without a package of ours'],
  ['a file with too long a path', { files: { [`dist/${'a'.repeat(238)}.js`]: '1' } }, 'more than 240 characters'],
  ['a manifest of another shape', { manifest: '[]' }, 'mf-manifest.json does not describe a remote'],
  ['a manifest that names an entry which is not there', { metaData: { remoteEntry: { name: 'x.js' } } }, 'names x.js'],
  ['a manifest that names a file outside', { metaData: { remoteEntry: { name: '../x.js' } } }, 'plain relative path'],
  ['a manifest with the name of another global', { metaData: { globalName: 'gifts_9' } }, 'the global "gifts_9"'],
  ['a manifest with the beginning of its name', { metaData: { globalName: 'gifts' } }, 'the global "gifts"'],
  ['a manifest without the module', { manifest: { exposes: [] } }, 'exposes no "./remote"'],
  [
    'a manifest that lists a missing file',
    { files: { 'dist/expose.js': null } },
    'expose.js, which is not in the build',
  ],
  ['a manifest with a malformed version', { metaData: { pluginVersion: 'newest' } }, 'federation: must be a semantic'],
  ['files at another address', { metaData: { publicPath: 'https://cdn.example/' } }, 'Set output.publicPath'],
  ["files at Rsbuild's own prefix", { metaData: { publicPath: '/' } }, "(Rsbuild: output.assetPrefix) to 'auto'"],
  ["files at Vite's own base", { metaData: { publicPath: '/' } }, "Vite's base to './'"],
  [
    'an entry of ES modules without a manifest',
    { manifest: null, files: { 'dist/remoteEntry.js': 'import{a as get}from"./a.js";export{get};' } },
    'manifest: true',
  ],
  ...['self.chunks=self.chunks||[]', 'Array.isArray(self.chunks)?self.chunks:self.chunks=[]'].map(
    (queue): [string, Parts, string] => [
      `an entry that waits for another script: ${queue}`,
      asChunk(queue),
      'optimization.runtimeChunk: false',
    ],
  ),
  [
    'an address that the entry evaluates from text',
    { metaData: { publicPath: undefined, getPublicPath: "return '/cdn/'" } },
    "without getPublicPath and with output.publicPath: 'auto'",
  ],
  ['a range that nothing meets', { manifest: { shared: shared('4.5.0', '>2 <1') } }, 'its own range >2 <1 refuses'],
  ['a range that its copy does not meet', { manifest: { shared: shared('4.5.0', '^99.0.0') } }, 'set requiredVersion'],
  [
    'a range of React that the host does not meet',
    { package: { peerDependencies: { react: '^18' } } },
    'needs react ^18',
  ],
  ['a name that every record has', { package: { name: 'constructor' } }, 'other than "constructor"'],
  ['a field that is misspelt', { field: { requireAuth: true } }, 'requireAuth'],
  ...[[], ['react'], 'react', null, { react: 19 }, { react: { version: '^19.0.0' } }, { zod: 4 }].map(
    (peerDependencies): [string, Parts, string] => [
      `peer dependencies that are no ranges by name: ${JSON.stringify(peerDependencies)}`,
      { package: { peerDependencies } },
      'peerDependencies',
    ],
  ),
  ['a package without a contract', { field: { contract: undefined } }, 'liaozhai.contract: is missing'],
  ['a version with a leading v', { package: { version: 'v1.0.0' } }, 'Set what these lines name'],
  ['a contract of another host', { field: { contract: '^9.0.0' } }, 'needs shared/runtime ^9.0.0'],
  ['neither route nor slot', { field: { routes: [], slots: [] } }, 'neither a route nor a slot'],
  [
    "another remote's route",
    { field: { routes: [{ name: 'g', path: '/stories', title: '' }] } },
    'route /stories belongs to',
  ],
  [
    'a path with * inside',
    { field: { routes: [{ name: 'g', path: '/gifts/*/new', title: '' }] } },
    'route /gifts/*/new has * before its end',
  ],
  ...[' ', '\u3000', '\u200b'].map((label): [string, Parts, string] => [
    `a label that shows nothing: ${JSON.stringify(label)}`,
    { field: { label } },
    'its label shows nothing',
  ]),
  ['an entry of 3 MB', { files: { 'dist/remoteEntry.js': `var gifts;${'gifts();'.repeat(400_000)}` } }, 'KiB to parse'],
  ['sixty chunks', { files: Object.fromEntries(noise) }, 'merge small chunks'],
])('a guest is refused with a cure: %s', async (_, parts, says) => {
  expect(await verdict(await writeGuest(parts))).toContain(says);
});

/** Problems that each of the three places reports for a range; empty if it is accepted. */
const RANGES: [range: string, peer: string, library: string, contract: string][] = [
  ...[
    ...['workspace:^', 'workspace:*', 'workspace:^19.0.0', 'catalog:', 'catalog:react19', 'npm:react@^19'],
    ...['file:../react', 'link:../react', 'portal:../react', 'git+https://git.example/react.git', 'github:team/react'],
    ...['https://npm.example/react.tgz', 'latest', 'next', 'banana', '^19.0.0, ^18.0.0'],
  ].map((range): [string, string, string, string] => [
    range,
    `peerDependencies.react: "${range}" must be a semver range, such as ^19.0.0`,
    `requires chart "${range}", which is no semver range`,
    `liaozhai.contract: "${range}" must be a range such as ^2.1.0`,
  ]),
  ...['*', '', 'x', '>=1', '1.x || 19.x', ' ^19 ', '^v19.0.0', '~19.3', '19.1.0 - 19.9'].map(
    (range): [string, string, string, string] => [range, '', '', `liaozhai.contract: "${range}" must be a range such`],
  ),
  ['1.x || 2.x', 'needs react 1.x || 2.x', 'its own range 1.x || 2.x refuses', 'must be a range such as ^2.1.0'],
  ['^1.0.0', 'needs react ^1.0.0', 'its own range ^1.0.0 refuses', ''],
  ['^1', 'needs react ^1', 'its own range ^1 refuses', ''],
  ['^19', '', '', 'needs shared/runtime ^19'],
  ['^1.0.0 || ^19', '', '', ''],
];

test.each(RANGES)('the range "%s" is checked or refused with a cure in every place', async (range, ...says) => {
  const places: Parts[] = [
    { package: { peerDependencies: { react: range } } },
    { manifest: { shared: shared('19.3.0', range) } },
    { field: { contract: range } },
  ];
  for (const [at, parts] of places.entries()) {
    const said = await verdict(await writeGuest(parts));
    if (says[at]) expect(said).toContain(says[at]);
    else expect(said).toBe('');
    // cures must not suggest our packages, which did not build it
    expect(said).not.toContain('remoteConfig');
  }
});

test('ranges that only package managers understand are accepted for unshared packages', async () => {
  const peerDependencies = { react: '^19.0.0', '@team/kit': 'workspace:^', redux: 'catalog:' };
  expect(await verdict(await writeGuest({ package: { peerDependencies } }))).toBe('');
});

test.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
  'a shared library with the name %s is checked like any other',
  async (name) => {
    const library = (requiredVersion: string, ...carried: string[]) => ({
      shared: [{ name, version: '1.2.0', requiredVersion, assets: both(carried) }],
    });
    const sharing = async (requiredVersion: string, ...carried: string[]) =>
      (await verdict(await writeGuest({ manifest: library(requiredVersion, ...carried) }))).slice(0, 8);
    expect([await sharing('^1.0.0', '900.js'), await sharing('^2.0.0', '900.js'), await sharing('^1.0.0')]).toEqual(
      // the only name that no document can contain
      name === '__proto__' ? ['', '', ''] : ['', 'sharing:', 'sharing:'],
    );
  },
);

test('a guest whose builds share one global is refused at the second build', async () => {
  const fixed = {
    metaData: { globalName: 'gifts_fixed' },
    files: { 'dist/remoteEntry.js': 'var gifts_fixed;"./remote"' },
  };
  const first = await writeGuest(fixed);
  expect(await verdict(first)).toBe('');
  await at.activate(await at.publishFrom(first));
  const second = { ...fixed, files: { ...fixed.files, 'dist/expose.js': '2' } };
  expect(await verdict(await writeGuest(second))).toContain('names of their own, made of its version');
});

test('with two guests of one name, a version belongs to the first publisher', async () => {
  const parts = { package: { version: '7.0.0' } };
  await at.publishFrom(await writeGuest(parts));
  expect(await verdict(await writeGuest(parts))).toContain('gifts 7.0.0 is taken by');
});

test('a folder without a build is refused', async () => {
  const files = { 'dist/remoteEntry.js': null };
  const nothing = await writeGuest({ package: { liaozhai: undefined }, manifest: null, files });
  expect(await verdict(nothing)).toContain('usually dist');
});

test('a package.json inside the build does not replace the guest’s own', async () => {
  const written = { name: 'gifts', version: '1.0.0', type: 'module' };
  expect(await verdict(await writeGuest({ files: { 'dist/package.json': JSON.stringify(written) } }))).toBe('');
});
