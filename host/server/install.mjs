// Installs the workspace with the pinned pnpm when node_modules does not match the lockfile. Plain JavaScript with Node's own
// modules: it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const stamp = join(root, 'node_modules/.liaozhai-installed');

export function fail(message) {
  console.error(message);
  process.exit(1);
}

export function requireNode() {
  const needed = manifest.engines.node.replace('>=', '');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [needMajor, needMinor] = needed.split('.').map(Number);
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return;
  fail(
    `Node ${process.versions.node} is too old: install Node ${needed} or newer (20, 22 and 24 work), then run the command again.`,
  );
}

/** Rsbuild's config loader reads such a path as a URL. */
function requirePath() {
  if (/[#%?]/.test(root))
    fail(
      `${root} has #, % or ? in its path, which Rsbuild cannot read: move the repository, then run the command again.`,
    );
}

function fingerprint() {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'])
    hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

export function install() {
  requireNode();
  requirePath();
  const expectedFingerprint = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === expectedFingerprint) return;
  console.log('Installing packages (the first time takes about a minute) …');
  const pnpm = manifest.packageManager;
  const { status } = spawnSync(
    'npx',
    ['--yes', pnpm, 'install', '--frozen-lockfile', '--reporter=append-only', '--loglevel=warn'],
    {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    },
  );
  if (status !== 0)
    fail(
      `Installing failed. Check the network and the npm registry setting, then run: npx ${pnpm} install --frozen-lockfile`,
    );
  writeFileSync(stamp, expectedFingerprint);
}
