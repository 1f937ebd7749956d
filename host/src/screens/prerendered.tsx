import { useNavigate } from '@liaozhai/shared/runtime';
import { listenTo } from '@liaozhai/shared/ui';
import { useLayoutEffect, useRef } from 'react';

const SCROLL_CHECK_MS = 100;
const MAX_SCROLL_CHECKS = 40;

/** Holds the server-rendered nodes of the root, and tracks their scroll position until the app replaces them. */
export function createPrerendered(root: Element | null) {
  const frame = root?.querySelector<HTMLElement>('[data-first]');
  const scroller = frame?.querySelector(':scope > main');
  const nodes = [...(scroller?.childNodes ?? [])];
  let top = scroller?.scrollTop || null;
  scroller?.addEventListener('scroll', () => {
    top = scroller.scrollTop;
  });
  return {
    /** Returns the nodes to show at a path until its page is loaded; null if the server rendered none. */
    content: (path: string): readonly Node[] | null =>
      frame?.dataset.first === path && nodes.length > 0 ? nodes : null,
    /** Returns the scroll position in px on the first call, for the first screen; then null. */
    consumeScroll(): number | null {
      const initialTop = top;
      top = null;
      return initialTop;
    },
    /** Resolves once the reader stops scrolling, after 4 s at the latest: replacing the element would stop the scroll. */
    async waitForScrollEnd(): Promise<void> {
      let previousTop = null;
      for (let checks = 0; scroller && top !== null && top !== previousTop && checks < MAX_SCROLL_CHECKS; checks += 1) {
        previousTop = scroller.scrollTop;
        await new Promise((resolve) => setTimeout(resolve, SCROLL_CHECK_MS));
      }
    },
  };
}

/** Moves the focus from a server-rendered control to the app's replacement. */
function restoreEarlyFocus() {
  const taps = globalThis.__liaozhai?.taps;
  if (taps?.focused && document.activeElement === document.body)
    taps.heirOf(taps.focused)?.focus({ preventScroll: true });
}

/** Replays focus and tap of server-rendered controls on the app's replacements. */
export function replayEarlyTap() {
  const taps = globalThis.__liaozhai?.taps;
  if (!taps) return;
  restoreEarlyFocus();
  const { last } = taps;
  taps.last = null;
  taps.focused = null;
  if (last) taps.heirOf(last)?.click();
}

/** Path of a plain tap on one of the app's links; null if the browser should handle the event. */
function tappedPath(event: MouseEvent): string | null {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  return link && isPlain && link.origin === location.origin ? link.pathname + link.search : null;
}

/** The server-rendered nodes, with links that navigate within the app. */
export function PrerenderedContent({ path, content }: { path: string; content: readonly Node[] }) {
  const container = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  useLayoutEffect(() => {
    const element = container.current;
    if (!element) return;
    element.append(...content);
    restoreEarlyFocus();
    const navigateInApp = (event: MouseEvent) => {
      const path = tappedPath(event);
      if (path === null) return;
      event.preventDefault();
      void navigate(path);
    };
    return listenTo(element, ['click'], navigateInApp);
  }, [content, navigate]);
  return <div ref={container} data-first={path} />;
}
