// Finds a Chromium for tests: CHROMIUM_PATH, Playwright's own, or the system's. As root on Debian it installs one.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const systemPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

function playwrightsOwn() {
  const { chromium } = createRequire(import.meta.url)('playwright');
  return chromium.executablePath();
}

const find = () =>
  [process.env.CHROMIUM_PATH, playwrightsOwn(), ...systemPaths].find((path) => path && existsSync(path));

function installOnDebian() {
  console.log('Installing chromium and fonts-noto-cjk for the browser tests …');
  const apt = (...args) =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  apt('update', '-qq');
  apt('install', '-y', '-qq', 'chromium', 'fonts-noto-cjk');
}

/** Path of a Chromium that exists, or null after saying how to get one. */
export function findChromium() {
  const found = find();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) installOnDebian();
  const installed = find();
  if (!installed) {
    console.error(
      'No Chromium found for the browser tests. Install one with "npx playwright install chromium" (or "apt-get install chromium fonts-noto-cjk"), or name it in CHROMIUM_PATH.',
    );
  }
  return installed ?? null;
}
