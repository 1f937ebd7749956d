// Programs that tests, benches and screens need in addition to Node and packages: found or installed before the run.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, findHeadlessShell, quietFlags } from '@liaozhai/releases/chromium';
import { type Browser, chromium } from 'playwright';

interface Need {
  /** Path of the program; null if it is missing. Throws for a wrong setting, which an installation would not fix. */
  find(): Promise<string | null>;
  /** Debian packages that contain it. */
  debian: readonly string[];
  /** Advice for machines on which it cannot be installed: half a line. */
  otherwise: string;
}

async function findFirefox(): Promise<string | null> {
  const configuredPath = process.env.FIREFOX_PATH;
  if (configuredPath && !existsSync(configuredPath))
    throw new Error(`FIREFOX_PATH=${configuredPath} does not exist: correct it, or unset it.`);
  return configuredPath ?? findProgram('firefox-esr') ?? findProgram('firefox');
}

const findProgram = (name: string): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null;

/** WebKit through its driver. It has no headless mode, so it needs a display and a window manager. */
const findWebKit = async (): Promise<string | null> =>
  findProgram('Xvfb') && findProgram('openbox') && findProgram('WebKitWebDriver');

const needs = {
  chromium: {
    find: () => findChromium(),
    debian: ['chromium', 'fonts-noto-cjk'],
    otherwise: 'run "npx playwright install chromium", or name one with CHROMIUM_PATH',
  },
  /** Chromium without windows, which opens a page in half the time. */
  'chromium-headless-shell': {
    find: () => findHeadlessShell(),
    debian: ['chromium-headless-shell', 'fonts-noto-cjk'],
    otherwise:
      'run "npx playwright install chromium-headless-shell"; without it browser tests run in Chromium, and longer',
  },
  firefox: {
    find: findFirefox,
    debian: ['firefox-esr', 'fonts-noto-cjk'],
    otherwise: 'install Firefox 115 or newer, or name one with FIREFOX_PATH',
  },
  webkit: {
    find: findWebKit,
    debian: ['webkit2gtk-driver', 'xvfb', 'openbox', 'libgl1-mesa-dri', 'gstreamer1.0-plugins-base', 'fonts-noto-cjk'],
    otherwise: 'have WebKitWebDriver of WebKitGTK 2.50 or newer, Xvfb and openbox in PATH',
  },
  nginx: {
    find: async () => findProgram('nginx') ?? ['/usr/sbin/nginx'].find((path) => existsSync(path)) ?? null,
    debian: ['nginx-light'],
    otherwise: 'have nginx 1.22 or newer in PATH',
  },
} satisfies Record<string, Need>;

export type NeedName = keyof typeof needs;

const isNeed = (name: string): name is NeedName => Object.hasOwn(needs, name);

const canInstall = () => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** Runs `apt-get` once per need, so that a package missing in this Debian version does not block the others. */
function installOnDebian(missingNeeds: readonly NeedName[]) {
  // the system's updates may hold the lock for a while
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  apt('update');
  for (const name of missingNeeds) {
    console.log(`Installing ${name} …`);
    apt('install', '-y', '--no-install-recommends', ...needs[name].debian);
  }
}

async function findMissing(names: readonly NeedName[]): Promise<NeedName[]> {
  const paths = await Promise.all(names.map((name) => needs[name].find()));
  return names.filter((_, index) => paths[index] === null);
}

const cureOf = (name: NeedName) => {
  const { debian, otherwise } = needs[name];
  return `${name} is missing: as root on Debian "apt-get install -y ${debian.join(' ')}", else ${otherwise}.`;
};

/** Finds the named needs, or installs them as root on Debian. Returns the advice for each that is still missing. */
async function installMissing(names: readonly NeedName[]): Promise<Map<NeedName, string>> {
  const missingNeeds = await findMissing(names);
  if (missingNeeds.length > 0 && canInstall()) installOnDebian(missingNeeds);
  const remainingNeeds = await findMissing(missingNeeds);
  return new Map(remainingNeeds.map((name) => [name, cureOf(name)]));
}

/** Finds the named needs, or installs them as root on Debian. Throws with one line of advice per missing need. */
export async function provide(...names: NeedName[]): Promise<void> {
  const advice = await installMissing(names);
  if (advice.size > 0) throw new Error([...advice.values()].join('\n'));
}

/** Path of a program, which is installed if it is missing. */
export async function providePath(name: NeedName): Promise<string> {
  await provide(name);
  return (await needs[name].find()) ?? '';
}

export const provideChromium = () => providePath('chromium');

/** Browser of the tests: the headless shell if it is installed, else Chromium. */
export const provideTestChromium = async () => (await needs['chromium-headless-shell'].find()) ?? provideChromium();

/** Playwright's list, which this flag replaces, and pages of the address bar, which slow a context's start by a third. */
const unusedFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'PreloadTopChromeWebUI',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
];

/** Flags for pages under test. Chromium's sandbox is off, because it does not work for root and in many containers. */
export const testFlags = ['--no-sandbox', ...quietFlags, `--disable-features=${unusedFeatures.join(',')}`];

export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({ executablePath: await provideChromium(), args: testFlags });

// For `npm test`: prints advice for each missing need, and writes their names to the file in `NEEDS_REPORT`.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const unknownNames = names.filter((name) => !isNeed(name));
  try {
    if (unknownNames.length > 0)
      throw new Error(`no such need: ${unknownNames.join(', ')}. There are: ${Object.keys(needs).join(', ')}`);
    const advice = await installMissing(names.filter(isNeed));
    for (const cure of advice.values()) console.error(cure);
    if (process.env.NEEDS_REPORT) writeFileSync(process.env.NEEDS_REPORT, JSON.stringify([...advice.keys()]));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
