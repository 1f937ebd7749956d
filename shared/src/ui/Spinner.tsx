import clsx from 'clsx';
import styles from './Spinner.module.css';

/** An ink ring that turns; `label` makes it speak, without one it is decoration. */
export function Spinner({ label, className }: { label?: string; className?: string | undefined }) {
  const face = clsx(styles.spinner, className);
  return label ? <span className={face} role="img" aria-label={label} /> : <span className={face} aria-hidden="true" />;
}
