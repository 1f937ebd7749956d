// Runs named commands one after another, shows what each says, and counts.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { install, root } from '../host/server/install.mjs';

const resolveFrom = (folder, path) => createRequire(join(root, folder, 'package.json')).resolve(path);

/** Path of a package's command as seen from `folder`, so that Windows needs no shell either. */
export function binary(name, command = name, folder = '.') {
  const manifest = resolveFrom(folder, `${name}/package.json`);
  const { bin } = createRequire(manifest)(manifest);
  return join(dirname(manifest), typeof bin === 'string' ? bin : bin[command]);
}

export function run(title, args, { cwd = root, env = {} } = {}) {
  const started = Date.now();
  console.log(`\n▶ ${title}`);
  const { status } = spawnSync(process.execPath, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? '✓' : '✗'} ${title} (${seconds} s)`);
  return status === 0;
}

/** Installs packages and the needs of ./needs.ts that are named; ends the process with the cure if one stays missing. */
export function prepare(...needs) {
  install();
  if (run('needs', ['--import', 'tsx', 'e2e/needs.ts', ...needs])) return;
  console.log('\n0 passed, 1 failed');
  process.exit(1);
}
