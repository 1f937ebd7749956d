import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@rstest/core';
import { serveByCommand } from './serveSet.ts';

/** Command of a server on a free port that prints its address; `rest` is code that it also runs. */
const server = (rest = '') => {
  const listen = `require('node:http').createServer((_, answer) => answer.end('set')).listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port) })`;
  return `"${process.execPath}" -e "${listen}; ${rest}" --`;
};

const answers = (origin: string) =>
  fetch(origin).then(
    () => true,
    () => false,
  );

describe('a set served by a command', () => {
  test('answers until it is stopped', async () => {
    const served = await serveByCommand(server(), process.env)('abc');
    expect(await answers(served.origin)).toBe(true);
    await served.stop();
    expect(await answers(served.origin)).toBe(false);
  });

  test('is killed after three seconds if it ignores SIGTERM', async () => {
    const served = await serveByCommand(server("process.on('SIGTERM', () => {})"), process.env)('abc');
    await served.stop();
    expect(await answers(served.origin)).toBe(false);
  });

  test('is refused with its output if it exits early', async () => {
    const command = `"${process.execPath}" -e "console.error('no port'); process.exit(1)" --`;
    await expect(serveByCommand(command, process.env)('abc')).rejects.toMatchObject({
      message: 'the server of the set ended before it listened',
      cure: 'no port\n',
    });
  });

  test('start.killed: ends with a gate that is killed', async () => {
    const module = pathToFileURL(join(import.meta.dirname, 'serveSet.ts')).href;
    const script = `import(${JSON.stringify(module)}).then(async ({ serveByCommand }) => {
      const { origin } = await serveByCommand(process.env.COMMAND, process.env)('abc');
      console.log(origin);
    })`;
    const gate = spawn(process.execPath, ['--import', 'tsx', '-e', script], {
      env: { ...process.env, COMMAND: server() },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(gate.stdout, 'data');
    const origin = String(said).trim();
    expect(await answers(origin)).toBe(true);
    gate.kill('SIGKILL');
    await expect.poll(() => answers(origin)).toBe(false);
  });
});
