import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, rs, test } from '@rstest/core';
import { packagesVersion, publishPackages } from './pack.ts';

interface Published {
  versions: Record<string, { dist: { integrity: string } }>;
}

/** A registry with the requests that npm uses to look up and to publish a package. */
const packages = new Map<string, Published>();
const registry = createServer(async (request, response) => {
  const name = decodeURIComponent(request.url?.slice(1) ?? '');
  if (request.method === 'PUT') packages.set(name, JSON.parse(await text(request)) as Published);
  const found = packages.get(name);
  response.statusCode = found ? 200 : 404;
  response.end(JSON.stringify(found ?? { error: 'not found' }));
});

let folder = '';
let address = '';

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'liaozhai-publish-'));
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const { port } = registry.address() as AddressInfo;
  address = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'npmrc'), `//127.0.0.1:${port}/:_authToken=of-the-site\n`);
  rs.stubEnv('npm_config_userconfig', join(folder, 'npmrc'));
  rs.stubEnv('npm_config_cache', join(folder, 'cache'));
});

afterEach(() => {
  rs.unstubAllEnvs();
  packages.clear();
  registry.closeAllConnections();
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

function packed(readme: string): string {
  const source = join(folder, 'ui');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: '@liaozhai/ui', version: packagesVersion }));
  writeFileSync(join(source, 'README.md'), readme);
  const { stdout } = spawnSync('npm', ['pack', '--json'], { cwd: source, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(source, filename);
}

test('a package is published once, and a version never gets other contents', async () => {
  const ui = packed('the kit');
  await publishPackages({ ui }, address);
  const published = packages.get('@liaozhai/ui');
  expect(published?.versions[packagesVersion]?.dist.integrity).toMatch(/^sha512-/);
  await publishPackages({ ui }, address);
  await expect(publishPackages({ ui: packed('another kit') }, address)).rejects.toThrow(
    /has @liaozhai\/ui@\S+ with other contents: raise the version/,
  );
  expect(packages.get('@liaozhai/ui')).toBe(published);
});

test('who is not signed in reads how to', async () => {
  writeFileSync(join(folder, 'npmrc'), '');
  const ui = packed('the kit');
  await expect(publishPackages({ ui }, address)).rejects.toThrow(`npm login --registry ${address}`);
});
