import { hasGap, unseenRows } from '@liaozhai/shared/format';
import { store, useScreen } from '@liaozhai/shared/runtime';
import { listenTo } from '@liaozhai/shared/ui';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { mergeNewest, storiesApi } from '../api/stories';
import type { StoryPage } from '../model';

/** Age of the feed from which a returning user triggers a check for new stories. */
const STALE_AFTER_SECONDS = 300;
/** Scroll position up to which new stories are inserted above without disturbing the user. */
export const AT_TOP_PX = 80;

const { dispatch } = store;

const loadedPages = () => storiesApi.endpoints.storiesGetStories.select()(store.getState()).data?.pages;

/** New stories never move the view: at the top they are inserted, further down they wait in `waiting` until `show`. */
export function useNewStories(pages: StoryPage[] | undefined) {
  const { scroller, isActive } = useScreen();
  const [waitingPage, setWaitingPage] = useState<StoryPage | null>(null);
  const checkedAt = useRef(Date.now());

  const insert = (newest: StoryPage) => {
    setWaitingPage(null);
    mergeNewest(newest);
  };

  const fetchNewest = () => {
    checkedAt.current = Date.now();
    const { storiesGetNewest } = storiesApi.endpoints;
    return dispatch(storiesGetNewest.initiate(undefined, { subscribe: false, forceRefetch: true })).unwrap();
  };

  const checkForNew = useEffectEvent(async () => {
    // a negative difference means that the clock was set back, and says nothing about the age
    if (!loadedPages() || Math.abs(Date.now() - checkedAt.current) < STALE_AFTER_SECONDS * 1000) return;
    // an automatic check fails silently; the next one follows later
    const newest = await fetchNewest().catch(() => null);
    if (!newest || unseenRows(loadedPages() ?? [], newest).length === 0) return;
    // a hidden screen has no scroller and must be found as it was left
    if (scroller.current && scroller.current.scrollTop <= AT_TOP_PX) insert(newest);
    else setWaitingPage(newest);
  });

  useEffect(() => {
    if (!isActive) return;
    const onVisible = () => document.visibilityState === 'visible' && void checkForNew();
    onVisible();
    return listenTo(document, ['visibilitychange'], onVisible);
  }, [isActive]);

  const show = () => {
    if (!waitingPage) return;
    insert(waitingPage);
    scroller.current?.scrollTo({ top: 0 });
  };

  /** Inserts newer stories at the top, or loads the feed if it has not loaded yet. Rejects with ApiError. */
  const refresh = async () => {
    if (loadedPages()) return insert(await fetchNewest());
    const { storiesGetStories } = storiesApi.endpoints;
    await dispatch(storiesGetStories.initiate(undefined, { subscribe: false, forceRefetch: true })).unwrap();
  };

  return {
    waiting:
      waitingPage && pages
        ? { count: unseenRows(pages, waitingPage).length, startsOver: hasGap(pages, waitingPage) }
        : null,
    show,
    refresh,
  };
}
