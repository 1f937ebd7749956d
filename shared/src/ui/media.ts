import { useSyncExternalStore } from 'react';
import { attempt, listenTo } from '../format/browser';

/** `matchMedia` with a fallback, since extensions may withhold it or its events. */
export function media(query: string): Pick<MediaQueryList, 'matches' | keyof EventTarget> {
  const list = attempt(() => window.matchMedia(query));
  return list?.addEventListener ? list : Object.assign(new EventTarget(), { matches: list?.matches === true });
}

/** Leaves 616 px for the detail next to the host's rail and a list of 320 px. The styles repeat this value. */
const WIDE_QUERY = '(min-width: 1024px)';

const subscribe = (onChange: () => void) => listenTo(media(WIDE_QUERY), ['change'], onChange);

const isWide = () => media(WIDE_QUERY).matches;

/** Whether the window has room for a list and its detail side by side. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, isWide);
