import { Avatar } from '@liaozhai/shared/ui';
import { memo } from 'react';
import { isRunning, type Message, type Speaker } from '../model';
import { MessageText } from './MessageText';
import { MoreButton } from './MoreButton';
import { ReplyState } from './ReplyState';
import { useLongPress } from './useLongPress';
import styles from './VoiceMessage.module.css';

interface VoiceMessageProps {
  message: Message;
  speaker: Speaker;
  onMore: (message: Message) => void;
  onLook: () => void;
  onContinue?: (message: Message) => void;
}

/** A reply: the story's voice, set as text on paper under its speaker's name. */
export const VoiceMessage = memo(function VoiceMessage(props: VoiceMessageProps) {
  const { message, speaker, onMore, onLook, onContinue } = props;
  const longPress = useLongPress(() => onMore(message));
  return (
    <article {...longPress} className={styles.voice} aria-label={speaker.name}>
      <header className={styles.head}>
        <Avatar name={speaker.name} src={speaker.avatarUrl} size="small" decorative />
        <span className={styles.name}>{speaker.name}</span>
        {message.body !== '' && <MoreButton onPress={() => onMore(message)} />}
      </header>
      {message.body !== '' && <MessageText text={message.body} growing={isRunning(message)} />}
      <ReplyState message={message} onLook={onLook} onContinue={onContinue} />
    </article>
  );
});
