import { memo } from 'react';
import type { Message, Speaker } from '../model';
import styles from './MessageRow.module.css';
import { OwnMessage } from './OwnMessage';
import { VoiceMessage } from './VoiceMessage';

export interface MessageActs {
  openMenu: (message: Message) => void;
  look: () => void;
  resume: (message: Message) => void;
}

interface MessageRowProps {
  message: Message;
  /** The heading of the day that begins here. */
  day: string | undefined;
  /** Only the last reply can go on. */
  isLast: boolean;
  speaker: Speaker;
  acts: MessageActs;
}

/** A confirmed message, under its day where a day begins. */
export const MessageRow = memo(function MessageRow({ message, day, isLast, speaker, acts }: MessageRowProps) {
  return (
    <>
      {day && <p className={styles.day}>{day}</p>}
      {message.role === 'user' && <OwnMessage body={message.body} isConfirmed onMore={() => acts.openMenu(message)} />}
      {message.role === 'system' && <p className={styles.system}>{message.body}</p>}
      {message.role === 'assistant' && (
        <VoiceMessage
          message={message}
          speaker={speaker}
          onMore={acts.openMenu}
          onLook={acts.look}
          onContinue={isLast ? acts.resume : undefined}
        />
      )}
    </>
  );
});
