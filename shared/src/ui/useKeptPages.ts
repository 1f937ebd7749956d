import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { whenResolved } from '../format/browser';

interface DeviceCache {
  read(key: string): Promise<unknown>;
  write(key: string, value: unknown): Promise<void>;
}

interface KeptCopy<Content> {
  content: Content | undefined;
  /** The device has not answered yet, so that a copy may exist. */
  isPending: boolean;
}

/** The device's copy under a key while `isEnabled`, e.g. offline. Keys contain a version, so that old shapes are not found. */
export function useKeptCopy<Content>(
  cache: Pick<DeviceCache, 'read'>,
  key: string,
  isEnabled: boolean,
): KeptCopy<Content> {
  const [copy, setCopy] = useState<{ key: string; content: Content | undefined } | null>(null);
  useEffect(() => {
    if (!isEnabled) return;
    return whenResolved(cache.read(key), (content) =>
      setCopy({ key, content: (content ?? undefined) as Content | undefined }),
    );
  }, [cache, key, isEnabled]);
  const isRead = copy?.key === key;
  return { content: isRead ? copy.content : undefined, isPending: isEnabled && !isRead };
}

interface KeptPages<Page> {
  cache: DeviceCache;
  /** Storage of this tab that survives a reload. */
  tab: { get(key: string): string | null; set(key: string, value: string): unknown };
  /** Contains a version, so that pages of an older shape are not found. */
  key: string;
  /** Loaded pages; undefined until the first one has loaded. */
  pages: Page[] | undefined;
  /** Reduces the pages to what is stored. */
  slim?: (pages: Page[]) => Page[];
  /** Delay in ms before the list is written, for lists with many pages. */
  pauseMs?: number;
  /** Adds the stored pages below the newest one, which is already loaded. */
  restore: (storedPages: Page[]) => void;
}

/** Whether the device's copy, perhaps of another build, has pages of rows with an id. */
const arePages = (copy: unknown): copy is { items: unknown[] }[] =>
  Array.isArray(copy) &&
  copy.every((page) => Array.isArray(page?.items) && page.items.every((row: { id?: unknown } | null) => row?.id));

const markerKey = (key: string) => `${key} pages`;

/** Whether this tab has stored pages of a list, to be restored after its first page. */
export const hasKeptPages = (tab: KeptPages<unknown>['tab'], key: string): boolean => tab.get(markerKey(key)) !== null;

/**
 * Restores a long cursor-paged list after a reload of its tab. Stores its pages on the device and adds them after the first page
 * has loaded. Other tabs start with the first page. Returns whether the list may load its next page: one that loads during the
 * restoration would extend the old list.
 */
export function useKeptPages<Page>({ cache, tab, key, pages, pauseMs = 0, ...handlers }: KeptPages<Page>): boolean {
  const [isRestored, setRestored] = useState(() => !hasKeptPages(tab, key));
  const writtenPages = useRef<Page[] | null>(null);
  const isListed = pages !== undefined;
  const restorePages = useEffectEvent((storedPages: unknown) => {
    if (arePages(storedPages) && storedPages.length > (pages?.length ?? 0)) handlers.restore(storedPages as Page[]);
    setRestored(true);
  });
  useEffect(() => {
    if (isRestored || !isListed) return;
    return whenResolved(cache.read(key), (storedPages) => restorePages(storedPages));
  }, [isRestored, isListed, cache, key]);
  const storePages = useEffectEvent((loadedPages: Page[]) => {
    writtenPages.current = loadedPages;
    tab.set(markerKey(key), '1');
    void cache.write(key, handlers.slim?.(loadedPages) ?? loadedPages);
  });
  useEffect(() => {
    // a single page loads with the screen, unless more were stored before
    if (!isRestored || !pages || (pages.length < 2 && !writtenPages.current)) return;
    if (pauseMs === 0) return storePages(pages);
    const timer = setTimeout(() => storePages(pages), pauseMs);
    return () => clearTimeout(timer);
  }, [isRestored, pages, pauseMs]);
  return isRestored;
}
