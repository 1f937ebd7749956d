import { Button } from './Button';
import styles from './ErrorRow.module.css';
import { useRetryOnline } from './useRetryOnline';

export interface ErrorRowProps {
  text: string;
  onRetry?: (() => void) | undefined;
  retryLabel?: string;
  retrying?: boolean;
}

/** What failed and the way to try again, in the place where the data would stand. */
export function ErrorRow({ text, onRetry, retryLabel = '重试', retrying = false }: ErrorRowProps) {
  useRetryOnline(onRetry);
  return (
    <div className={styles.row} role="alert">
      <p className={styles.text}>{text}</p>
      {onRetry && (
        <Button variant="quiet" small loading={retrying} onClick={onRetry}>
          {retryLabel}
        </Button>
      )}
    </div>
  );
}
