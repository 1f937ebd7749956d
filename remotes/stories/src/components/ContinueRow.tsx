import { Link, paths, type RecentStory, recentStories, useUser } from '@liaozhai/shared/runtime';
import { Cover } from '@liaozhai/shared/ui';
import { useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { useStoriesGetRecentQuery } from '../api';
import { texts } from '../texts';
import styles from './ContinueRow.module.css';

/** The stories one talked in last, above the shelf; none for guests. */
export function ContinueRow() {
  const stories = useRecentStories();
  if (stories.length === 0) return null;
  return (
    <section aria-label={texts.list.resume}>
      <ul className={styles.row}>
        {stories.map(({ id, title, coverUrl, coverColor }) => (
          <li key={id} className={styles.place}>
            <Link className={styles.card} to={paths.storyChat(id)}>
              {coverUrl && (
                <Cover className={styles.cover} src={coverUrl} title={title} color={coverColor} eager decorative />
              )}
              <span className={styles.words}>
                <span className={styles.label}>{texts.list.resume}</span>
                <span className={styles.title}>{title}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/**
 * From the device's copy when the shelf comes into sight, so that nothing on it moves: what the server tells later takes
 * the row's place, but there is none where there was none before the next time.
 */
function useRecentStories(): RecentStory[] {
  const user = useUser();
  const { data: live } = useStoriesGetRecentQuery(undefined, { skip: !user });
  const [drawn, setDrawn] = useState(recentStories.read);
  const latest = useEffectEvent(() => live ?? recentStories.read());
  // biome-ignore lint/correctness/useExhaustiveDependencies: another user has other stories
  useLayoutEffect(() => setDrawn(latest()), [user?.id]);
  useEffect(() => {
    if (live && user) recentStories.write(live);
  }, [live, user]);
  if (!user || drawn.length === 0) return [];
  return live?.length ? live : drawn;
}
