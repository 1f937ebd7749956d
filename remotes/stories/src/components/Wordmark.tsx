import { hostConfig } from '@liaozhai/shared/runtime';
import { IconButton, RefreshButton, Seal, SearchIcon } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './Wordmark.module.css';

interface WordmarkProps {
  onRefresh: () => Promise<unknown>;
  /** undefined if the server does not support the search; the space is reserved, so that nothing moves once that is known. */
  onSearch?: (() => void) | undefined;
  /** Called on hover or focus of the search button, to preload the search. */
  onApproachSearch?: () => void;
}

/** Head of the shelf: seal, name, slogan, search, and a refresh button for users who cannot pull to refresh. */
export function Wordmark({ onRefresh, onSearch, onApproachSearch }: WordmarkProps) {
  const { name, seal, slogan } = hostConfig().brand;
  return (
    <header className={styles.head}>
      <Seal sign={seal} />
      <div className={styles.words}>
        <h1 className={styles.name}>{name}</h1>
        <p className={styles.motto}>{slogan}</p>
      </div>
      <div className={styles.actions}>
        {onSearch && (
          <IconButton
            label={texts.search.open}
            icon={<SearchIcon size={20} />}
            onClick={onSearch}
            onPointerEnter={onApproachSearch}
            onFocus={onApproachSearch}
          />
        )}
        <RefreshButton label={texts.list.refresh} onRefresh={onRefresh} />
      </div>
    </header>
  );
}
