import { rowsOf } from '@liaozhai/shared/format';
import { useOnline } from '@liaozhai/shared/runtime';
import { useMemo } from 'react';
import { useDeviceCopy, type useStoriesGetStoriesInfiniteQuery } from '../api/stories';
import { firstPageStories, type StoryPage } from '../model';

type ListQuery = ReturnType<typeof useStoriesGetStoriesInfiniteQuery>;

/**
 * The stories of a list, each once, or the device's copy of its first page while the list cannot load. `query` is for `QueryView`;
 * `isLive` is false for the copy.
 */
export function useStoryList(key: string, list: ListQuery, pages: StoryPage[] | undefined) {
  const isOnline = useOnline();
  const liveStories = useMemo(() => pages && rowsOf(pages), [pages]);
  const copy = useDeviceCopy(key, pages && firstPageStories(pages), !pages && (list.isError || !isOnline));
  const stories = liveStories ?? copy.content;
  const query = {
    ...list,
    data: stories,
    currentData: stories,
    error: liveStories ? undefined : list.error,
    isFetching: list.isFetching || copy.isPending,
  };
  return { query, isLive: liveStories !== undefined };
}
