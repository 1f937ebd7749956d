import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';
import { test as base, expect } from '../person.ts';
import { guestScenes } from '../scenes/guestScenes.ts';
import { makeMember, memberScenes } from '../scenes/memberScenes.ts';
import { pictured, type Scene } from '../scenes/scene.ts';
import { isTranslated, translate } from '../translator.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeGlobal {
  axe: { run(context: Document, options: RunOptions): Promise<AxeResults> };
}

/** Serious and critical findings, each as "rule: element (problem)". */
async function findings(page: Page, options: RunOptions = {}): Promise<string[]> {
  const { violations } = await page.evaluate(
    (chosen) =>
      (globalThis as unknown as AxeGlobal).axe.run(document, {
        ...chosen,
        resultTypes: ['violations'],
      }),
    options,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} (${node.failureSummary})`));
}

/** Runs in the page with letters twice as large: returns lines that overlap and controls that are out of reach. */
function illegible(): string[] {
  document.documentElement.style.fontSize = '200%';
  const scrolls = (element: Element): boolean => /auto|scroll/.test(getComputedStyle(element).overflowX);
  // a row that was swiped aside goes back by another swipe
  const isSwiped = (element: Element): boolean => new DOMMatrix(getComputedStyle(element).transform).e !== 0;
  const isSidewaysReachable = (element: Element | null): boolean =>
    element !== null && (scrolls(element) || isSwiped(element) || isSidewaysReachable(element.parentElement));
  const seen = [...document.querySelectorAll<HTMLElement>('body *')].filter(
    (element) => element.checkVisibility() && element.closest('[aria-hidden="true"], [inert]') === null,
  );
  const hasWords = ({ childNodes }: Element) =>
    [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
  const piled = seen.filter((element) => {
    const { fontSize, lineHeight, writingMode } = getComputedStyle(element);
    return hasWords(element) && writingMode === 'horizontal-tb' && parseFloat(lineHeight) < parseFloat(fontSize);
  });
  const lost = seen.filter((element) => {
    const { width, left, right } = element.getBoundingClientRect();
    const isOut = width > 2 && (right > innerWidth + 12 || left < -12);
    return element.matches('a, button, input, textarea') && isOut && !isSidewaysReachable(element);
  });
  const name = (element: Element) => `${element.tagName} ${element.className} ${element.textContent?.slice(0, 20)}`;
  return [...piled.map((each) => `piled: ${name(each)}`), ...lost.map((each) => `lost: ${name(each)}`)];
}

async function isAccessible(page: Page, scene: Scene) {
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
  await scene.show(page);
  // the app never starts in an old browser
  if (!scene.name.startsWith('old-browser')) await isTranslated(page);
  await pictured(page);
  await page.evaluate(axeSource);
  expect(await findings(page), 'in light').toEqual([]);
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'dark' });
  // the theme changes only colours
  expect(await findings(page, { runOnly: ['color-contrast'] }), 'in dark').toEqual([]);
  expect(await page.evaluate(illegible), 'with letters of 200 %').toEqual([]);
}

type MemberState = Awaited<ReturnType<typeof makeMember>>;

const test = base.extend<object, { memberState: MemberState }>({
  memberState: [
    async ({ browser }, use, { project }) => {
      const { baseURL, locale, viewport } = project.use;
      const context = await browser.newContext({ baseURL, locale, viewport, serviceWorkers: 'block' });
      const state = await makeMember(await context.newPage());
      await context.close();
      await use(state);
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

// a translator changes the page under the app: every screen has to stand that, too
test.beforeEach(({ context }) => translate(context));

test.afterEach(({ trouble }) => {
  expect(trouble.errors, 'errors of the page').toEqual([]);
});

test.describe('accessibility: a visitor finds no barrier', () => {
  for (const scene of guestScenes) test(scene.name, ({ page }) => isAccessible(page, scene));
});

test.describe('accessibility: a member finds no barrier', () => {
  test.use({ storageState: ({ memberState }, use) => use(memberState) });
  for (const scene of memberScenes) test(scene.name, ({ page }) => isAccessible(page, scene));
});
