// `pnpm e2e:screens`: takes a screenshot of every screen and state into docs/screens, and writes their index.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { launchChromium } from './needs.ts';
import { startProduct } from './product.ts';
import { guestScenes } from './scenes/guestScenes.ts';
import { makeMember, memberScenes } from './scenes/memberScenes.ts';
import { pictured, type Scene } from './scenes/scene.ts';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../docs/screens');
const LARGEST_BYTES = 120 * 1024;
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1.5 };
const desktop = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 };
const variants = [
  { suffix: 'light', device: phone, colorScheme: 'light' },
  { suffix: 'dark', device: phone, colorScheme: 'dark' },
  { suffix: 'wide', device: desktop, colorScheme: 'light' },
] as const;

type State = BrowserContextOptions['storageState'];

async function savePicture(page: Page, file: string) {
  await pictured(page);
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 78 });
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length > LARGEST_BYTES) throw new Error(`${file} has ${bytes.length} bytes, more than ${LARGEST_BYTES}`);
  writeFileSync(join(folder, file), bytes);
}

async function takeScene(browser: Browser, origin: string, scene: Scene, storageState: State) {
  for (const { suffix, device, colorScheme } of variants) {
    if (suffix === 'wide' && !scene.wide) continue;
    const context = await browser.newContext({
      ...device,
      colorScheme,
      storageState,
      baseURL: origin,
      locale: 'zh-CN',
      timezoneId: 'Asia/Shanghai',
      reducedMotion: 'reduce',
      serviceWorkers: 'block',
    });
    const page = await context.newPage();
    await scene.show(page);
    await savePicture(page, `${scene.name}-${suffix}.webp`);
    await context.close();
  }
}

async function memberState(browser: Browser, origin: string): Promise<State> {
  const context = await browser.newContext({ ...phone, baseURL: origin, serviceWorkers: 'block' });
  const state = await makeMember(await context.newPage());
  await context.close();
  return state;
}

const picture = (name: string, suffix: string) => `![](${name}-${suffix}.webp)`;

function indexOf(scenes: readonly Scene[]): string {
  const rows = scenes.map(({ name, title }) => `| ${title} | ${picture(name, 'light')} | ${picture(name, 'dark')} |`);
  const wide = scenes
    .filter((scene) => scene.wide)
    .map(({ name, title }) => `### ${title}\n\n${picture(name, 'wide')}\n`);
  return [
    '# Screens\n',
    'Every screen and state, taken by `pnpm e2e:screens` from the running product; never edited by hand.\n',
    '| | light | dark |\n|---|---|---|',
    ...rows,
    '\n## In a wide window\n',
    ...wide,
  ].join('\n');
}

/** Image for the README: 发现 and 对话, light and dark. */
async function saveFront(browser: Browser) {
  const page = await browser.newPage({ viewport: { width: 1216, height: 660 } });
  const images = ['explore-light', 'chat-light', 'explore-dark', 'chat-dark'].map((name) => {
    const data = readFileSync(join(folder, `${name}.webp`)).toString('base64');
    return `<img src="data:image/webp;base64,${data}" width="292" style="border-radius:18px">`;
  });
  await page.setContent(
    `<body style="margin:16px 0 0 16px;display:flex;gap:8px;background:#8c8579">${images.join('')}`,
  );
  await savePicture(page, 'front.webp');
  await page.close();
}

async function takeAll(browser: Browser, origin: string, only: readonly string[]) {
  const isSelected = (scene: Scene) => only.length === 0 || only.includes(scene.name);
  const state = memberScenes.some(isSelected) ? await memberState(browser, origin) : undefined;
  const failed: string[] = [];
  const tryScene = async (scene: Scene, storageState: State) => {
    try {
      await takeScene(browser, origin, scene, storageState);
      console.log(scene.name);
    } catch (error) {
      failed.push(`${scene.name}: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const scene of guestScenes.filter(isSelected)) await tryScene(scene, undefined);
  for (const scene of memberScenes.filter(isSelected)) await tryScene(scene, state);
  return failed;
}

const only = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
if (only.length === 0) for (const file of readdirSync(folder)) if (file.endsWith('.webp')) rmSync(join(folder, file));
// slow enough for a screenshot of a streaming reply
const settings = {
  RATE_LIMIT_REGISTER: '1000',
  RATE_LIMIT_LOGIN: '1000',
  STORYTELLER_PIECE_DELAY_MS: '250',
  PAYMENT_PROVIDER: 'sandbox',
};
const runningOrigin = process.env.SCREENS_ORIGIN;
const product = runningOrigin ? undefined : await startProduct(settings);
const browser = await launchChromium();
try {
  const failed = await takeAll(browser, runningOrigin ?? product?.origin ?? '', only);
  await saveFront(browser);
  writeFileSync(join(folder, 'README.md'), indexOf([...guestScenes, ...memberScenes]));
  for (const line of failed) console.error(line);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  await browser.close();
  await product?.stop();
}
