import { toast } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import styles from './AuthPopup.module.css';
import { resendConfirmation } from './authCalls';
import { texts } from './texts';
import { useCountdown } from './useCountdown';
import { useSubmission } from './useSubmission';

interface ConfirmEmailProps {
  email: string;
  onReturn: () => void;
}

export function ConfirmEmail({ email, onReturn }: ConfirmEmailProps) {
  const words = texts.confirmEmail;
  const { busy, submit } = useSubmission(words.resendFailed);
  const [secondsLeft, startCountdown] = useCountdown();
  const resend = () =>
    submit(resendConfirmation, {
      done: () => toast(words.resent, { kind: 'success' }),
      failed: (error) => error.kind === 'tooOften' && startCountdown(error.retryAfterSeconds),
    });
  return (
    <div className={styles.form}>
      <p className={styles.text}>{email ? words.sentTo(email) : words.sent}</p>
      <p className={styles.note}>{words.notFound}</p>
      <Button block loading={busy} disabled={secondsLeft > 0} onClick={resend}>
        {secondsLeft > 0 ? words.resendIn(secondsLeft) : words.resend}
      </Button>
      <Button variant="quiet" block onClick={onReturn}>
        {words.toLogin}
      </Button>
    </div>
  );
}
