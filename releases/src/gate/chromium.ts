import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refused } from '../errors.ts';
import { say } from '../sentences.ts';

const SYSTEM_SHELL = '/usr/bin/chromium-headless-shell';
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

/**
 * Path of CHROMIUM_PATH, else of Playwright's or the system's headless shell: Chromium without its windows, which opens a page in half
 * the time. Null if both are missing. Installs nothing.
 */
export async function findHeadlessShell(environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  if (environment.CHROMIUM_PATH) return findChromium(environment);
  const { chromium } = await import('playwright');
  // next to its Chromium, in a folder of the same revision
  const folder = dirname(dirname(chromium.executablePath())).replace(/chromium-(?=\d+$)/, 'chromium_headless_shell-');
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const own = files.find((file) => /[\\/](chrome-headless-shell|headless_shell)(\.exe)?$/.test(file));
  if (own) return join(folder, own);
  return existsSync(SYSTEM_SHELL) ? SYSTEM_SHELL : null;
}

/** Path of what the gate opens pages in: a headless shell, else a whole Chromium; null if both are missing. */
export const findSmokeBrowser = async (environment: NodeJS.ProcessEnv = process.env): Promise<string | null> =>
  (await findHeadlessShell(environment)) ?? findChromium(environment);

/** The same; throws refused without one. */
export async function requireSmokeBrowser(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const browser = await findSmokeBrowser(environment);
  if (browser) return browser;
  throw refused(say('noChromium'), say('noChromiumCure'));
}
