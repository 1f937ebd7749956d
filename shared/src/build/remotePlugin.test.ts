import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Configuration, rspack } from '@rspack/core';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import * as v from 'valibot';
import { buildDescriptionSchema, type RemoteDescription } from '../contract/releases.ts';
import { type Exchange, insideFolder, RemotePlugin } from './remotePlugin.ts';

let root = '';

const sources = {
  'package.json': JSON.stringify({ name: 'gifts', version: '1.2.0', type: 'module' }),
  'pnpm-lock.yaml': 'lockfileVersion: 9',
  'src/routes.js': `export const routes = [{ name: 'gifts', path: '/gifts', title: '礼物', page: () => import(/* webpackChunkName: "gifts" */ './GiftsPage.js') }];`,
  'src/remote.js': `import { defineRemote } from '@liaozhai/runtime';
    import { routes } from './routes.js';
    export default defineRemote({ name: 'gifts', routes });`,
  'src/GiftsPage.js': `import { createElement } from 'react'; export default () => createElement('h1', null, '礼物');`,
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'remote-plugin-'));
  mkdirSync(join(root, 'src'));
  for (const [path, text] of Object.entries(sources)) writeFileSync(join(root, path), text);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

type Settings = Exchange & { dev?: 'inside'; devPort?: number };

/** Configuration of a team that uses Rspack directly. */
const configuration = (exchange: Settings = {}, own: Configuration = {}): Configuration => ({
  ...own,
  context: root,
  mode: 'production',
  output: { path: join(root, 'dist') },
  plugins: [new RemotePlugin({ name: 'gifts', label: '礼物', ...exchange })],
});

const build = (exchange?: Settings, own?: Configuration) =>
  new Promise<string>((resolve, reject) =>
    rspack(configuration(exchange, own), (failure, stats) =>
      failure ? reject(failure) : resolve(stats?.toString({ all: false, errors: true, warnings: true }) ?? ''),
    ),
  );

function installLibrary(name: string, version: string) {
  const folder = join(root, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, main: 'index.js' }));
  writeFileSync(join(folder, 'index.js'), `export default () => '${name} ${version}';`);
}

const built = (path: string) => readFileSync(join(root, 'dist', path), 'utf8');
const description = () => v.parse(buildDescriptionSchema, JSON.parse(built('liaozhai.json'))) as RemoteDescription;

test('one plugin makes Rspack build a remote that release system and host accept', async () => {
  expect(await build()).toBe('');
  const { version, routes, module, entry, global, shared } = description();
  expect(version).toBe('1.2.0');
  expect(routes).toMatchObject([{ name: 'gifts', path: '/gifts', title: '礼物', requiresAuth: false }]);
  for (const file of [...module.js, ...(routes[0]?.js ?? [])]) expect(built(file)).toContain('chunks_gifts_');
  expect(built(entry)).toContain(`var ${global}`);
  // a separate file would add a request before each first screen
  expect(module).toEqual({ js: [entry], css: [] });
  expect(built(entry)).toContain('path:"/gifts"');
  expect(Object.keys(shared.requires)).toContain('@liaozhai/shared/runtime');
});

test('the federation core and the singletons come from the host', async () => {
  await build();
  const entry = built(description().entry);
  expect(entry).toContain('self._FEDERATION_RUNTIME_CORE');
  expect(entry).not.toContain('__GLOBAL_LOADING_REMOTE_ENTRY__');
  // shared under the host's name for it
  expect(entry).toContain('@liaozhai/shared/runtime');
});

test('description and manifest contain what a remote shares, exposes and imports', async () => {
  installLibrary('lanterns', '1.4.0');
  writeFileSync(
    join(root, 'src/GiftsPage.js'),
    `import light from 'lanterns';
    export default () => import('stories/Badge').then(light);`,
  );
  writeFileSync(join(root, 'src/Ribbon.js'), `export default 'ribbon';`);
  const errors = await build({
    shared: { lanterns: '^1.2.0' },
    exposes: { './Ribbon': './src/Ribbon' },
    remotes: ['stories'],
  });
  expect(errors).toBe('');
  const { shared, exposes } = description();
  expect(shared.provides).toEqual({ lanterns: '1.4.0' });
  expect(shared.requires).toMatchObject({ lanterns: '^1.2.0', react: expect.any(String) });
  expect(exposes).toEqual(['./remote', './Ribbon']);
  const manifest = JSON.parse(built('mf-manifest.json')) as {
    shared: { name: string; version: string; requiredVersion: string }[];
    exposes: { name: string }[];
  };
  const listed = manifest.shared.find(({ name }) => name === 'lanterns');
  expect(listed).toMatchObject({ version: '1.4.0', requiredVersion: '^1.2.0' });
  expect(manifest.exposes.map(({ name }) => name)).toContain('Ribbon');
});

test('the entry carries the runtime of its bundler under any configuration', async () => {
  expect(await build({}, { optimization: { runtimeChunk: 'single' } })).toBe('');
  expect(readdirSync(join(root, 'dist')).filter((file) => file.startsWith('runtime'))).toEqual([]);
});

test('a remote asks for the contract that its package.json names', async () => {
  const contract = '^2.0.0';
  writeFileSync(
    join(root, 'package.json'),
    sources['package.json'].replace('}', `,"liaozhai":${JSON.stringify({ contract })}}`),
  );
  expect(await build()).toBe('');
  expect(description()).toMatchObject({ contract, shared: { requires: { '@liaozhai/shared/runtime': contract } } });
});

test('an undeclared slot is reported with the file that must declare it', async () => {
  writeFileSync(
    join(root, 'src/remote.js'),
    `import { defineRemote } from '@liaozhai/runtime';
    import { routes } from './routes.js';
    const slots = [{ name: 'my.entries', component: () => import(/* webpackChunkName: "my.entries" */ './GiftsPage.js') }];
    export default defineRemote({ name: 'gifts', routes, slots });`,
  );
  expect(await build()).toContain('export the slot "my.entries" in slots of src/routes.tsx, or nobody sees it');
});

test('a missing shared library is refused by name', async () => {
  expect(() => rspack(configuration({ shared: { lanterns: '^1.2.0' } }))).toThrow(
    'lanterns is shared, but not installed',
  );
});

test('builds with different sources or libraries have different globals', async () => {
  await build();
  const first = description().global;
  writeFileSync(join(root, 'pnpm-lock.yaml'), 'lockfileVersion: 9 # another library');
  await build();
  const second = description().global;
  writeFileSync(join(root, 'src/GiftsPage.js'), 'export default () => null;');
  await build();
  expect(new Set([first, second, description().global]).size).toBe(3);
});

test('a dev server inside a host serves another global than the published build of the same sources', async () => {
  await build();
  await build({ dev: 'inside', devPort: 0 });
  const inside = JSON.parse(readFileSync(join(insideFolder(root), 'liaozhai.json'), 'utf8'));
  expect([inside.name, inside.global === description().global]).toEqual(['gifts', false]);
});

test('the build contains the remote’s gate.json, and an invalid one is refused with its places', async () => {
  const gate = (file: object) => writeFileSync(join(root, 'gate.json'), JSON.stringify(file));
  await build();
  expect(JSON.parse(built('gate.json'))).toEqual({ answers: {}, unopened: {} });
  const before = description().sourceHash;
  gate({ answers: { 'GET /api/v1/gifts/:id': { body: { data: [] } } }, unopened: { wrap: 'needs a parcel' } });
  await build();
  expect(JSON.parse(built('gate.json'))).toEqual({
    answers: { 'GET /api/v1/gifts/:id': { status: 200, body: { data: [] } } },
    unopened: { wrap: 'needs a parcel' },
  });
  expect(description().sourceHash).not.toBe(before);
  gate({ answers: { '/api/v1/gifts': {} }, answer: {} });
  await expect(build()).rejects.toThrow(/gate\.json cannot be read[\s\S]*GET \/api\/v1\/gifts\/:id/);
});

test('a page without a chunk name is refused with its route', async () => {
  writeFileSync(join(root, 'src/routes.js'), sources['src/routes.js'].replace(/\/\*.*?\*\//, ''));
  await expect(build()).rejects.toThrow('no chunk named "gifts"');
});

test("a team's own dev proxy comes before the backend's, which stays", () => {
  const own = { context: ['/api/v1/gifts'], target: 'http://localhost:4000' };
  const { options } = rspack({
    ...configuration(),
    devServer: { proxy: [own] },
    plugins: [new RemotePlugin({ name: 'gifts', label: '礼物', dev: 'alone' })],
  });
  const [first, ...others] = (options.devServer as { proxy: (typeof own)[] }).proxy;
  expect(first).toBe(own);
  expect(others.flatMap(({ context }) => context)).toContain('/api');
});

test('a dev server whose port is in use ends with one line and a cure', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const file = join(process.cwd(), 'shared/src/build/devServer.ts');
  const program = `import(${JSON.stringify(file)}).then(({ requireFreePort }) => requireFreePort(${port}, 'devPort'))`;
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '-e', program], { encoding: 'utf8' });
  server.close();
  expect([status, stderr.trim()]).toEqual([1, `Port ${port} is taken: stop what listens there, or change devPort.`]);
});
