import type { Page } from 'playwright';
import { beat, LONGEST_MILLISECONDS, type Site, settles, type Visit, type Watched } from './pageWatch.ts';

/** Of one page. */
const MOST_TAPS = 16;
const SETTLED_BEATS = 2;

/**
 * Runs in the page: taps what was not tapped yet, what has just appeared first. Returns its name, or null where nothing is left. What
 * leaves the page or closes a part of it is passed over. Without named helpers, like all that runs there.
 */
const tapNext = (tapped: string[]): string | null => {
  const known: WeakSet<Element> = Reflect.get(globalThis, 'gateKnown') ?? new WeakSet();
  Reflect.set(globalThis, 'gateKnown', known);
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
    .filter(({ name }) => !tapped.includes(name) && !/^(关闭|取消|返回|close|cancel|back)/i.test(name));
  const next = parts.find(({ part }) => !known.has(part)) ?? parts[0];
  for (const { part } of parts) known.add(part);
  next?.part.click();
  return next?.name ?? null;
};

/** Taps one part of a page after another, until what is looked for is there. What goes wrong is told with the tap that it followed. */
export async function tapThrough(
  page: Page,
  site: Site,
  visit: Visit,
  watched: Watched,
  isDone: () => boolean,
): Promise<void> {
  const next = () => beat(page, site.origin, visit, watched);
  const tapped: string[] = [];
  page.on('popup', (popup) => void popup.close());
  while (tapped.length < MOST_TAPS && !isDone()) {
    const before = watched.seen.length;
    const name = await page.evaluate(tapNext, tapped);
    if (name === null) return;
    tapped.push(name);
    await settles(next, SETTLED_BEATS);
    for (const seen of watched.seen.slice(before)) seen.line += ` after a tap on "${name.slice(0, 40)}"`;
    if (new URL(page.url()).pathname === visit.path) continue;
    await page.goto(site.origin + visit.path, { waitUntil: 'load', timeout: LONGEST_MILLISECONDS });
    await settles(next, SETTLED_BEATS);
  }
}
