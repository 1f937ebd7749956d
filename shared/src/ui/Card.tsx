import clsx from 'clsx';
import type { ComponentProps } from 'react';
import styles from './Card.module.css';

/** A sheet of lighter paper; `flush` for rows that bring their own padding. */
export function Card({ flush, className, ...rest }: ComponentProps<'section'> & { flush?: boolean }) {
  return <section {...rest} className={clsx(styles.card, flush && styles.flush, className)} />;
}
