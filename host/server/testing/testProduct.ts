import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReleases, publishLocal } from '@liaozhai/releases';
import { Catalog } from '../../../releases/src/builds/catalog.ts';
import { localClient } from '../../../releases/src/releaseClient.ts';
import { openStore, requireKey } from '../../../releases/src/store/store.ts';
import { readEnv } from '../env.ts';
import { createProduct, type ProductOptions } from '../product.ts';
import { createLog } from '../telemetry.ts';
import { testPackages } from './testPackages.ts';

/** A published host and remote, and a backend that echoes its requests. `change` may rewrite the builds before publication. */
export async function openTestProduct(change: (folder: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-product-'));
  const servers: Server[] = [];
  const backendRequests: string[] = [];
  const listen = (server: Server) =>
    new Promise<string>((resolve) => {
      servers.push(server);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
      });
    });
  const logEntries: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void logEntries.push(JSON.parse(line)) });
  const store = `file:${join(folder, 'store')}`;
  const dists = testPackages(folder);
  change(folder);
  await publishLocal({ dists, store });
  const releases = await openReleases({ store });
  const handle = await openStore(store);
  const key = await requireKey(handle);
  const catalog = new Catalog(handle.store);
  const writer = { store: handle.store, catalog, key, channel: 'production', who: 'manager', now: () => new Date() };
  const provenance = () => ({ commit: null, at: new Date().toISOString(), publisher: 'manager' });
  const manager = localClient(writer, { smoke: null, provenance });
  let opener = '';
  const backend = await listen(
    createServer(({ url = '', headers }, response) => {
      backendRequests.push(url);
      response.end(JSON.stringify({ url, headers }));
    }),
  );
  return {
    /** the release store, as commands name it */
    store,
    manager,
    /** Publishes the remote once more. Resolves with the build. */
    publishStories: async (version: string) => (await manager.publish(join(folder, 'stories'), version)).id,
    /** Writes the reports so far. */
    written: () => releases.close(),
    backendRequests,
    backendOrigin: backend,
    /** entries of the log, the oldest first */
    logEntries,
    /** Serves the product with these settings. Resolves with the origin. */
    serve(settings: NodeJS.ProcessEnv = {}, options: Partial<ProductOptions> = {}) {
      const env = readEnv({ DATA_DIR: folder, ...settings });
      return listen(
        createProduct({ releases, env, backendUrl: () => backend, log, config: { support: {} }, ...options }),
      );
    },
    /** Permits the browser of a request to run the remotes in it. */
    async preview({ request }: { request: string }) {
      opener = request.split(' ').at(-1) ?? '';
      await manager.preview({ request, person: 'Li Hua', hours: 4 });
    },
    /** Revokes the last permission. */
    endPreview: () => manager['preview-end']({ browser: opener }),
    close() {
      for (const server of servers) server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
