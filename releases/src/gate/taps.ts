import type { Page } from 'playwright';
import { say } from '../sentences.ts';
import { beat, LONGEST_MILLISECONDS, type Site, settles, type Visit, type Watched } from './pageWatch.ts';

/** Of one page. */
const MOST_TAPS = 24;
const SETTLED_BEATS = 2;

/**
 * Runs in the page: the names of what can be tapped, of which it taps one if asked. What leaves the page or closes a part of it is no
 * such thing. Without named helpers, like all that runs there.
 */
const lookAround = (wanted: string | null): string[] => {
  const parts = [
    ...document.querySelectorAll<HTMLElement>('button, summary, a[href], [role=button], [role=tab], [role=menuitem]'),
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
  parts.find(({ name }) => name === wanted)?.part.click();
  return parts.map(({ name }) => name);
};

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

/** Taps one part of a page after another, until what is looked for is there. What goes wrong is reported with the tap that it followed. */
export async function tapThrough(
  page: Page,
  site: Site,
  visit: Visit,
  watched: Watched,
  isDone: () => boolean,
): Promise<void> {
  const next = () => beat(page, site.origin, visit, watched);
  const plan = createPlan();
  page.on('popup', (popup) => void popup.close());
  for (let taps = 0; taps < MOST_TAPS && !isDone(); taps += 1) {
    const before = watched.seen.length;
    const name = plan(await page.evaluate(lookAround, null));
    if (name === null) return;
    await page.evaluate(lookAround, name);
    await settles(next, SETTLED_BEATS);
    for (const seen of watched.seen.slice(before))
      seen.line = say('tapped', { seen: seen.line, name: name.slice(0, 40) });
    if (new URL(page.url()).pathname === visit.path) continue;
    await page.goto(site.origin + visit.path, { waitUntil: 'load', timeout: LONGEST_MILLISECONDS });
    await settles(next, SETTLED_BEATS);
  }
}
