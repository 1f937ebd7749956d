import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../person.ts';
import { freePort, type RunningProduct, startProduct } from '../product.ts';

/** Starts the product twice on the same ports and data, the second time right after it was killed. */
async function killedThenStarted(
  options: string[],
  check: (product: RunningProduct, console: string) => Promise<void>,
) {
  const data = mkdtempSync(join(tmpdir(), 'liaozhai-killed-'));
  const [port, consolePort] = [String(await freePort()), String(await freePort())];
  const settings = { DATA_DIR: data, PORT: port, CONSOLE_PORT: consolePort };
  const first = await startProduct(settings, ...options);
  await check(first, `http://localhost:${consolePort}`);
  await first.crash();
  const second = await startProduct(settings, ...options);
  try {
    await check(second, `http://localhost:${consolePort}`);
  } finally {
    await second.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

const statusOf = async (url: string) => (await fetch(url)).status;

test('start.killed: the whole product, killed and restarted immediately, serves readers and release managers', async () => {
  await killedThenStarted([], async ({ origin }, console) => {
    expect(await statusOf(`${origin}/explore`)).toBe(200);
    expect(await statusOf(`${origin}/api/v1/stories`)).toBe(200);
    expect(await statusOf(console)).toBe(200);
  });
});

test('start.killed: the development server, killed and restarted immediately, is there with its backend', async () => {
  await killedThenStarted(['--dev'], async ({ origin }) => {
    // Rsbuild reports the build shortly before it listens
    await expect.poll(() => statusOf(`${origin}/api/v1/stories`).catch(String)).toBe(200);
  });
});
