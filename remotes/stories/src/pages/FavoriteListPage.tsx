import { Link, paths, useGoBack, useUser } from '@liaozhai/shared/runtime';
import { Button, EmptyState, EndOfList, InfiniteList, QueryView, ScreenSkeleton, TopBar } from '@liaozhai/shared/ui';
import { useStoriesGetFavoritesInfiniteQuery } from '../api/favorites';
import { StoryShelf } from '../components/StoryShelf';
import { useStoryList } from '../components/useStoryList';
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
  const { query, isLive } = useStoryList('stories.favorites.1', list, list.currentData?.pages);
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
          end={isLive ? <EndOfList text={texts.favorites.end} /> : null}
        >
          <StoryShelf stories={stories} hasLead={false} isWhole={isLive && !list.hasNextPage} />
        </InfiniteList>
      )}
    </QueryView>
  );
}
