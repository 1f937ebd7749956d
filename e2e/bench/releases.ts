import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../releases/src/bench/main.ts', import.meta.url));

/** The release system under load and at scale: `pnpm bench releases [writers|mixing|rollback|canary|stops|scale]`. */
export async function run() {
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...process.argv.slice(3)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
}
