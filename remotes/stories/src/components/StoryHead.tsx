import { Cover } from '@liaozhai/shared/ui';
import type { Story } from '../model';
import { texts } from '../texts';
import styles from './StoryHead.module.css';

/** Cover up to the screen's edge, then the title page: title, teller, tags. */
export function StoryHead({ story }: { story: Story }) {
  return (
    <header className={styles.head}>
      <div className={styles.plate}>
        {story.coverUrl && <img className={styles.glow} src={story.coverUrl} alt="" />}
        <Cover className={styles.cover} src={story.coverUrl} title={story.title} eager decorative />
      </div>
      <div className={styles.words}>
        {/* the bar above says it to screen readers */}
        <p className={styles.title} aria-hidden="true">
          {story.title}
        </p>
        {story.authorName && <p className={styles.author}>{texts.story.by(story.authorName)}</p>}
        {story.tags.length > 0 && (
          <ul className={styles.tags} aria-label={texts.story.tags}>
            {story.tags.map((tag) => (
              <li key={tag}>{tag}</li>
            ))}
          </ul>
        )}
      </div>
    </header>
  );
}
