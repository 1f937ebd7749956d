import { Skeleton } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './StorySkeleton.module.css';

/** The story page before the story is there: cover, title, lines. */
export function StorySkeleton() {
  return (
    <div className={styles.page}>
      <span className={styles.cover} />
      <span className={styles.title} />
      <div className={styles.lines}>
        <Skeleton count={4} label={texts.story.loading} />
      </div>
    </div>
  );
}
