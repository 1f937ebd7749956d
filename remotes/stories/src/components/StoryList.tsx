import { rowsOf } from '@liaozhai/shared/format';
import { useOnline } from '@liaozhai/shared/runtime';
import { EndOfList, InfiniteList, type Query, QueryView, ScreenSkeleton } from '@liaozhai/shared/ui';
import { type ReactNode, useMemo } from 'react';
import { useDeviceCopy, type useStoriesGetStoriesInfiniteQuery } from '../api/stories';
import { firstPageStories, type Story, type StoryPage } from '../model';
import { StoryShelf, type StoryShelfProps } from './StoryShelf';

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

interface StoryListProps extends Omit<StoryShelfProps, 'stories' | 'isWhole'> {
  /** Pages the list. */
  list: {
    error?: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => unknown;
  };
  /** The stories to show. */
  query: Query<Story[]>;
  /** The stories belong to `list`, and are not a copy or those of a former search. */
  isLive: boolean;
  words: { loading: string; end: string };
  empty: ReactNode;
}

/** A shelf that is paged at its end. */
export function StoryList({ list, query, isLive, words, empty, growsSoon = false, ...shelf }: StoryListProps) {
  return (
    <QueryView
      query={query}
      skeleton={<ScreenSkeleton shape="shelf" label={words.loading} />}
      isEmpty={(stories) => stories.length === 0}
      empty={empty}
    >
      {(stories) => (
        <InfiniteList
          hasMore={isLive && list.hasNextPage}
          loading={list.isFetchingNextPage || growsSoon}
          error={list.isFetchNextPageError ? list.error : undefined}
          onMore={list.fetchNextPage}
          end={isLive ? <EndOfList text={words.end} /> : null}
        >
          <StoryShelf {...shelf} stories={stories} isWhole={isLive && !list.hasNextPage} growsSoon={growsSoon} />
        </InfiniteList>
      )}
    </QueryView>
  );
}
