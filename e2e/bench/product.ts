import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

export interface RunningProduct {
  origin: string;
  stop(): Promise<void>;
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** Starts the product as a user does, on a free port with a data folder of its own. */
export async function startProduct(env: Record<string, string> = {}): Promise<RunningProduct> {
  const data = mkdtempSync(join(tmpdir(), 'liaozhai-bench-'));
  const port = await freePort();
  const child = spawn(process.execPath, ['host/server/start.mjs'], {
    cwd: root,
    env: { ...process.env, PORT: String(port), CONSOLE_PORT: '0', DATA_DIR: data, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.includes('is ready') && resolve());
    child.once('exit', (code) => reject(new Error(`the product ended with code ${code} before it was ready`)));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once('exit', () => {
        rmSync(data, { recursive: true, force: true });
        resolve();
      });
      child.kill('SIGTERM');
    });
  return { origin: `http://localhost:${port}`, stop };
}
