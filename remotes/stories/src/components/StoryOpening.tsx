import { StoryText } from '@liaozhai/shared/ui';
import { paragraphsOf, passagesOf } from '../model';
import { texts } from '../texts';
import styles from './StoryOpening.module.css';

const MARKUP = { plain: 'span', action: 'em', strong: 'strong' } as const;

/** The opening, set like the first page of a book. */
export function StoryOpening({ text }: { text: string }) {
  return (
    <section className={styles.page} aria-label={texts.story.opening}>
      <h2 className={styles.heading}>{texts.story.opening}</h2>
      <StoryText>
        {paragraphsOf(text).map((paragraph, order) => (
          <p key={`${order.toString()}${paragraph.slice(0, 8)}`}>
            {passagesOf(paragraph).map((passage, place) => {
              const Mark = MARKUP[passage.kind];
              return <Mark key={`${place.toString()}${passage.kind}`}>{passage.text}</Mark>;
            })}
          </p>
        ))}
      </StoryText>
    </section>
  );
}
