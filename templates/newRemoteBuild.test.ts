import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { createRemote } from './newRemote.ts';

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), '..');
let root = '';

/** Replaces `pnpm install`: creates a workspace into which the new remote is linked. */
function layOutWorkspace() {
  root = mkdtempSync(join(tmpdir(), 'new-remote-build-'));
  for (const file of ['remotes.json', 'pnpm-workspace.yaml']) cpSync(join(repoRoot, file), join(root, file));
  mkdirSync(join(root, 'remotes'));
  cpSync(join(repoRoot, 'shared'), join(root, 'shared'), {
    recursive: true,
    filter: (source) => basename(source) !== 'node_modules',
  });
  symlinkSync(join(repoRoot, 'shared/node_modules'), join(root, 'shared/node_modules'));
  createRemote({ root, name: 'gifts', label: '礼物' });
  const modules = join(root, 'remotes/gifts/node_modules');
  mkdirSync(join(modules, '@rsbuild'), { recursive: true });
  mkdirSync(join(modules, '@liaozhai'));
  symlinkSync(join(root, 'shared'), join(modules, '@liaozhai/shared'));
  symlinkSync(join(repoRoot, 'shared/node_modules/react'), join(modules, 'react'));
  symlinkSync(join(repoRoot, 'shared/node_modules/@rsbuild/core'), join(modules, '@rsbuild/core'));
}

beforeAll(layOutWorkspace);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const descriptionBuilt = () => JSON.parse(readFileSync(join(root, 'remotes/gifts/dist/liaozhai.json'), 'utf8'));

/** Builds the new remote to be published. Returns its description. */
function buildRemote() {
  const folder = join(root, 'remotes/gifts');
  const rsbuild = join(folder, 'node_modules/@rsbuild/core/bin/rsbuild.js');
  const build = spawnSync(process.execPath, [rsbuild, 'build'], { cwd: folder, encoding: 'utf8' });
  expect(`${build.stdout}${build.stderr}`).not.toContain('error');
  return descriptionBuilt();
}

test('a new remote builds without a further edit and describes its one page', () => {
  const description = buildRemote();
  expect(description).toMatchObject({ kind: 'remote', name: 'gifts', label: '礼物', entry: 'remoteEntry.js' });
  expect(description.routes).toHaveLength(1);
  expect(description.routes[0]).toMatchObject({ name: 'gifts', path: '/gifts', title: '礼物', requiresAuth: false });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('its dev servers leave what was built to be published where it is, and use none of its globals', async () => {
  const folder = join(root, 'remotes/gifts');
  const published = buildRemote();
  const registry = join(root, 'remotes.json');
  const remotes = JSON.parse(readFileSync(registry, 'utf8')) as { name: string; devPort: number }[];
  const devPort = await freePort();
  writeFileSync(registry, JSON.stringify(remotes.map((each) => (each.name === 'gifts' ? { ...each, devPort } : each))));
  for (const mode of [[], ['--env-mode', 'inside']]) {
    const rsbuild = join(folder, 'node_modules/@rsbuild/core/bin/rsbuild.js');
    const server = spawn(process.execPath, [rsbuild, 'dev', ...mode], { cwd: folder, stdio: 'ignore' });
    const file = mode.length > 0 ? 'liaozhai.json' : '';
    const request = () => fetch(`http://localhost:${devPort}/${file}`).catch(() => null);
    try {
      await expect.poll(async () => (await request())?.ok).toBe(true);
      if (file) {
        const served = await (await request())?.json();
        expect(served.name).toBe('gifts');
        for (const key of ['global', 'chunkGlobal']) expect(served[key]).not.toBe(published[key]);
      }
    } finally {
      server.kill();
      await once(server, 'exit');
    }
    expect(descriptionBuilt()).toEqual(published);
  }
});
