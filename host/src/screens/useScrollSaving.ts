import { useEffect } from 'react';
import type { ScrollMemory } from './scrollMemory';

/** Takes scrolling out of the browser's hands and saves the positions whenever the page may be about to go. */
export function useScrollSaving(memory: ScrollMemory) {
  useEffect(() => {
    history.scrollRestoration = 'manual';
    addEventListener('pagehide', memory.save);
    document.addEventListener('visibilitychange', memory.save);
    return () => {
      removeEventListener('pagehide', memory.save);
      document.removeEventListener('visibilitychange', memory.save);
    };
  }, [memory]);
}
