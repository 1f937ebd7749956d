import type { ComponentProps } from 'react';
import styles from './Text.module.css';

/** Text for screen readers only. */
export function VisuallyHidden(props: ComponentProps<'span'>) {
  return <span {...props} className={styles.hidden} />;
}

/** User-written text: keeps its own text direction and is limited to two lines. */
export const Foreign = ({ children }: { children: string }) => <bdi className={styles.foreign}>{children}</bdi>;
