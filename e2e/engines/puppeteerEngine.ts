import puppeteer, { type Browser, type LaunchOptions, type Page } from 'puppeteer-core';
import { testFlags } from '../needs.ts';
import { type Engine, type EngineName, guard, type Look, size, timeZone } from './engine.ts';

type PuppeteerEngineName = Exclude<EngineName, 'webkit'>;

const launchOptions = (name: PuppeteerEngineName, dark: boolean): LaunchOptions =>
  name === 'firefox'
    ? {
        browser: 'firefox',
        extraPrefsFirefox: {
          'intl.accept_languages': 'zh-CN, zh',
          'ui.systemUsesDarkTheme': dark ? 1 : 0,
          // touch input, as on a phone
          'dom.w3c_touch_events.enabled': 1,
          'ui.primaryPointerCapabilities': 1,
          'ui.allPointerCapabilities': 1,
          // on a busy machine the two events of a tap are far apart, and would count as a long press
          'apz.max_tap_time': 60_000,
          'ui.click_hold_context_menus.delay': 60_000,
        },
      }
    : {
        browser: 'chrome',
        // the browser ends when the pipe closes, even if this process is killed
        pipe: true,
        // it is not used, and old versions report it late
        waitForInitialPage: false,
        args: [...testFlags, '--accept-lang=zh-CN'],
      };

/** Chromium gets an in-memory context: old versions lose all cookies when they first write them to disk, after 30 s. */
const firstPage = async (browser: Browser, name: PuppeteerEngineName): Promise<Page> =>
  name === 'chromium'
    ? (await browser.createBrowserContext()).newPage()
    : ((await browser.pages())[0] ?? browser.newPage());

/** Drives Chromium by its own protocol, and Firefox by WebDriver BiDi. */
export async function launchPuppeteerEngine(
  name: PuppeteerEngineName,
  executablePath: string,
  { colours = 'light' }: Look,
): Promise<Engine> {
  const browser: Browser = await puppeteer.launch({
    ...launchOptions(name, colours === 'dark'),
    // Firefox has no pipe, so `guard` ends it
    executablePath: name === 'firefox' ? guard : executablePath,
    env: { ...process.env, TZ: timeZone, GUARDED: executablePath },
    defaultViewport: null,
  });
  const page: Page = await firstPage(browser, name);
  if (name === 'chromium') {
    await page.setViewport({ ...size, isMobile: true, hasTouch: true, deviceScaleFactor: 1 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }]);
  } else await page.setViewport(size);
  await page.bringToFront();
  const waitUntil = 'domcontentloaded';
  return {
    name,
    open: async (url) => void (await page.goto(url, { waitUntil })),
    reload: async () => void (await page.reload({ waitUntil })),
    run: (script, ...args) => page.evaluate(script as (...args: unknown[]) => unknown, ...args) as never,
    inject: async (source) => void (await page.evaluate(source)),
    tap: (x, y) => page.touchscreen.tap(x, y),
    type: (text) => page.keyboard.type(text),
    press: (key) => page.keyboard.press(key),
    picture: () => page.screenshot(),
    close: () => browser.close(),
  };
}
