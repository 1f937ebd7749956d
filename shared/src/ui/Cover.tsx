import clsx from 'clsx';
import { useCallback, useState } from 'react';
import styles from './Cover.module.css';

export interface CoverProps {
  src?: string | null;
  /** The story's title: the picture's spoken name, and set in its place while it is missing. */
  title: string;
  /** The colour that holds the place until the picture is there, as the API gives it; else one from the title. */
  color?: string | undefined;
  /** First on the page: fetched immediately instead of when it comes near. */
  eager?: boolean;
  /** The title stands beside it anyway. */
  decorative?: boolean;
  className?: string;
}

/** Whether this page has fetched it before, e.g. for what the server rendered: then it shows immediately. */
const wasFetched = (src: string) => performance.getEntriesByType('resource').some(({ name }) => name.endsWith(src));

/** The picture itself, where the page brought it inside its markup (`host/server/pages.ts`). */
const inlinedPicture = (src: string) =>
  // there is no document where markup is prerendered
  globalThis.document?.querySelector(`img[data-src="${CSS.escape(src)}"]`)?.getAttribute('src') ?? null;

/** Quiet enough for both themes, and the same for a title each time. */
function neutralColor(title: string): string {
  let hue = 0;
  for (const character of title) hue = (hue * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return `hsl(${hue} 14% 48% / 32%)`;
}

/** For the element that is to have a story's `--cover-color`; no style attribute, which the page's policy would refuse. */
export const useCoverColor = (title: string, color = neutralColor(title)) =>
  useCallback((element: HTMLElement | null) => element?.style.setProperty('--cover-color', color), [color]);

/** A cover in its fixed 3:4 place; the picture fades in and nothing around it moves. */
export function Cover({ src, title, color, eager = false, decorative = false, className }: CoverProps) {
  const [inlined] = useState(() => ({ src, picture: src ? inlinedPicture(src) : null }));
  const [loadedSrc, setLoadedSrc] = useState(() => (src && (inlined.picture || wasFetched(src)) ? src : null));
  const [brokenSrc, setBrokenSrc] = useState<string | null>(null);
  const place = useCoverColor(title, color);
  const shown = src && src !== brokenSrc ? src : null;
  const picture = inlined.src === shown ? inlined.picture : null;
  const noticeLoaded = () => setLoadedSrc(shown);
  return (
    <span ref={place} className={clsx(styles.cover, className)}>
      {shown ? (
        <img
          key={shown}
          // a picture from the cache may be complete before React listens
          ref={(image) => {
            if (image?.complete && image.naturalWidth > 0) noticeLoaded();
          }}
          className={clsx(styles.image, loadedSrc === shown && styles.loaded)}
          src={picture ?? shown}
          data-src={picture && shown}
          alt={decorative ? '' : title}
          loading={eager ? 'eager' : 'lazy'}
          fetchPriority={eager ? 'high' : 'auto'}
          decoding={picture ? 'sync' : 'async'}
          onLoad={noticeLoaded}
          onError={() => setBrokenSrc(shown)}
        />
      ) : (
        <span className={styles.title} aria-hidden={decorative || undefined}>
          {title}
        </span>
      )}
    </span>
  );
}
