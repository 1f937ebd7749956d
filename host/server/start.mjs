// `npm start`: the whole product with one command. `--dev` runs it with hot reload, `--serve` serves what is live in the store. It ends
// with npm, and with `--end-with-parent` with any other starter.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isScript, whenStarterEnds } from './endWithStarter.mjs';
import { fail, install, requireNode, root } from './install.mjs';

const portTimeoutMs = 10_000;

function portFrom(name, fallback) {
  const text = process.env[name] ?? fallback;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    fail(`${name}="${text}" is no port: give a number between 0 and 65535.`);
  return port;
}

/** Resolves with the error of listening on the port, or null. */
const tryPort = (port) =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen(port, () => probe.close(() => resolve(null)));
  });

/** Waits, since a process that was just killed may still hold its port. */
async function requireFreePort(port, name) {
  const deadline = Date.now() + portTimeoutMs;
  let error = await tryPort(port);
  if (error?.code === 'EADDRINUSE') console.log(`Port ${port} is taken; waiting ${portTimeoutMs / 1000} s for it …`);
  while (error?.code === 'EADDRINUSE' && Date.now() < deadline) {
    await wait(100);
    error = await tryPort(port);
  }
  if (!error) return;
  const cure = `choose another with ${name}=<port> npm start`;
  fail(
    error.code === 'EADDRINUSE'
      ? `Port ${port} is taken: stop what runs there, or ${cure}.`
      : `Port ${port} cannot be used (${error.code}): ${cure}.`,
  );
}

/** Creates a folder and its parents. Node's recursive `mkdir` never returns where a folder accepts no entries, as in /proc. */
function makeFolder(folder) {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
}

function requireWritable(folder) {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    fail(
      `DATA_DIR ${folder} cannot be written (${error.code}): choose another with DATA_DIR=<folder> npm start, or mend its rights.`,
    );
  }
}

requireNode();
// an empty one would be the repository itself
const dataDir = resolve(root, process.env.DATA_DIR || '.data');
requireWritable(dataDir);
await requireFreePort(portFrom('PORT', '3000'), 'PORT');
const isWhole = !process.argv.includes('--serve') && !process.argv.includes('--dev');
if (isWhole) await requireFreePort(portFrom('CONSOLE_PORT', '3001'), 'CONSOLE_PORT');
install();

const tiedOption = '--end-with-parent';
const options = process.argv.slice(2).filter((option) => option !== tiedOption);
const child = spawn(process.execPath, ['host/server/run.mjs', 'host/server/main.ts', ...options], {
  cwd: root,
  // the IPC channel closes when this process ends in any way
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  env: { ...process.env, DATA_DIR: dataDir },
});
const end = () => child.kill('SIGTERM');
// Ctrl-C reaches the child through the terminal's process group; a plain kill must be forwarded
process.on('SIGINT', () => {});
process.on('SIGTERM', end);
whenStarterEnds(end, { isTied: isScript('start', 'dev') || process.argv.includes(tiedOption) });
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 130 : 1)));
