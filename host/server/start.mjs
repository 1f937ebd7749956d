// `npm start`: the whole product with one command. `--dev` runs it with hot reload, `--serve` serves what is live in the store.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { fail, install, requireNode, root } from './install.mjs';

function portFrom(name, fallback) {
  const text = process.env[name] ?? fallback;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    fail(`${name}="${text}" is no port: give a number between 0 and 65535.`);
  return port;
}

function requireFreePort(port, name) {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', (error) => {
      const cure = `choose another with ${name}=<port> npm start`;
      fail(
        error.code === 'EADDRINUSE'
          ? `Port ${port} is taken: stop what runs there, or ${cure}.`
          : `Port ${port} cannot be used (${error.code}): ${cure}.`,
      );
    });
    probe.listen(port, () => probe.close(done));
  });
}

function requireWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    fail(
      `DATA_DIR ${folder} cannot be written (${error.code}): choose another with DATA_DIR=<folder> npm start, or mend its rights.`,
    );
  }
}

requireNode();
const dataDir = resolve(root, process.env.DATA_DIR ?? '.data');
requireWritable(dataDir);
await requireFreePort(portFrom('PORT', '3000'), 'PORT');
if (!process.argv.includes('--serve')) await requireFreePort(portFrom('CONSOLE_PORT', '3001'), 'CONSOLE_PORT');
install();

const main = join(root, 'host/server/main.ts');
const child = spawn(process.execPath, ['--import', 'tsx', main, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, DATA_DIR: dataDir },
});
// Ctrl-C reaches the child through the terminal's process group; a plain kill has to be handed on
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 130 : 1)));
