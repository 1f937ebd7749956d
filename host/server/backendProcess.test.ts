import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { startBackend } from './backendProcess.ts';
import { createBackendProxy } from './proxy/proxy.ts';
import { createLog } from './telemetry.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-backend-process-'));
const runsFile = join(folder, 'runs');
const script = join(folder, 'backend.cjs');

// counts its starts and listens; exits with 1 on `/end`, or with LATER before it listens again
writeFileSync(
  script,
  `const { appendFileSync, readFileSync } = require('node:fs');
appendFileSync(process.env.RUNS, '.');
const later = Number(process.env.LATER);
if (readFileSync(process.env.RUNS, 'utf8').length > 1 && later) process.exit(later);
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/end') process.exit(1);
  response.end('here');
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + server.address().port));
process.on('disconnect', () => process.exit());`,
);

beforeEach(() => writeFileSync(runsFile, ''));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const starts = () => readFileSync(runsFile, 'utf8').length;

async function run(later: number, pausesMs: number[]) {
  const said = rs.spyOn(console, 'error').mockImplementation(() => {});
  const env = { PATH: process.env.PATH, RUNS: runsFile, LATER: String(later), PORT: '0' };
  const backend = await startBackend(env, { command: { args: [script], cwd: folder }, pausesMs });
  onTestFinished(async () => {
    said.mockRestore();
    await backend.stop();
  });
  const end = () => fetch(`${backend.url()}/end`).catch(() => {});
  return { backend, end, said: () => said.mock.calls.map(([line]) => String(line)) };
}

describe('a backend that ends', () => {
  test('is restarted on its port', async () => {
    const { backend, end } = await run(0, [1]);
    const url = backend.url();
    await end();
    await expect
      .poll(() =>
        fetch(url).then(
          (answer) => answer.text(),
          () => 'away',
        ),
      )
      .toBe('here');
    await expect.poll(backend.secondsUntilRestart).toBeNull();
    expect(starts()).toBe(2);
  });

  test('repeatedly is given up after the last pause; each restart logs the remaining ones', async () => {
    const { backend, end, said } = await run(1, [1, 2, 3]);
    await end();
    expect(await backend.gone).toMatch(/ended 4 times in a row; see above why/);
    expect(starts()).toBe(4);
    expect(said()).toEqual([
      expect.stringMatching(/starting it again in 0.001 s \(1 of 3\)/),
      expect.stringMatching(/starting it again in 0.002 s \(2 of 3\)/),
      expect.stringMatching(/starting it again in 0.003 s \(3 of 3\)/),
    ]);
  });

  test('with a status against restarts is given up immediately', async () => {
    const { backend, end, said } = await run(2, [1, 1, 1]);
    await end();
    expect(await backend.gone).toMatch(/starting it again would not help: see the line above/);
    expect(starts()).toBe(2);
    expect(said()).toHaveLength(1);
  });

  test('answers calls with the usual error and the remaining time meanwhile', async () => {
    const { backend, end } = await run(0, [600_000]);
    const proxy = createBackendProxy({
      backend: backend.url,
      secondsUntilRestart: backend.secondsUntilRestart,
      trustProxy: false,
      log: createLog('silent'),
    });
    const front = createServer((request, response) => void proxy.web(request, response, 'request-0001')).listen(
      0,
      '127.0.0.1',
    );
    await once(front, 'listening');
    onTestFinished(() => void front.close());
    await end();
    await expect.poll(backend.secondsUntilRestart).toBeGreaterThan(1);
    const answer = await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}/api/v1/stories`);
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(500);
    expect(await answer.json()).toEqual({ message: '服务正在重新启动，请稍候再试' });
  });
});
