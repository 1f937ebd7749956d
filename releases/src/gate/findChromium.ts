import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** CHROMIUM_PATH, else Playwright's own, else the system's; null if there is none. */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | null {
  const named = environment.CHROMIUM_PATH;
  return (
    [...(named ? [named] : [chromium.executablePath(), ...SYSTEM])].find((path) => path && existsSync(path)) ?? null
  );
}
