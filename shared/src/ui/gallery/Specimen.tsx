import clsx from 'clsx';
import type { ReactNode } from 'react';
import styles from './Specimen.module.css';

/** One titled group of states in the gallery. */
export function Specimen({ title, inline, children }: { title: string; inline?: boolean; children: ReactNode }) {
  return (
    <section className={styles.specimen}>
      <h3 className={styles.title}>{title}</h3>
      <div className={clsx(styles.states, inline && styles.inline)}>{children}</div>
    </section>
  );
}
