import { memo } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';
import styles from './ChatOpening.module.css';
import { MessageText } from './MessageText';

/** The story's opening as the head of the log: what the conversation goes on from. */
export const ChatOpening = memo(function ChatOpening({ story }: { story: Story }) {
  if (!story.opening) return <div className={styles.blank} />;
  return (
    <section className={styles.opening} aria-label={texts.chat.opening}>
      <h2 className={styles.title}>{texts.chat.opening}</h2>
      <MessageText text={story.opening} />
    </section>
  );
});
