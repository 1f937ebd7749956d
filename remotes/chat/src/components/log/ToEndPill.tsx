import { ArrowDownIcon } from '@liaozhai/shared/ui';
import { texts } from '../../texts';
import styles from './ToEndPill.module.css';

/** The way back to the end, for whoever has scrolled away from it; says when something new waits there. */
export const ToEndPill = ({ isNew, onPress }: { isNew: boolean; onPress: () => void }) => (
  <button
    type="button"
    className={styles.pill}
    data-new={isNew}
    aria-label={isNew ? texts.chat.newMessages : texts.chat.toEnd}
    onClick={onPress}
  >
    <ArrowDownIcon size={18} />
    {isNew && <span>{texts.chat.newMessages}</span>}
  </button>
);
