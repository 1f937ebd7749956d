import { useSyncExternalStore } from 'react';

/** Beside the host's rail and a list of 320 px it leaves 616 for what was chosen in it. The styles repeat it. */
const wide = '(min-width: 1024px)';

function subscribe(onChange: () => void) {
  const query = matchMedia(wide);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

const isWide = () => matchMedia(wide).matches;

/** Whether the window has room for a list and what was chosen in it side by side. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, isWide);
