import { useEffect, useEffectEvent, useRef, useState } from 'react';

/** Where copies are kept on the device. */
interface DeviceCache {
  read(key: string): Promise<unknown>;
  write(key: string, value: unknown): Promise<void>;
}

interface KeptCopy<Content> {
  content: Content | undefined;
  /** The device has not yet answered: nothing says so far that there is no copy. */
  isPending: boolean;
}

/** The device's copy under a key, while it is `wanted`, i.e. while or because the network has nothing. Keys carry a version: a copy of an older shape is simply not found. */
export function useKeptCopy<Content>(
  cache: Pick<DeviceCache, 'read'>,
  key: string,
  wanted: boolean,
): KeptCopy<Content> {
  const [read, setRead] = useState<{ key: string; content: Content | undefined } | null>(null);
  useEffect(() => {
    if (!wanted) return;
    let left = false;
    void cache.read(key).then((content) => {
      if (!left) setRead({ key, content: (content ?? undefined) as Content | undefined });
    });
    return () => {
      left = true;
    };
  }, [cache, key, wanted]);
  const isRead = read?.key === key;
  return { content: isRead ? read.content : undefined, isPending: wanted && !isRead };
}

interface KeptPages<Page> {
  cache: DeviceCache;
  /** What this tab remembers over a reload, and no other. */
  tab: { get(key: string): string | null; set(key: string, value: string): unknown };
  /** Carries a version: pages of an older shape are not found. */
  key: string;
  /** What is listed; undefined until the first page is there. */
  pages: Page[] | undefined;
  /** What of them is worth keeping. */
  slim?: (pages: Page[]) => Page[];
  /** How long the list has to rest before it is written, for one whose pages are many; ms. */
  pauseMs?: number;
  /** Puts the kept pages below the newest one, which is listed already. */
  restore: (kept: Page[]) => void;
}

const markOf = (key: string) => `${key} pages`;

/** Whether this tab has kept pages of a list, which are put back once its first page is there. */
export const hasKeptPages = (tab: KeptPages<unknown>['tab'], key: string): boolean => tab.get(markOf(key)) !== null;

/**
 * Lets a long list by cursor be found as it was after a reload of its tab: its pages are kept on the device while they come,
 * and put back as soon as the first page is there. Another tab begins with that page as ever. Returns whether the list may
 * ask for its next page: one that were on its way meanwhile would be put to the list as it was before.
 */
export function useKeptPages<Page>({ cache, tab, key, pages, pauseMs = 0, ...handlers }: KeptPages<Page>): boolean {
  const [isRestored, setRestored] = useState(() => !hasKeptPages(tab, key));
  const written = useRef<Page[] | null>(null);
  const isListed = pages !== undefined;
  const putBack = useEffectEvent((kept: unknown) => {
    if (Array.isArray(kept) && kept.length > (pages?.length ?? 0)) handlers.restore(kept as Page[]);
    setRestored(true);
  });
  useEffect(() => {
    if (isRestored || !isListed) return;
    let left = false;
    void cache.read(key).then((kept) => left || putBack(kept));
    return () => {
      left = true;
    };
  }, [isRestored, isListed, cache, key]);
  const keep = useEffectEvent((listed: Page[]) => {
    written.current = listed;
    tab.set(markOf(key), '1');
    void cache.write(key, handlers.slim?.(listed) ?? listed);
  });
  useEffect(() => {
    // one page comes with the screen, unless more were kept before
    if (!isRestored || !pages || (pages.length < 2 && !written.current)) return;
    if (pauseMs === 0) return keep(pages);
    const timer = setTimeout(() => keep(pages), pauseMs);
    return () => clearTimeout(timer);
  }, [isRestored, pages, pauseMs]);
  return isRestored;
}
