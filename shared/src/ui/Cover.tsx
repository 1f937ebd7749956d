import clsx from 'clsx';
import { useCallback, useState } from 'react';
import styles from './Cover.module.css';

export interface CoverProps {
  src?: string | null;
  /** The story's title: alternative text of the picture, and shown while there is no picture. */
  title: string;
  /** Placeholder colour from the API; without it one is derived from the title. */
  color?: string | undefined;
  /** Loads immediately instead of when it comes near the viewport. */
  eager?: boolean;
  /** Hidden from screen readers, for use next to the visible title. */
  decorative?: boolean;
  className?: string;
}

/** Whether the page has already loaded the picture, e.g. for server-rendered markup: it then shows without a fade. */
const wasFetched = (src: string) => performance.getEntriesByType('resource').some(({ name }) => name.endsWith(src));

/** Returns the picture that the page contains as a data URL (`host/server/pages.ts`). */
const inlinedPicture = (src: string) =>
  // no document during prerendering
  globalThis.document?.querySelector(`img[data-src="${CSS.escape(src)}"]`)?.getAttribute('src') ?? null;

/** Derives a colour from the title, muted enough for both themes. */
function neutralColor(title: string): string {
  let hue = 0;
  for (const character of title) hue = (hue * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return `hsl(${hue} 14% 48% / 32%)`;
}

/** Ref that sets a story's `--cover-color`; a style attribute would violate the page's content security policy. */
export const useCoverColor = (title: string, color = neutralColor(title)) =>
  useCallback((element: HTMLElement | null) => element?.style.setProperty('--cover-color', color), [color]);

/** A cover with a fixed ratio of 3:4; the picture fades in without moving the layout. */
export function Cover({ src, title, color, eager = false, decorative = false, className }: CoverProps) {
  const [inlined] = useState(() => ({ src, picture: src ? inlinedPicture(src) : null }));
  const [loadedSrc, setLoadedSrc] = useState(() => (src && (inlined.picture || wasFetched(src)) ? src : null));
  const [brokenSrc, setBrokenSrc] = useState<string | null>(null);
  const coverRef = useCoverColor(title, color);
  const shownSrc = src && src !== brokenSrc ? src : null;
  const picture = inlined.src === shownSrc ? inlined.picture : null;
  const markLoaded = () => setLoadedSrc(shownSrc);
  return (
    <span ref={coverRef} className={clsx(styles.cover, className)}>
      {shownSrc ? (
        <img
          key={shownSrc}
          // a cached picture may be complete before React attaches its listener
          ref={(image) => {
            if (image?.complete && image.naturalWidth > 0) markLoaded();
          }}
          className={clsx(styles.image, loadedSrc === shownSrc && styles.loaded)}
          src={picture ?? shownSrc}
          data-src={picture && shownSrc}
          alt={decorative ? '' : title}
          loading={eager ? 'eager' : 'lazy'}
          fetchPriority={eager ? 'high' : 'auto'}
          decoding={picture ? 'sync' : 'async'}
          onLoad={markLoaded}
          onError={() => setBrokenSrc(shownSrc)}
        />
      ) : (
        <span className={styles.title} aria-hidden={decorative || undefined}>
          {title}
        </span>
      )}
    </span>
  );
}
