import { IconButton, RefreshIcon, Seal } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './Wordmark.module.css';

/** The head of the shelf: seal, name, motto; refreshing for those who cannot pull. */
export function Wordmark({ onRefresh }: { onRefresh: () => void }) {
  return (
    <header className={styles.head}>
      <Seal />
      <div className={styles.words}>
        <h1 className={styles.name}>{texts.list.wordmark}</h1>
        <p className={styles.motto}>{texts.list.motto}</p>
      </div>
      <IconButton label={texts.list.refresh} icon={<RefreshIcon size={20} />} onClick={onRefresh} />
    </header>
  );
}
