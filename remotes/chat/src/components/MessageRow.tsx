import { formatDay } from '@liaozhai/shared/format';
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
  startsDay: boolean;
  /** Only the last reply can go on. */
  isLast: boolean;
  speaker: Speaker;
  acts: MessageActs;
}

/** A confirmed message, under its day where a day begins. */
export const MessageRow = memo(function MessageRow({ message, startsDay, isLast, speaker, acts }: MessageRowProps) {
  return (
    <>
      {startsDay && <p className={styles.day}>{formatDay(message.createdAt, Date.now())}</p>}
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
