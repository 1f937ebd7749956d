import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refused, usage } from '../errors.ts';
import { say } from '../sentences.ts';

const SYSTEM_SHELL = '/usr/bin/chromium-headless-shell';
const SYSTEM_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

/** Disable Chromium's background requests, which fail in a closed network. */
export const quietFlags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Enables Chromium's sandbox, which Playwright disables by default. Chromium does not support it for root. */
export const launchOptions = (executablePath: string, user = process.getuid?.()) => ({
  executablePath,
  args: quietFlags,
  chromiumSandbox: user !== 0,
});

/** Path of CHROMIUM_PATH, else Playwright's own, else the system's; null if all are missing. Installs nothing. Throws usage. */
export async function findChromium(environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  const configuredPath = environment.CHROMIUM_PATH;
  if (configuredPath && !existsSync(configuredPath))
    throw usage(`CHROMIUM_PATH=${configuredPath} does not exist`, 'Correct it, or unset it.');
  // loaded on demand, because the import takes longer than most commands
  const { chromium } = await import('playwright');
  const paths = configuredPath ? [configuredPath] : [chromium.executablePath(), ...SYSTEM_PATHS];
  return paths.find((path) => path && existsSync(path)) ?? null;
}

/**
 * Path of CHROMIUM_PATH, else of Playwright's or the system's headless shell: Chromium without a window, which opens a page in half the
 * time. Null if all are missing. Installs nothing.
 */
export async function findHeadlessShell(environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  if (environment.CHROMIUM_PATH) return findChromium(environment);
  const { chromium } = await import('playwright');
  // next to Playwright's Chromium, in a folder with the same revision
  const folder = dirname(dirname(chromium.executablePath())).replace(/chromium-(?=\d+$)/, 'chromium_headless_shell-');
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const shellPath = files.find((file) => /[\\/](chrome-headless-shell|headless_shell)(\.exe)?$/.test(file));
  if (shellPath) return join(folder, shellPath);
  return existsSync(SYSTEM_SHELL) ? SYSTEM_SHELL : null;
}

/** Path of the gate's browser: a headless shell, else Chromium; null if both are missing. */
export const findSmokeBrowser = async (environment: NodeJS.ProcessEnv = process.env): Promise<string | null> =>
  (await findHeadlessShell(environment)) ?? findChromium(environment);

/** Path of the gate's browser. Throws refused if it is missing. */
export async function requireSmokeBrowser(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const browser = await findSmokeBrowser(environment);
  if (browser) return browser;
  throw refused(say('noChromium'), say('noChromiumCure'));
}
