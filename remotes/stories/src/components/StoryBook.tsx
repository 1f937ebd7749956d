import type { Story } from '../model';
import { CharacterList } from './CharacterList';
import { StoryAction } from './StoryAction';
import styles from './StoryBook.module.css';
import { StoryHead } from './StoryHead';
import { StoryOpening } from './StoryOpening';

/** The story laid out: title page, people, opening, and the way into the chat at the foot. */
export function StoryBook({ story, withAction }: { story: Story; withAction: boolean }) {
  return (
    <article className={styles.book} aria-label={story.title}>
      <div className={styles.front}>
        <StoryHead story={story} />
      </div>
      <div className={styles.body}>
        {story.characters.length > 0 && <CharacterList characters={story.characters} />}
        {story.opening && <StoryOpening text={story.opening} />}
      </div>
      {withAction && <StoryAction story={story} />}
    </article>
  );
}
