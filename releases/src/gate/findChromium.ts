import { existsSync } from 'node:fs';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** CHROMIUM_PATH, else Playwright's own, else the system's; null if there is none. */
export async function findChromium(environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  const named = environment.CHROMIUM_PATH;
  // loaded only here, since it takes longer than most commands
  const { chromium } = await import('playwright');
  return (
    [...(named ? [named] : [chromium.executablePath(), ...SYSTEM])].find((path) => path && existsSync(path)) ?? null
  );
}
