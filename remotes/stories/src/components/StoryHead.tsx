import { Cover } from '@liaozhai/shared/ui';
import type { Story } from '../model';
import { texts } from '../texts';
import styles from './StoryHead.module.css';

/** Cover up to the screen's edge, then the title page: title, teller, tags, summary. */
export function StoryHead({ story }: { story: Story }) {
  return (
    <header className={styles.head}>
      <div className={styles.plate}>
        <Cover className={styles.cover} src={story.coverUrl} title={story.title} eager decorative />
      </div>
      <div className={styles.words}>
        <h1 className={styles.title}>{story.title}</h1>
        {story.authorName && <p className={styles.author}>{texts.story.by(story.authorName)}</p>}
        {story.tags.length > 0 && (
          <ul className={styles.tags} aria-label={texts.story.tags}>
            {story.tags.map((tag) => (
              <li key={tag}>{tag}</li>
            ))}
          </ul>
        )}
        {story.summary && <p className={styles.summary}>{story.summary}</p>}
      </div>
    </header>
  );
}
