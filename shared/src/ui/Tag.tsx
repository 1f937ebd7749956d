import clsx from 'clsx';
import type { ReactNode } from 'react';
import styles from './Tag.module.css';

/** A quiet word about a thing: a genre, a kind, a state. Not pressable; that is a Chip. */
export function Tag({ tone = 'ink', children }: { tone?: 'ink' | 'accent' | 'jade' | 'gold'; children: ReactNode }) {
  return <span className={clsx(styles.tag, styles[tone])}>{children}</span>;
}
