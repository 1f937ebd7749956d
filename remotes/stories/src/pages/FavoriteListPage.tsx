import { Link, paths, useGoBack, useOnline, useUser } from '@liaozhai/shared/runtime';
import { Button, EmptyState, EndOfList, InfiniteList, QueryView, ScreenSkeleton, TopBar } from '@liaozhai/shared/ui';
import { useMemo } from 'react';
import { useStoriesGetFavoritesInfiniteQuery } from '../api/favorites';
import { useDeviceCopy } from '../api/stories';
import { StoryShelf } from '../components/StoryShelf';
import { firstPageStories, storiesOf } from '../model';
import { texts } from '../texts';
import styles from './FavoriteListPage.module.css';

export default function FavoriteListPage() {
  const goBack = useGoBack(paths.my());
  return (
    <>
      <TopBar title={texts.favorites.title} onBack={goBack} />
      <div className={styles.page}>{useUser() && <Favorites />}</div>
    </>
  );
}

/** The saved stories, the last saved first; offline, the device's copy of the first page. */
function Favorites() {
  const list = useStoriesGetFavoritesInfiniteQuery();
  const online = useOnline();
  const pages = list.currentData?.pages;
  const liveStories = useMemo(() => pages && storiesOf(pages), [pages]);
  const copy = useDeviceCopy(
    'stories.favorites.1',
    pages && firstPageStories(pages),
    !pages && (list.isError || !online),
  );
  const shownStories = liveStories ?? copy.content;
  const query = {
    ...list,
    data: shownStories,
    currentData: shownStories,
    error: liveStories ? undefined : list.error,
    isFetching: list.isFetching || copy.isPending,
  };
  return (
    <QueryView
      query={query}
      skeleton={<ScreenSkeleton shape="shelf" label={texts.favorites.loading} />}
      isEmpty={(stories) => stories.length === 0}
      empty={
        <EmptyState
          drawing="book"
          text={texts.favorites.empty}
          action={<Button asLink={<Link to={paths.explore()} />}>{texts.favorites.toExplore}</Button>}
        />
      }
    >
      {(stories) => (
        <InfiniteList
          hasMore={list.hasNextPage}
          loading={list.isFetchingNextPage}
          error={list.isFetchNextPageError ? list.error : undefined}
          onMore={list.fetchNextPage}
          end={liveStories ? <EndOfList text={texts.favorites.end} /> : null}
        >
          <StoryShelf stories={stories} hasLead={false} isWhole={liveStories !== undefined && !list.hasNextPage} />
        </InfiniteList>
      )}
    </QueryView>
  );
}
