import { useEffect, useState } from 'react';
import { isRunning, type Message } from '../model';
import { texts } from '../texts';
import styles from './ReplyState.module.css';
import { StateButton } from './StateButton';

const WATCHDOG_SECONDS = 30;

interface ReplyStateProps {
  message: Message;
  onLook: () => void;
  /** Given for the last reply, which alone can go on. */
  onContinue?: ((message: Message) => void) | undefined;
}

/** What is truly going on with a reply: queued, being written, silent for too long, broken off. */
export function ReplyState({ message, onLook, onContinue }: ReplyStateProps) {
  const isStalled = useStalled(message);
  if (isRunning(message) && isStalled) {
    return (
      <p className={styles.state}>
        {texts.state.stalled}
        <StateButton onPress={onLook}>{texts.state.look}</StateButton>
      </p>
    );
  }
  if (message.status === 'pending' || (message.status === 'streaming' && message.body === '')) {
    return (
      <p className={styles.state}>
        <span className={styles.dots} aria-hidden="true" />
        {message.status === 'pending' ? texts.state.pending : texts.state.streaming}
      </p>
    );
  }
  if (message.status === 'cancelled') return <p className={styles.state}>{texts.state.cancelled}</p>;
  if (message.status !== 'failed') return null;
  return (
    <p className={styles.state}>
      {message.errorText || texts.state.interrupted}
      {onContinue && <StateButton onPress={() => onContinue(message)}>{texts.resume.label}</StateButton>}
    </p>
  );
}

/** True once a running reply has not moved for half a minute: dots must not go on for ever. */
function useStalled(message: Message): boolean {
  const [stalledAt, setStalledAt] = useState<string | null>(null);
  const progress = `${message.revision}:${message.length}:${message.status}`;
  const running = isRunning(message);
  useEffect(() => {
    if (!running) return;
    const timer = setTimeout(() => setStalledAt(progress), WATCHDOG_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [progress, running]);
  return stalledAt === progress;
}
