import { ArrowUpIcon } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './FreshPill.module.css';

interface FreshPillProps {
  count: number;
  /** More is new than one page tells, so the shelf starts anew. */
  startsAnew: boolean;
  onShow: () => void;
}

/** Says that stories wait above, without moving the ones being looked at. */
export function FreshPill({ count, startsAnew, onShow }: FreshPillProps) {
  return (
    <div className={styles.place} role="status">
      <button type="button" className={styles.pill} onClick={onShow}>
        <ArrowUpIcon size={16} aria-hidden="true" />
        {startsAnew ? texts.list.renewed : texts.list.fresh(count)}
      </button>
    </div>
  );
}
