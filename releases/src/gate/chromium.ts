import { existsSync } from 'node:fs';
import { refused } from '../errors.ts';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

/** Keep Chromium from calling home, which a closed network answers with refusals. */
export const quietFlags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A build's code runs in Chromium's sandbox; only for root Chromium has none. Playwright leaves it out unless asked. */
export const launchOptions = (executablePath: string, user = process.getuid?.()) => ({
  executablePath,
  args: quietFlags,
  chromiumSandbox: user !== 0,
});

/** Path of CHROMIUM_PATH, else Playwright's own, else the system's; null if all are missing. Installs nothing. */
export async function findChromium(environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  const named = environment.CHROMIUM_PATH;
  // loaded only here, since it takes longer than most commands
  const { chromium } = await import('playwright');
  return (
    [...(named ? [named] : [chromium.executablePath(), ...SYSTEM])].find((path) => path && existsSync(path)) ?? null
  );
}

/** Path of a Chromium that exists. Throws refused without one. */
export async function requireChromium(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const found = await findChromium(environment);
  if (found) return found;
  throw refused('there is no Chromium for the headless smoke', 'Install one, or name it with CHROMIUM_PATH.');
}
