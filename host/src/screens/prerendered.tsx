import { useNavigate } from '@liaozhai/shared/runtime';
import { useLayoutEffect, useRef } from 'react';

/** What the server rendered into a screen, which stands there before the app. */
export interface Prerendered {
  /** What to show at this path until its page is there; null if the server rendered none. */
  content(path: string): readonly Node[] | null;
  /** How far the reader has scrolled it, in pixels, for the first screen alone, which goes on from there; else null. */
  takeScroll(): number | null;
  /** Resolves once the reader no longer scrolls it, or has for long: another element in its place would stop under the finger. */
  rests(): Promise<void>;
}

const REST_MS = 100;
const MOST_RESTS = 40;

/** Keeps what the server rendered into the root, and follows its scrolling, until the app takes its place. */
export function createPrerendered(root: Element | null): Prerendered {
  const frame = root?.querySelector<HTMLElement>('[data-first]');
  const scroller = frame?.querySelector(':scope > main');
  const nodes = [...(scroller?.childNodes ?? [])];
  let top = scroller?.scrollTop || null;
  scroller?.addEventListener('scroll', () => {
    top = scroller.scrollTop;
  });
  return {
    content: (path) => (frame?.dataset.first === path && nodes.length > 0 ? nodes : null),
    takeScroll() {
      const taken = top;
      top = null;
      return taken;
    },
    async rests() {
      let before = null;
      for (let waits = 0; scroller && top !== null && top !== before && waits < MOST_RESTS; waits += 1) {
        before = scroller.scrollTop;
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
      }
    },
  };
}

/** Gives the focus that a control of the server's had to the app's own. */
function followEarlyFocus() {
  const taps = globalThis.__liaozhai?.taps;
  if (taps?.focused && document.activeElement === document.body)
    taps.heirOf(taps.focused)?.focus({ preventScroll: true });
}

/** Does to the app's own controls what a reader did to the server's before the app was there. */
export function followEarlyTap() {
  const taps = globalThis.__liaozhai?.taps;
  if (!taps) return;
  followEarlyFocus();
  const { last } = taps;
  taps.last = null;
  taps.focused = null;
  if (last) taps.heirOf(last)?.click();
}

/** The path a plain tap on one of the app's links leads to; null for anything the browser should do itself. */
function tappedPath(event: MouseEvent): string | null {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  return link && isPlain && link.origin === location.origin ? link.pathname + link.search : null;
}

interface PrerenderedContentProps {
  path: string;
  content: readonly Node[];
}

/** What the server rendered, as it stood there, its links followed inside the app. */
export function PrerenderedContent({ path, content }: PrerenderedContentProps) {
  const container = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  useLayoutEffect(() => {
    const element = container.current;
    if (!element) return;
    element.append(...content);
    followEarlyFocus();
    const follow = (event: MouseEvent) => {
      const path = tappedPath(event);
      if (path === null) return;
      event.preventDefault();
      void navigate(path);
    };
    element.addEventListener('click', follow);
    return () => element.removeEventListener('click', follow);
  }, [content, navigate]);
  return <div ref={container} data-first={path} />;
}
