import clsx from 'clsx';
import type { Story } from '../model';
import { CharacterList } from './CharacterList';
import { StoryAction } from './StoryAction';
import styles from './StoryBook.module.css';
import { StoryHead } from './StoryHead';
import { StoryOpening } from './StoryOpening';

/** The story laid out: title page, people, opening, and the way into the chat at the foot. */
export function StoryBook({ story, chatOpen }: { story: Story; chatOpen: boolean }) {
  return (
    <article className={clsx(styles.book, chatOpen && styles.aside)} aria-label={story.title}>
      <div className={styles.front}>
        <StoryHead story={story} />
      </div>
      <div className={styles.body}>
        {story.summary && <p className={styles.summary}>{story.summary}</p>}
        {story.characters.length > 0 && <CharacterList characters={story.characters} />}
        {story.opening && !chatOpen && <StoryOpening text={story.opening} />}
      </div>
      {!chatOpen && <StoryAction story={story} />}
    </article>
  );
}
