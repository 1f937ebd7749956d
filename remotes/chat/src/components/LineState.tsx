import { anyErrorText } from '@liaozhai/shared/format';
import { Link, paths, useSelector } from '@liaozhai/shared/runtime';
import { hadNoAnswer, type Line } from '../model';
import { selectChat } from '../slice';
import { texts } from '../texts';
import styles from './LineState.module.css';
import { StateButton } from './StateButton';
import { useNow } from './useNow';

/** Why a line that waits is waiting. */
export type Waiting = 'sending' | 'queued' | 'offline' | 'login';

interface LineStateProps {
  line: Line;
  waiting: Waiting;
  onRetry: () => void;
  onLogin: () => void;
}

/** How far an unconfirmed line has come, and what can be done when it came no further. */
export function LineState({ line, waiting, onRetry, onLogin }: LineStateProps) {
  const resumesAt = useSelector((state) => selectChat(state).resumesAt[line.storyId]);
  if (line.state === 'failed') {
    return (
      <p className={styles.failed} role="alert">
        {failureText(line)}
        {line.error?.kind === 'insufficientBalance' && (
          <Link className={styles.link} to={paths.recharge()}>
            {texts.state.recharge}
          </Link>
        )}
        <StateButton onPress={onRetry}>{texts.chat.retry}</StateButton>
      </p>
    );
  }
  if (waiting === 'login') {
    return (
      <p className={styles.state}>
        {texts.state.login}
        <StateButton onPress={onLogin}>{texts.state.toLogin}</StateButton>
      </p>
    );
  }
  return (
    <p className={styles.state}>
      {resumesAt !== undefined && line.state === 'waiting' && waiting === 'sending' ? (
        <Countdown until={resumesAt} />
      ) : (
        texts.state[waiting]
      )}
    </p>
  );
}

function Countdown({ until }: { until: number }) {
  const seconds = Math.ceil((until - useNow(1000)) / 1000);
  return seconds > 0 ? texts.state.later(seconds) : texts.state.sending;
}

function failureText(line: Line): string {
  if (hadNoAnswer(line)) return texts.state.unknown;
  return line.error ? anyErrorText(line.error) : texts.state.failed;
}
