import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright';
import { say } from '../sentences.ts';
import { beat, LONGEST_MS, type Site, settles, type Visit, type Watched } from './pageWatch.ts';

/** Of one page. */
const MOST_TAPS = 24;
const SETTLED_BEATS = 2;

/**
 * Runs in the page: the names of what can be tapped, chosen or filled in, of which it touches one if asked. What leaves the page or closes
 * a part of it is no such thing. Without named helpers, like all that runs there.
 */
const lookAround = (wanted: string | null): { names: string[]; isInField: boolean } => {
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
  const part = parts.find(({ name }) => name === wanted)?.part;
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

/** Runs in the page: brings everything that scrolls to its end, a screen at a time; a list may have none. */
const scrollThrough = async (): Promise<void> => {
  for (const part of document.querySelectorAll('*'))
    for (let top = -1, steps = 0; part.scrollTop !== top && steps < 40; steps += 1) {
      top = part.scrollTop;
      part.scrollBy({ top: part.clientHeight, behavior: 'instant' });
      if (part.scrollTop !== top) await new Promise(requestAnimationFrame);
    }
};

interface Place {
  name: string;
  /** Equal for parts that are alike, as the rows of a list. */
  kind: string;
  x: number;
  y: number;
}

/** Runs in the page: the middle of each innermost part in sight. A finger that rests there rests on what is around it, too. */
const placesInSight = (): Place[] =>
  [...document.body.querySelectorAll('*')].flatMap((part) => {
    const { left, top, width, height } = part.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (part.childElementCount > 0 || document.elementFromPoint(x, y) !== part) return [];
    const name = (part.ariaLabel || part.textContent || part.tagName).trim();
    const kind = [part.parentElement, part].map((each) => `${each?.tagName} ${each?.getAttribute('class')}`).join(' ');
    return [{ name, kind, x, y }];
  });

/** Longer than what counts as a long press anywhere. */
const HOLD_MS = 800;

/** Rests a finger on a part of the page. */
async function hold(page: Page, { x, y }: Place): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  await pause(HOLD_MS);
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await session.detach();
}

/** Touches a part of the page; a field gets a digit and Enter. */
async function touch(page: Page, name: string): Promise<void> {
  const { isInField } = await page.evaluate(lookAround, name);
  if (!isInField) return;
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');
}

/** Which part of a page is tapped next, by name: each once, and what opened it again where it has gone untapped. */
function createPlan() {
  /** Each with the tap after which it appeared. */
  const openers = new Map<string, string | null>();
  const tapped = new Set<string>();
  let last: string | null = null;
  const tap = (name: string): string => {
    tapped.add(name);
    last = name;
    return name;
  };
  /** Null where nothing is left. */
  return (names: readonly string[]): string | null => {
    for (const name of names) if (!openers.has(name)) openers.set(name, last);
    const fresh = names.filter((name) => !tapped.has(name));
    const next = fresh.find((name) => openers.get(name) === last) ?? fresh[0];
    if (next !== undefined) return tap(next);
    for (const [name, opener] of openers) {
      if (tapped.has(name) || opener === null || !names.includes(opener)) continue;
      // once: it may not come again
      openers.set(name, null);
      last = null;
      return opener;
    }
    return null;
  };
}

/**
 * Scrolls a page and touches one part of it after another, then holds one of each kind, until what is looked for is there. What goes
 * wrong is reported with what it followed.
 */
export async function tapThrough(
  page: Page,
  site: Site,
  visit: Visit,
  watched: Watched,
  isDone: () => boolean,
): Promise<void> {
  const next = () => beat(page, site.origin, visit, watched);
  const attempt = async (inWords: (seen: string) => string, act: Promise<void>) => {
    const before = watched.seen.length;
    await act;
    await settles(next, SETTLED_BEATS);
    for (const seen of watched.seen.slice(before)) seen.line = inWords(seen.line);
  };
  const openAgain = async () => {
    await page.goto(site.origin + visit.path, { waitUntil: 'load', timeout: LONGEST_MS });
    await settles(next, SETTLED_BEATS);
  };
  const plan = createPlan();
  const held = new Set<string>();
  const placeToHold = async () => (await page.evaluate(placesInSight)).find(({ kind }) => !held.has(kind));
  page.on('popup', (popup) => void popup.close());
  await attempt((seen) => say('scrolled', { seen }), page.evaluate(scrollThrough));
  for (let taps = 0; taps < MOST_TAPS && !isDone(); taps += 1) {
    const name = plan((await page.evaluate(lookAround, null)).names);
    if (name !== null) {
      const tapped = (seen: string) => say('tapped', { seen, name: name.slice(0, 40) });
      await attempt(tapped, touch(page, name));
    } else {
      let place = await placeToHold();
      // what a tap opened may cover the page
      if (!place) await openAgain();
      place ??= await placeToHold();
      if (!place) return;
      const { kind, name: heldName } = place;
      held.add(kind);
      await attempt((seen) => say('held', { seen, name: heldName.slice(0, 40) }), hold(page, place));
    }
    if (new URL(page.url()).pathname !== visit.path) await openAgain();
  }
}
