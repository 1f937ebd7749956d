import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';

const library = readFileSync(
  createRequire(import.meta.url).resolve('@testing-library/dom/dist/@testing-library/dom.umd.min.js'),
  'utf8',
);

export interface Target {
  role: string;
  /** part of the accessible name */
  name?: string;
  /** only inside the first of this role */
  within?: string;
}

interface Sight {
  count: number;
  text: string;
  value: string;
  x: number;
  y: number;
  /** what lies over its middle, where it is not the element itself */
  covering: string | null;
}

/** Runs in the page: the first visible element of that role and name. */
function look({ role, name, within }: Target): Sight {
  const { queryAllByRole } = (globalThis as unknown as { TestingLibraryDom: typeof import('@testing-library/dom') })
    .TestingLibraryDom;
  const places = within ? queryAllByRole(document.body, within).slice(0, 1) : [document.body];
  const asked = name === undefined ? {} : { name: (found: string) => found.includes(name) };
  const seen = places
    .flatMap((place) => queryAllByRole(place, role, asked))
    .filter((element) => element.getBoundingClientRect().width > 0);
  const [element] = seen;
  if (!element) return { count: 0, text: '', value: '', x: 0, y: 0, covering: null };
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const over = document.elementFromPoint(x, y);
  return {
    count: seen.length,
    text: element.innerText,
    value: (element as HTMLInputElement).value ?? '',
    x,
    y,
    covering: element.contains(over) ? null : (over?.outerHTML.slice(0, 120) ?? 'nothing at all'),
  };
}

/**
 * A person at a browser that Playwright can start, feed with touches and keys, and ask questions, but not look into:
 * its own look into the page needs a Chromium of 105. Testing Library does that instead.
 */
export class Reader {
  private constructor(readonly page: Page) {}

  static async at(page: Page): Promise<Reader> {
    await page.addInitScript(library);
    return new Reader(page);
  }

  private look(target: Target): Promise<Sight> {
    return this.page.evaluate(look, target);
  }

  async open(path: string) {
    await this.page.goto(path, { waitUntil: 'domcontentloaded' });
  }

  /** The app stands where the server had drawn. */
  async appIsUp() {
    const drawn = () => this.page.evaluate(() => document.querySelectorAll('[data-first]').length);
    await expect.poll(drawn, 'the app in place of what the server drew').toBe(0);
  }

  async sees(target: Target, timeout = 15_000): Promise<Sight> {
    await expect
      .poll(async () => (await this.look(target)).count, { message: JSON.stringify(target), timeout })
      .toBeGreaterThan(0);
    return this.look(target);
  }

  async misses(target: Target) {
    await expect.poll(async () => (await this.look(target)).count, `no ${JSON.stringify(target)}`).toBe(0);
  }

  async reads(target: Target, text: string, timeout = 15_000) {
    await expect.poll(async () => (await this.look(target)).text, { timeout }).toContain(text);
  }

  async counts(target: Target): Promise<number> {
    return (await this.look(target)).count;
  }

  /** In sight, at rest, and under nothing else. */
  async isInReach(target: Target): Promise<Sight> {
    await this.sees(target);
    let before = '';
    await expect
      .poll(async () => {
        const { x, y, covering } = await this.look(target);
        const place = `${x} ${y}`;
        const isStill = place === before;
        before = place;
        return covering ?? (isStill ? 'in reach' : 'moving');
      }, JSON.stringify(target))
      .toBe('in reach');
    return this.look(target);
  }

  async taps(target: Target) {
    const { x, y } = await this.isInReach(target);
    await this.page.touchscreen.tap(x, y);
  }

  /** A finger that goes from one point to another. */
  async swipes(from: [x: number, y: number], to: [x: number, y: number]) {
    const devtools = await this.page.context().newCDPSession(this.page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]) =>
      devtools.send('Input.dispatchTouchEvent', { type, touchPoints: points });
    await touch('touchStart', [{ x: from[0], y: from[1] }]);
    for (let step = 1; step <= 10; step += 1) {
      const along = (at: 0 | 1) => from[at] + ((to[at] - from[at]) * step) / 10;
      await touch('touchMove', [{ x: along(0), y: along(1) }]);
    }
    await touch('touchEnd', []);
    await devtools.detach();
  }

  async writes(target: Target, text: string) {
    await this.taps(target);
    await this.page.keyboard.insertText(text);
  }

  /** What a call of the API answers to this visitor. */
  asks<Answer>(path: string): Promise<Answer> {
    return this.page.evaluate(
      async (url) => (await fetch(url, { headers: { Accept: 'application/json' } })).json(),
      path,
    );
  }
}
