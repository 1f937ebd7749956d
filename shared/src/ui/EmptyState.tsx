import type { ReactNode } from 'react';
import styles from './EmptyState.module.css';
import { type Drawing, InkDrawing } from './InkDrawing';

export interface EmptyStateProps {
  /** One sentence that says what this is and what to do. */
  text: ReactNode;
  drawing?: Drawing;
  /** One button or link. */
  action?: ReactNode;
}

/** Nothing here, or nothing to be had: an ink drawing, a sentence, a way on. */
export function EmptyState({ text, drawing = 'lantern', action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <InkDrawing name={drawing} />
      <p className={styles.text}>{text}</p>
      {action}
    </div>
  );
}
