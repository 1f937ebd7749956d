import { anyErrorText } from '@liaozhai/shared/format';
import { ErrorRow, Spinner } from '@liaozhai/shared/ui';
import { texts } from '../../texts';
import styles from './ChatLog.module.css';
import type { Older } from './useOlder';

/** Above the first row while older ones are on their way. */
export const OlderMark = ({ older }: { older: Older }) => (
  <div className={styles.older}>
    {older.error === undefined ? (
      <Spinner label={texts.chat.loadingOlder} />
    ) : (
      <ErrorRow text={anyErrorText(older.error)} onRetry={older.retry} />
    )}
  </div>
);
