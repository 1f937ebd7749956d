import { useOnline } from '@liaozhai/shared/runtime';
import { OfflineIcon } from '@liaozhai/shared/ui';
import styles from './Banner.module.css';

/** Says that what is shown was kept from before. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div role="status">
      {!online && (
        <p className={styles.offline}>
          <OfflineIcon size={16} aria-hidden />
          当前没有网络，只能看之前打开过的内容
        </p>
      )}
    </div>
  );
}
