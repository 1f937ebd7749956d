import type { HostDescription, RemoteDescription } from '@liaozhai/shared/contract';
import { sha256Hex } from '../model/signing.ts';
import { PAGE_TEMPLATE } from './openTestStore.ts';

const route = {
  name: 'stories',
  path: '/stories',
  title: '',
  requiresAuth: false,
  keepAlive: false,
  outsideShell: false,
  js: [],
  css: [],
};
/** Routes that differ from one of `stories` in these fields. */
export const routes = (...parts: Partial<typeof route>[]) => ({ routes: parts.map((part) => ({ ...route, ...part })) });

/** Routes that a remote must not claim. */
const ROUTES: readonly Breakage[] = [
  {
    what: "it claims another remote's route",
    remote: routes({ path: '/chat' }),
    says: 'route /chat belongs to chat@',
  },
  {
    what: 'it claims a route by another parameter name',
    remote: routes({ path: '/s/:id' }, { name: 'b', path: '/s/:storyId' }),
    says: 'route /s/:storyId belongs to',
  },
  { what: "it claims the host's route", remote: routes({ path: '/test/list' }), says: 'belongs to the host' },
  {
    what: 'it claims a route with and without its end',
    remote: routes({ path: '/chat/:id?' }),
    says: 'belongs to chat@',
  },
  { what: "it claims the server's route", remote: routes({ path: '/channels' }), says: 'belongs to the server' },
  { what: 'it claims a file', remote: routes({ path: '/sw.js' }), says: 'looks like a file' },
  {
    what: 'its route means too many places',
    remote: routes({ path: '/a/:b?/c/:d?/e/:f?/g/:h?' }),
    says: 'optional parts',
  },
  { what: 'it claims every address', remote: routes({ path: '/*' }), says: 'catch every address' },
  { what: 'it claims every first word', remote: routes({ path: '/:page' }), says: 'catch every address' },
  { what: 'it claims every word and what follows', remote: routes({ path: '/:a/*' }), says: 'catch every address' },
  { what: "it claims another remote's route name", remote: routes({ name: 'chat' }), says: 'route name "chat"' },
];

/** A defect of a build, and the finding that the gate must report. */
export interface Breakage {
  what: string;
  says: string;
  remote?: Partial<RemoteDescription>;
  host?: Partial<HostDescription>;
  files?: Record<string, string | null>;
  /** Changes a stored file after publishing; null removes it. */
  spoil?: { path: string; to: string | Buffer | null };
}

const ofCore = { global: 'of_core', chunkGlobal: undefined };
const requires = (ranges: Record<string, string>) => ({ shared: { provides: {}, requires: ranges } });
const page = (from: string, to: string) => ({ 'page.html': PAGE_TEMPLATE.replace(from, to) });

/** Text that does not compress well. */
export const noise = (words: number): string =>
  Array.from({ length: words }, (_, n) => ((n * 2654435761) % 4294967296).toString(36)).join('');

const STORED: Breakage[] = [
  {
    what: 'a stored script was changed',
    spoil: { path: 'static/js/async/page.js', to: 'evil()' },
    says: 'page.js is not what was published',
  },
  {
    what: 'a stored stylesheet was changed',
    spoil: { path: 'static/css/page.css', to: '*{}' },
    says: 'page.css is not what was published',
  },
  {
    what: 'a stored script is cut off',
    spoil: { path: 'remoteEntry.js', to: 'globalThis' },
    says: 'remoteEntry.js is not what was published',
  },
  {
    what: 'the brotli form is damaged',
    spoil: { path: 'remoteEntry.js.br', to: Buffer.from([1, 2, 3]) },
    says: 'remoteEntry.js.br is not',
  },
  {
    what: 'the brotli form holds other contents',
    spoil: { path: 'remoteEntry.js.br', to: Buffer.from('CwGAZXZpbAM=', 'base64') },
    says: 'remoteEntry.js.br is not',
  },
  {
    what: 'the gzip form is damaged',
    spoil: { path: 'remoteEntry.js.gz', to: 'plain' },
    says: 'remoteEntry.js.gz is not',
  },
  {
    what: 'a stored file is gone',
    spoil: { path: 'static/js/async/remote.js', to: null },
    says: 'remote.js is missing',
  },
];

const REMOTES: Breakage[] = [
  {
    what: 'the entry is no script',
    remote: { entry: 'entry.json' },
    files: { 'entry.json': '{}' },
    says: 'would be served as application/json',
  },
  {
    what: 'a stylesheet is no stylesheet',
    remote: { module: { js: ['static/js/async/remote.js'], css: ['style.txt'] } },
    files: { 'style.txt': '' },
    says: 'would be served as text/plain',
  },
  { what: 'it needs a newer React', remote: requires({ react: '^20.0.0' }), says: 'needs react ^20.0.0' },
  {
    what: 'it needs a newer shared/runtime library',
    remote: requires({ '@liaozhai/shared/runtime': '^1.4.0' }),
    says: 'needs @liaozhai/shared/runtime ^1.4.0',
  },
  { what: 'it needs a library nobody shares', remote: requires({ vue: '^3.0.0' }), says: 'needs vue' },
  {
    what: "it takes the host's core, which is older by a major version",
    remote: { federation: '3.0.0', ...ofCore },
    files: { 'remoteEntry.js': 'var of_core;_FEDERATION_RUNTIME_CORE' },
    says: "an entry of federation 3.0.0 cannot take the host's core",
  },
  {
    what: "it takes the host's core, and is older than any that can",
    remote: { federation: '0.8.12', ...ofCore },
    files: { 'remoteEntry.js': 'var of_core;_FEDERATION_RUNTIME_CORE' },
    says: "an entry of federation 0.8.12 cannot take the host's core",
  },
  {
    what: 'its contract is newer than the host',
    remote: { contract: '^1.2.0' },
    says: 'needs shared/runtime ^1.2.0, the host has 1.0.0: release the host first',
  },
  {
    what: 'its contract is of another major',
    remote: { contract: '^2.0.0' },
    says: 'needs shared/runtime ^2.0.0, the host has 1.0.0: release the host first',
  },
  {
    what: 'its contract is older than the host',
    remote: { contract: '^0.8.0 || ^0.9.0' },
    says: 'needs shared/runtime ^0.8.0 || ^0.9.0, the host has 1.0.0: build it again for that host',
  },
  { what: 'it does not expose ./remote', remote: { exposes: ['./app'] }, says: 'exposes no "./remote"' },
  { what: 'it names no module script', remote: { module: { js: [], css: [] } }, says: 'names no script' },
  { what: 'it has neither route nor slot', remote: { routes: [], slots: [] }, says: 'neither a route nor a slot' },
  {
    what: 'its entry lacks the container global',
    files: { 'remoteEntry.js': 'var x;' },
    says: 'does not contain the global',
  },
  {
    what: 'its entry lacks the chunk global',
    remote: { global: 'only_this' },
    files: { 'remoteEntry.js': 'var only_this;' },
    says: 'does not contain the chunkGlobal',
  },
  {
    what: 'its container is called like another remote',
    remote: { global: 'chat', chunkGlobal: undefined },
    files: { 'remoteEntry.js': 'var chat = {}; "./remote"' },
    says: 'global "chat" is the name of chat@',
  },
  {
    what: 'its two globals are one',
    remote: { global: 'one_global', chunkGlobal: 'one_global' },
    says: 'give each its own',
  },
  {
    what: 'its entry is too heavy',
    files: { 'remoteEntry.js': `/* ${noise(20_000)} */` },
    says: 'the entry remoteEntry.js weighs',
  },
  {
    what: 'a route is too heavy',
    files: { 'static/js/async/page.js': `/* ${noise(200_000)} */` },
    says: 'everything "stories" needs weighs',
  },
];

/** Late files of a remote. */
const chunks = (count: number, text: (n: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`static/js/async/part-${n}.js`, text(n)]));

const WHOLE: Breakage[] = [
  { what: 'its chunks are too many', files: chunks(60, (n) => `void ${n}`), says: 'hashes into every page' },
  {
    what: 'its code as a whole is too heavy',
    files: chunks(2, (file) => `/* ${Array.from({ length: 20_000 }, (_, n) => sha256Hex(`${file} ${n}`)).join('')} */`),
    says: 'its code weighs',
  },
];

const HOSTS: Breakage[] = [
  { what: 'the host drops to an older contract', host: { contract: '0.9.0' }, says: 'release the host first' },
  { what: 'the host moves to a newer contract', host: { contract: '2.0.0' }, says: 'build it again for that host' },
  {
    what: 'the host no longer shares React',
    host: { shared: { provides: { 'react-dom': '19.3.1', '@liaozhai/shared/runtime': '1.0.0' }, requires: {} } },
    says: 'needs react',
  },
  { what: 'the page lacks a placeholder', host: {}, files: page('<!--lz:set-->', ''), says: 'lz:set' },
  {
    what: 'the page has three inline scripts',
    host: {},
    files: page('</body>', '<script>1</script><script>2</script></body>'),
    says: 'inline scripts, not 3',
  },
  {
    what: 'the page has an inline handler',
    host: {},
    files: page('<body>', '<body onload="x()">'),
    says: 'inline event handlers',
  },
  {
    what: 'the page has a style attribute',
    host: {},
    files: page('<body>', '<body style="margin:0">'),
    says: 'style attributes',
  },
  {
    what: 'the page names a script by address',
    host: {},
    files: page('</body>', '<script src="/x.js"></script></body>'),
    says: 'by address',
  },
  {
    what: 'the host script is too heavy',
    host: {},
    files: { 'static/js/host.js': `/* ${noise(200_000)} */` },
    says: 'the host script weighs',
  },
];

/** All defects that the gate must find without a browser. Those for the browser are in gate/smoke*.test.ts. */
export const SEEDED_BREAKAGES: readonly Breakage[] = [...STORED, ...REMOTES, ...WHOLE, ...ROUTES, ...HOSTS];
