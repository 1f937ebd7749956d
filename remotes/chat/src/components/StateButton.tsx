import type { ReactNode } from 'react';
import styles from './StateButton.module.css';

/** A small act inside a line of state; its target is larger than its face. */
export const StateButton = ({ children, onPress }: { children: ReactNode; onPress: () => void }) => (
  <button type="button" className={styles.act} onClick={onPress}>
    {children}
  </button>
);
