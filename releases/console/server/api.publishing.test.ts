import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, describe, expect, rs, test } from '@rstest/core';
import { httpClient } from '../../src/client/httpClient.ts';
import { buildFolder } from '../../src/model/ids.ts';
import { writeRemote } from '../../src/testing/writePackage.ts';
import { openTestApi } from './testApi.ts';

// every test works on a store of its own and waits for its disk
rs.setConfig({ testTimeout: 60_000 });

const { at, api, tokens, bearer } = await openTestApi();
afterAll(() => at.remove());

describe('sec.releases: publishing over HTTP', () => {
  test('a publisher publishes its own remote, and the audit knows it; over the wire like from here', async () => {
    const server = serve({
      fetch: (request) => api.fetch(new Request(request.url.replace('/v1/', '/'), request)),
      hostname: '127.0.0.1',
      port: 0,
    });
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provenance = () => ({ commit: 'abc', at: '2000-01-01T00:00:00.000Z', publisher: 'liar' });
    const client = httpClient({ origin, token: tokens['publisher:stories'] ?? '', channel: 'production', provenance });
    const dist = await writeRemote(at.place(), 'stories', 'over http');
    expect(await client.publish(dist, '3.0.0')).toMatchObject({ created: true });
    expect(await client.publish(dist, '3.0.0')).toMatchObject({ created: false });
    const [build] = await client.builds('stories');
    expect(build?.provenance).toMatchObject({
      publisher: expect.stringMatching(/^publisher:stories \([0-9a-f]{12}\)$/),
      commit: 'abc',
    });
    const foreign = await writeRemote(at.place(), 'chat', 'over http');
    await expect(client.publish(foreign, '3.0.0')).rejects.toMatchObject({ message: 'this token is for stories only' });
    await expect(client.activate({ builds: [build?.id ?? ''] })).rejects.toThrow('may not activate');
    server.close();
  });

  const put = (path: string, body: string, grant = 'publisher:stories', headers: Record<string, string> = {}) =>
    api.request(path, { method: 'PUT', headers: { ...bearer(grant), ...headers }, body });
  const folder = 'stories/9.9.9-aaaaaaaaaaaa';

  test.each([
    ['climbing out', `/builds/${folder}/..%2f..%2fkeys%2fsigning.pem`],
    ['climbing by dots', `/builds/${folder}/%2e%2e/x.js`],
    ['a hidden file', `/builds/${folder}/.env`],
    ['an unknown ending', `/builds/${folder}/x.sh2`],
    ['a compressed form', `/builds/${folder}/x.js.br`],
    ['a folder that is none', '/builds/stories/nonsense/x.js'],
  ])('%s is refused', async (_, path) => {
    expect((await put(path, 'x')).status).toBeGreaterThanOrEqual(400);
    expect(await at.store.list('keys/x')).toEqual([]);
    expect(await at.store.read(`builds/${folder}/.env`)).toBeNull();
  });

  test('another remote, by a publisher of this one or a viewer, is refused', async () => {
    expect((await put('/builds/chat/9.9.9-aaaaaaaaaaaa/x.js', 'x')).status).toBe(403);
    expect((await put(`/builds/${folder}/x.js`, 'x', 'viewer')).status).toBe(403);
  });

  test('a file that was cut off on the way is refused', async () => {
    expect(
      (await put(`/builds/${folder}/x.js`, 'short', 'publisher:stories', { 'content-length': '100' })).status,
    ).toBe(400);
  });

  test('a build.json that names files that never came, or came wrong, makes no build; sending them again does', async () => {
    const id = await at.remote('stories', '5.0.0');
    const record = (await at.store.read(`${buildFolder(id)}/build.json`))?.toString() ?? '';
    const other = await openTestApi();
    const send = (path: string, body: string) =>
      other.api.request(`/${buildFolder(id)}/${path}`, {
        method: 'PUT',
        headers: other.bearer('manager'),
        body,
      });
    await send('remoteEntry.js', 'truncated');
    const refused = await send('build.json', record);
    expect(refused.status).toBe(422);
    expect((await refused.json()).details.join()).toContain('remoteEntry.js is not what build.json says');
    for (const path of Object.keys(JSON.parse(record).files))
      await send(path, (await at.store.read(`${buildFolder(id)}/${path}`))?.toString() ?? '');
    expect((await send('build.json', record)).status).toBe(200);
    expect((await send('build.json', record.replace('"size":', '"size": 1'))).status).toBe(422);
    await other.at.remove();
  });
});
