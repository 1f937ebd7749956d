import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { repoRoot } from '@liaozhai/shared/build/facts';
import { preload } from './endWithStarter.mjs';

/** Rsbuild's development server over host, remotes and shared together, with the backend behind it. */
export function startDevServer(port: number, backendUrl: string, config: object): ChildProcess {
  const root = join(repoRoot, 'host');
  const rsbuild = join(root, 'node_modules/@rsbuild/core/bin/rsbuild.js');
  const env = { ...process.env, PORT: String(port), BACKEND_URL: backendUrl, LIAOZHAI_CONFIG: JSON.stringify(config) };
  return spawn(process.execPath, ['--import', preload, rsbuild, 'dev'], {
    cwd: root,
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}
