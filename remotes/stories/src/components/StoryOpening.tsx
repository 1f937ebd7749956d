import { linesOf } from '@liaozhai/shared/format';
import { Passages, StoryText } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './StoryOpening.module.css';

/** The opening, set like the first page of a book. */
export function StoryOpening({ text }: { text: string }) {
  return (
    <section className={styles.page} aria-label={texts.story.opening}>
      <h2 className={styles.heading}>{texts.story.opening}</h2>
      <StoryText>
        {linesOf(text).map((paragraph, order) => (
          <p key={`${order.toString()}${paragraph.slice(0, 8)}`}>
            <Passages line={paragraph} />
          </p>
        ))}
      </StoryText>
    </section>
  );
}
