import { Link, paths, useGoBack, useUser } from '@liaozhai/shared/runtime';
import { Button, EmptyState, TopBar } from '@liaozhai/shared/ui';
import { useStoriesGetFavoritesInfiniteQuery } from '../api/favorites';
import { StoryList, useStoryList } from '../components/StoryList';
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
    <StoryList
      list={list}
      query={query}
      isLive={isLive}
      words={texts.favorites}
      empty={
        <EmptyState
          drawing="book"
          text={texts.favorites.empty}
          action={<Button asLink={<Link to={paths.explore()} />}>{texts.favorites.toExplore}</Button>}
        />
      }
      hasLead={false}
    />
  );
}
