import { VisuallyHidden } from '@liaozhai/shared/ui';
import type { Story } from '../model';
import { texts } from '../texts';
import { StoryCard } from './StoryCard';
import styles from './StoryGrid.module.css';

/** How many covers a phone shows before the first scroll. */
const FIRST_VIEW = 5;
const PLACES = Array.from({ length: FIRST_VIEW }, (_, place) => place);

/** The shelf. Reading order is source order, so what is appended never moves what stands. */
export function StoryGrid({ stories }: { stories: Story[] }) {
  return (
    <ul className={styles.grid} aria-label={texts.list.label}>
      {stories.map((story, index) => (
        <StoryCard key={story.id} story={story} lead={index === 0} eager={index < FIRST_VIEW} />
      ))}
    </ul>
  );
}

/** The shelf before the first stories are known, in the very same places. */
export function StoryGridSkeleton() {
  return (
    <div role="status">
      <VisuallyHidden>{texts.list.loading}</VisuallyHidden>
      <div className={styles.grid} aria-hidden="true">
        {PLACES.map((place) => (
          <div key={place} className={place === 0 ? styles.leadSkeleton : undefined}>
            <span className={styles.coverSkeleton} />
            <div className={styles.wordsSkeleton}>
              <span className={styles.lineSkeleton} />
              <span className={styles.lineSkeleton} />
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
