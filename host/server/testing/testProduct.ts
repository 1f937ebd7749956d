import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReleases, publishLocal } from '@liaozhai/releases';
import { readEnv } from '../env.ts';
import { createProduct, type ProductOptions } from '../product.ts';
import { createLog } from '../telemetry.ts';
import { testPackages } from './testPackages.ts';

/** A published host and remote, and a backend that answers with what it was asked. */
export async function openTestProduct() {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-product-'));
  const servers: Server[] = [];
  const askedOfBackend: string[] = [];
  const listen = (server: Server) =>
    new Promise<string>((resolve) => {
      servers.push(server);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
      });
    });
  const logged: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line)) });
  const store = `file:${join(folder, 'store')}`;
  await publishLocal({ dists: testPackages(folder), store });
  const releases = await openReleases({ store });
  const backend = await listen(
    createServer(({ url = '', headers }, response) => {
      askedOfBackend.push(url);
      response.end(JSON.stringify({ url, headers }));
    }),
  );
  return {
    askedOfBackend,
    /** entries of the log, the oldest first */
    logged,
    /** Serves it with these settings. Resolves with the origin. */
    serve(settings: NodeJS.ProcessEnv = {}, options: Partial<ProductOptions> = {}) {
      const env = readEnv({ DATA_DIR: folder, ...settings });
      return listen(
        createProduct({ releases, env, backendUrl: () => backend, log, config: { support: {} }, ...options }),
      );
    },
    close() {
      for (const server of servers) server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
