import { useSyncExternalStore } from 'react';

/** What `read` returns; undefined where a browser lacks what it names, or an extension forbids it. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `matchMedia`, also where an extension withholds it or its events. */
export function media(query: string): Pick<MediaQueryList, 'matches' | keyof EventTarget> {
  const list = attempt(() => window.matchMedia(query));
  return list?.addEventListener ? list : Object.assign(new EventTarget(), { matches: list?.matches === true });
}

/** Beside the host's rail and a list of 320 px it leaves 616 for what was chosen in it. The styles repeat it. */
const wide = '(min-width: 1024px)';

function subscribe(onChange: () => void) {
  const query = media(wide);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

const isWide = () => media(wide).matches;

/** Whether the window has room for a list and what was chosen in it side by side. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, isWide);
