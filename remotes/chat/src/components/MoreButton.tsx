import { texts } from '../texts';
import styles from './MoreButton.module.css';

/** The ⋯ of a message: what a long press opens, for mice, keyboards and screen readers. A glyph, since a log has many. */
export const MoreButton = ({ onPress }: { onPress: () => void }) => (
  <button type="button" className={styles.more} aria-label={texts.chat.more} aria-haspopup="dialog" onClick={onPress}>
    ⋯
  </button>
);
