import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright';
import { say } from '../sentences.ts';
import { type Activity, beat, type Site, TIMEOUT_MS, type Visit, waitForIdle } from './pageWatch.ts';

const MAX_TAPS = 24;
const SETTLED_BEATS = 2;

/**
 * Runs in the page. Returns names of parts that can be tapped, selected or filled in, and touches the part `targetName`. Ignores parts
 * that leave the page or close something. Has no named helpers, like all code that runs in the page.
 */
const listAndTouch = (targetName: string | null): { names: string[]; isInField: boolean } => {
  const parts = [
    ...document.querySelectorAll<HTMLElement>('button, summary, a[href], [role=button], [role=tab], [role=menuitem]'),
    ...document.querySelectorAll<HTMLElement>('select, textarea, input:not([type=file])'),
  ]
    .map((part) => ({ part, link: part.closest<HTMLAnchorElement>('a[href]') }))
    .filter(
      ({ part, link }) =>
        part.checkVisibility() &&
        !part.matches(':disabled, [aria-disabled=true]') &&
        (!link || (link.host === location.host && link.pathname === location.pathname && !link.target)),
    )
    .map(({ part }) => ({ part, name: (part.ariaLabel || part.textContent || part.title || part.tagName).trim() }))
    .filter(({ name }) => !/^(关闭|取消|返回|close|cancel|back)/i.test(name));
  const part = parts.find(({ name }) => name === targetName)?.part;
  part?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
  part?.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
  part?.focus();
  part?.click();
  if (part instanceof HTMLSelectElement) {
    part.selectedIndex = (part.selectedIndex + 1) % part.length;
    part.dispatchEvent(new Event('change', { bubbles: true }));
  }
  const isInField = document.activeElement?.matches('input, textarea') ?? false;
  return { names: parts.map(({ name }) => name), isInField };
};

/** Runs in the page. Scrolls every part to its end, one screen at a time. Limits the steps, because a list may be endless. */
const scrollThrough = async (): Promise<void> => {
  for (const part of document.querySelectorAll('*'))
    for (let top = -1, steps = 0; part.scrollTop !== top && steps < 40; steps += 1) {
      top = part.scrollTop;
      part.scrollBy({ top: part.clientHeight, behavior: 'instant' });
      if (part.scrollTop !== top) await new Promise(requestAnimationFrame);
    }
};

interface PressTarget {
  name: string;
  /** Equal for similar parts, such as the rows of a list. */
  kind: string;
  x: number;
  y: number;
}

/** Runs in the page. Returns the centre of each visible innermost part; a long press there reaches its ancestors as well. */
const findVisibleTargets = (): PressTarget[] =>
  [...document.querySelectorAll('body *')].flatMap((part) => {
    const { left, top, width, height } = part.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (part.childElementCount > 0 || document.elementFromPoint(x, y) !== part) return [];
    const name = (part.ariaLabel || part.textContent || part.tagName).trim();
    const kind = [part.parentElement, part].map((each) => `${each?.tagName} ${each?.getAttribute('class')}`).join(' ');
    return [{ name, kind, x, y }];
  });

/** Duration of a touch that counts as a long press everywhere. */
const LONG_PRESS_MS = 800;

async function longPress(page: Page, { x, y }: PressTarget): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  await pause(LONG_PRESS_MS);
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await session.detach();
}

/** Touches a part of the page. Types a digit and Enter into a field. */
async function touch(page: Page, name: string): Promise<void> {
  const { isInField } = await page.evaluate(listAndTouch, name);
  if (!isInField) return;
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');
}

/** Chooses the next part to tap, by name. Taps each once, and taps its opener again if a part disappeared untapped. */
function createTapPlan() {
  /** Part → the tap after which it appeared. */
  const openers = new Map<string, string | null>();
  const tappedNames = new Set<string>();
  let lastTap: string | null = null;
  const tap = (name: string): string => {
    tappedNames.add(name);
    lastTap = name;
    return name;
  };
  return (names: readonly string[]): string | null => {
    for (const name of names) if (!openers.has(name)) openers.set(name, lastTap);
    const untappedNames = names.filter((name) => !tappedNames.has(name));
    const next = untappedNames.find((name) => openers.get(name) === lastTap) ?? untappedNames[0];
    if (next !== undefined) return tap(next);
    for (const [name, opener] of openers) {
      if (tappedNames.has(name) || opener === null || !names.includes(opener)) continue;
      // only once, because the part may not appear again
      openers.set(name, null);
      lastTap = null;
      return opener;
    }
    return null;
  };
}

/**
 * Scrolls a page and touches one part after another, until `isDone`. With `presses`, then long-presses one part of each kind. Faults are
 * reported with the action that preceded them.
 */
export async function tapThrough(
  page: Page,
  site: Site,
  visit: Visit,
  activity: Activity,
  { isDone, presses }: { isDone: () => boolean; presses: boolean },
): Promise<void> {
  const next = () => beat(page, site.origin, visit, activity);
  const perform = async (describe: (seen: string) => string, act: Promise<void>) => {
    const before = activity.faults.length;
    await act;
    await waitForIdle(next, SETTLED_BEATS);
    for (const seen of activity.faults.slice(before)) seen.line = describe(seen.line);
  };
  const reopenPage = async () => {
    await page.goto(site.origin + visit.path, { waitUntil: 'load', timeout: TIMEOUT_MS });
    await waitForIdle(next, SETTLED_BEATS);
  };
  const chooseNext = createTapPlan();
  const pressedKinds = new Set<string>();
  const findPressTarget = async () =>
    (await page.evaluate(findVisibleTargets)).find(({ kind }) => !pressedKinds.has(kind));
  page.on('popup', (popup) => void popup.close());
  await perform((seen) => say('scrolled', { seen }), page.evaluate(scrollThrough));
  for (let taps = 0; taps < MAX_TAPS && !isDone(); taps += 1) {
    const name = chooseNext((await page.evaluate(listAndTouch, null)).names);
    if (name !== null) {
      const describeTap = (seen: string) => say('tapped', { seen, name: name.slice(0, 40) });
      await perform(describeTap, touch(page, name));
    } else if (!presses) {
      return;
    } else {
      let target = await findPressTarget();
      // an opened part may cover the page
      if (!target) await reopenPage();
      target ??= await findPressTarget();
      if (!target) return;
      const { kind, name: targetName } = target;
      pressedKinds.add(kind);
      await perform((seen) => say('held', { seen, name: targetName.slice(0, 40) }), longPress(page, target));
    }
    if (new URL(page.url()).pathname !== visit.path) await reopenPage();
  }
}
