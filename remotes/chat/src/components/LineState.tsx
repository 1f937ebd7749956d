import { anyErrorText } from '@liaozhai/shared/format';
import { Link, paths } from '@liaozhai/shared/runtime';
import { hadNoAnswer, type Line } from '../model';
import { texts } from '../texts';
import styles from './LineState.module.css';
import { StateButton } from './StateButton';

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
  return <p className={styles.state}>{line.error?.kind === 'tooOften' ? texts.state.later : texts.state[waiting]}</p>;
}

function failureText(line: Line): string {
  if (hadNoAnswer(line)) return texts.state.unknown;
  return line.error ? anyErrorText(line.error) : texts.state.failed;
}
