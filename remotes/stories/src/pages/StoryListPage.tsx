import { failureText } from '@liaozhai/shared/format';
import { isApiError, toast, useOnline } from '@liaozhai/shared/runtime';
import { EmptyState, EndOfList, InfiniteList, PullToRefresh, QueryView } from '@liaozhai/shared/ui';
import { useMemo } from 'react';
import { useStoriesGetStoriesInfiniteQuery } from '../api';
import { FreshPill } from '../components/FreshPill';
import { StoryGrid, StoryGridSkeleton } from '../components/StoryGrid';
import { Wordmark } from '../components/Wordmark';
import { type Story, storiesOf } from '../model';
import { texts } from '../texts';
import { adoptFirstStories } from './firstStories';
import styles from './StoryListPage.module.css';
import { useDeviceCopy } from './useDeviceCopy';
import { useNewStories } from './useNewStories';

adoptFirstStories();

export default function StoryListPage() {
  const feed = useStoriesGetStoriesInfiniteQuery();
  const online = useOnline();
  const pages = feed.data?.pages;
  const live = useMemo(() => pages && storiesOf(pages), [pages]);
  const copy = useDeviceCopy<Story[]>('stories.feed.1', pages?.[0]?.items, !pages && (feed.isError || !online));
  const { waiting, show, refresh } = useNewStories(pages);

  const refreshAloud = () =>
    refresh().catch((cause: unknown) => {
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause);
      if (problem) toast(problem, { kind: 'error' });
    });
  const query = { ...feed, data: live ?? copy, currentData: live ?? copy, error: live ? undefined : feed.error };
  return (
    <>
      {waiting && <FreshPill {...waiting} onShow={show} />}
      <PullToRefresh onRefresh={refreshAloud}>
        <div className={styles.page}>
          <Wordmark onRefresh={refreshAloud} />
          <QueryView
            query={query}
            skeleton={<StoryGridSkeleton />}
            isEmpty={(stories) => stories.length === 0}
            empty={<EmptyState drawing="book" text={texts.list.empty} />}
          >
            {(stories) => (
              <InfiniteList
                hasMore={feed.hasNextPage}
                loading={feed.isFetchingNextPage}
                error={feed.isFetchNextPageError ? feed.error : undefined}
                onMore={feed.fetchNextPage}
                end={live ? <EndOfList text={texts.list.end} /> : null}
              >
                <StoryGrid stories={stories} />
              </InfiniteList>
            )}
          </QueryView>
        </div>
      </PullToRefresh>
    </>
  );
}
