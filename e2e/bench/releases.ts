import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./releaseSystem/main.ts', import.meta.url));

/** The release system under load, at scale and in a browser: `pnpm bench releases [writers|mixing|rollback|canary|stops|scale|browser]`. */
export async function run() {
  const wanted = process.argv.slice(3);
  const parts = wanted.filter((name) => name !== 'browser');
  if (parts.length > 0 || wanted.length === 0) {
    const child = spawn(process.execPath, ['--import', 'tsx', script, ...parts], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    process.exitCode = code ?? 1;
    if (code === 2) return console.error('In a browser there is: browser.');
  }
  if (parts.length === wanted.length && wanted.length > 0) return;
  const { measureInBrowser } = await import('./releasesBrowser.ts');
  if (!(await measureInBrowser())) process.exitCode = 1;
}
