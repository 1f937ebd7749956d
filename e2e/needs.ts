// What tests, benches and screens need of the machine besides Node and packages: found, or installed before anything runs.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, findHeadlessShell, quietFlags } from '@liaozhai/releases/chromium';
import { type Browser, chromium } from 'playwright';

interface Need {
  /** Path of the program; null if it is missing. Throws for a setting that is wrong, since no installing cures that. */
  find(): Promise<string | null>;
  /** Debian packages that bring it. */
  debian: readonly string[];
  /** How to get it where we cannot install it: half a line. */
  otherwise: string;
}

const wrongSetting = (name: string, path: string) =>
  new Error(`${name}=${path} does not exist: correct it, or unset it.`);

async function findNamedChromium(): Promise<string | null> {
  const found = await findChromium();
  const named = process.env.CHROMIUM_PATH;
  if (named && !found) throw wrongSetting('CHROMIUM_PATH', named);
  return found;
}

async function findFirefox(): Promise<string | null> {
  const named = process.env.FIREFOX_PATH;
  if (named && !existsSync(named)) throw wrongSetting('FIREFOX_PATH', named);
  return named ?? findProgram('firefox-esr') ?? findProgram('firefox');
}

/** Path of a program, looked for where a shell looks. */
const findProgram = (name: string): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null;

/** WebKit by its driver; it needs a display and a window manager, since it has no headless mode. */
const findWebKit = async (): Promise<string | null> =>
  findProgram('Xvfb') && findProgram('openbox') && findProgram('WebKitWebDriver');

const needs = {
  chromium: {
    find: findNamedChromium,
    debian: ['chromium', 'fonts-noto-cjk'],
    otherwise: 'run "npx playwright install chromium", or name one with CHROMIUM_PATH',
  },
  /** Chromium without its windows, which opens a page in half the time. */
  'chromium-headless-shell': {
    find: () => (process.env.CHROMIUM_PATH ? findNamedChromium() : findHeadlessShell()),
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

/** One call for each need: a package that this Debian does not have keeps no other out. */
function installOnDebian(wanted: readonly NeedName[]) {
  // the machine's own updates may hold the lock for a while
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  apt('update');
  for (const name of wanted) {
    console.log(`Installing ${name} …`);
    apt('install', '-y', '--no-install-recommends', ...needs[name].debian);
  }
}

async function missing(names: readonly NeedName[]): Promise<NeedName[]> {
  const found = await Promise.all(names.map((name) => needs[name].find()));
  return names.filter((_, index) => found[index] === null);
}

const cureOf = (name: NeedName) => {
  const { debian, otherwise } = needs[name];
  return `${name} is missing: as root on Debian "apt-get install -y ${debian.join(' ')}", else ${otherwise}.`;
};

/** Finds what is named, or installs it as root on Debian. Returns one line with its cure for each need that stays missing. */
async function stillMissing(names: readonly NeedName[]): Promise<Map<NeedName, string>> {
  const wanted = await missing(names);
  if (wanted.length > 0 && canInstall()) installOnDebian(wanted);
  const left = await missing(wanted);
  return new Map(left.map((name) => [name, cureOf(name)]));
}

/** Finds what is named, or installs it as root on Debian. Throws with one line per missing need, each with its cure. */
export async function provide(...names: NeedName[]): Promise<void> {
  const left = await stillMissing(names);
  if (left.size > 0) throw new Error([...left.values()].join('\n'));
}

/** Path of a program that exists, installed if need be. */
export async function providePath(name: NeedName): Promise<string> {
  await provide(name);
  return (await needs[name].find()) ?? '';
}

export const provideChromium = () => providePath('chromium');

/** What the browser tests run in: the headless shell if it is there, else Chromium. */
export const provideTestChromium = async () => (await needs['chromium-headless-shell'].find()) ?? provideChromium();

/** Playwright's own list, which ours replaces, and pages of the address bar, which cost each context a third of its start. */
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

/** Flags for a page of ours: it may run without Chromium's sandbox, which root and many containers do not have. */
export const testFlags = ['--no-sandbox', ...quietFlags, `--disable-features=${unusedFeatures.join(',')}`];

/** A Chromium for benches and screens. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({ executablePath: await provideChromium(), args: testFlags });

// For `npm test`: prints the cure of each need that stays missing and writes their names to the file that NEEDS_REPORT names.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !isNeed(name));
  try {
    if (unknown.length > 0)
      throw new Error(`no such need: ${unknown.join(', ')}. There are: ${Object.keys(needs).join(', ')}`);
    const left = await stillMissing(names.filter(isNeed));
    for (const cure of left.values()) console.error(cure);
    if (process.env.NEEDS_REPORT) writeFileSync(process.env.NEEDS_REPORT, JSON.stringify([...left.keys()]));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
