import { useDispatch, useScreen } from '@liaozhai/shared/runtime';
import { useCallback, useEffect, useRef, useState } from 'react';
import { putNewest, storiesApi } from '../api/stories';
import { hasGap, type StoryPage, unseenIn } from '../model';

/** Age of the feed from which a returning user triggers a check for new stories. */
const STALE_AFTER_SECONDS = 300;
/** Scroll position up to which new stories are inserted above without disturbing the user. */
export const AT_TOP_PX = 80;

/** New stories never move the view: at the top they are inserted, further down they wait in `waiting` until `show`. */
export function useNewStories(pages: StoryPage[] | undefined) {
  const dispatch = useDispatch();
  const { scroller, isActive } = useScreen();
  const [waiting, setWaiting] = useState<StoryPage | null>(null);
  const lookedAt = useRef(Date.now());
  const shown = useRef(pages);
  useEffect(() => {
    shown.current = pages;
  }, [pages]);

  const put = useCallback(
    (newest: StoryPage) => {
      setWaiting(null);
      dispatch(putNewest(newest));
    },
    [dispatch],
  );

  const fetchNewest = useCallback(async () => {
    lookedAt.current = Date.now();
    const request = dispatch(
      storiesApi.endpoints.storiesGetNewest.initiate(undefined, { subscribe: false, forceRefetch: true }),
    );
    return request.unwrap();
  }, [dispatch]);

  const look = useCallback(async () => {
    // a negative difference means that the clock was set back, and says nothing about the age
    if (!shown.current || Math.abs(Date.now() - lookedAt.current) < STALE_AFTER_SECONDS * 1000) return;
    // an automatic check fails silently; the next one follows later
    const newest = await fetchNewest().catch(() => null);
    if (!newest || unseenIn(shown.current, newest).length === 0) return;
    // a hidden screen has no scroller and must be found as it was left
    if (scroller.current && scroller.current.scrollTop <= AT_TOP_PX) put(newest);
    else setWaiting(newest);
  }, [fetchNewest, put, scroller]);

  useEffect(() => {
    if (!isActive) return;
    const onVisible = () => document.visibilityState === 'visible' && void look();
    onVisible();
    document.addEventListener('visibilitychange', onVisible);
    return () => document.removeEventListener('visibilitychange', onVisible);
  }, [isActive, look]);

  const show = useCallback(() => {
    if (!waiting) return;
    put(waiting);
    scroller.current?.scrollTo({ top: 0 });
  }, [put, scroller, waiting]);

  /** Inserts newer stories at the top, or loads the feed if it has not loaded yet. Rejects with ApiError. */
  const refresh = useCallback(async () => {
    if (shown.current) return put(await fetchNewest());
    const { storiesGetStories } = storiesApi.endpoints;
    await dispatch(storiesGetStories.initiate(undefined, { subscribe: false, forceRefetch: true })).unwrap();
  }, [dispatch, fetchNewest, put]);

  return {
    waiting: waiting && pages ? { count: unseenIn(pages, waiting).length, startsAnew: hasGap(pages, waiting) } : null,
    show,
    refresh,
  };
}
