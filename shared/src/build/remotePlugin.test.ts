import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Configuration, rspack } from '@rspack/core';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import * as v from 'valibot';
import { buildDescriptionSchema, type RemoteDescription } from '../contract/releases.ts';
import { sharedRuntime } from './federation.ts';
import { RemotePlugin } from './remotePlugin.ts';

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

/** What a team writes that builds with Rspack itself. */
const configuration = (): Configuration => ({
  context: root,
  mode: 'production',
  output: { path: join(root, 'dist') },
  plugins: [new RemotePlugin({ name: 'gifts', label: '礼物' })],
});

const build = () =>
  new Promise<string>((resolve, reject) =>
    rspack(configuration(), (failure, stats) =>
      failure ? reject(failure) : resolve(stats?.toString({ all: false, errors: true, warnings: true }) ?? ''),
    ),
  );

const built = (path: string) => readFileSync(join(root, 'dist', path), 'utf8');
const description = () => v.parse(buildDescriptionSchema, JSON.parse(built('liaozhai.json'))) as RemoteDescription;

test('one plugin makes Rspack build what the release system and the host take', async () => {
  expect(await build()).toBe('');
  const { version, routes, module, entry, global, shared } = description();
  expect(version).toBe('1.2.0');
  expect(routes).toMatchObject([{ name: 'gifts', path: '/gifts', title: '礼物', requiresAuth: false }]);
  for (const file of [...module.js, ...(routes[0]?.js ?? [])]) expect(built(file)).toContain('chunks_gifts_');
  expect(built(entry)).toContain(`var ${global}`);
  // a file of its own would be a request more before each first screen
  expect(module).toEqual({ js: [entry], css: [] });
  expect(built(entry)).toContain('path:"/gifts"');
  expect(Object.keys(shared.requires)).toContain('@liaozhai/shared/runtime');
});

test('late files go through the asset loader, and federation comes from the host', async () => {
  await build();
  const entry = built(description().entry);
  expect(entry).toContain('__loadAsset');
  expect(entry).toContain('__federationRuntime');
  // set after the compiler's own loader, whose place it takes
  expect(entry.indexOf('__loadAsset')).toBeGreaterThan(entry.lastIndexOf('createElement("script")'));
  // asked of the host under the name it provides it by
  expect(entry).toContain('@liaozhai/shared/runtime');
});

test('two builds share no global, whether sources or libraries changed', async () => {
  await build();
  const first = description().global;
  writeFileSync(join(root, 'pnpm-lock.yaml'), 'lockfileVersion: 9 # another library');
  await build();
  const second = description().global;
  writeFileSync(join(root, 'src/GiftsPage.js'), 'export default () => null;');
  await build();
  expect(new Set([first, second, description().global]).size).toBe(3);
});

test('a page whose chunk has no name is refused by its route', async () => {
  writeFileSync(join(root, 'src/routes.js'), sources['src/routes.js'].replace(/\/\*.*?\*\//, ''));
  await expect(build()).rejects.toThrow('no chunk named "gifts"');
});

test("the runtime is the host's by both names that federation's plugins ask for it by", () => {
  const { resolve } = createRequire(import.meta.url);
  const asked = ['', '/bundler'].map((path) => resolve(`@module-federation/webpack-bundler-runtime${path}`));
  expect(Object.keys(sharedRuntime()).sort()).toEqual(asked.sort());
});

test('a dev server whose port is taken ends with one line that names the cure', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const file = join(process.cwd(), 'shared/src/build/devServer.ts');
  const program = `import(${JSON.stringify(file)}).then(({ requireFreePort }) => requireFreePort(${port}, 'devPort'))`;
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '-e', program], { encoding: 'utf8' });
  server.close();
  expect([status, stderr.trim()]).toEqual([1, `Port ${port} is taken: stop what listens there, or change devPort.`]);
});
