import clsx from 'clsx';
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode } from 'react';
import styles from './Chip.module.css';

export interface ChipProps extends ComponentProps<'button'> {
  icon?: ReactNode;
  /** Makes the chip a toggle and sets `aria-pressed`. */
  selected?: boolean;
  asLink?: ReactElement<{ className?: string; children?: ReactNode }>;
}

export function Chip({ icon, selected, asLink, className, disabled, onClick, children, ...rest }: ChipProps) {
  const classes = clsx(styles.chip, selected && styles.selected, className);
  const content = (
    <span className={styles.face}>
      {icon}
      {typeof children === 'string' ? <span>{children}</span> : children}
    </span>
  );
  if (asLink) return cloneElement(asLink, { className: classes, children: content });
  return (
    // not `disabled`, which would lose the focus
    <button
      type="button"
      {...rest}
      className={classes}
      aria-pressed={selected}
      aria-disabled={disabled}
      onClick={(event) => (disabled ? event.preventDefault() : onClick?.(event))}
    >
      {content}
    </button>
  );
}

/** A static label: a genre, a kind, a state. For pressing, use `Chip`. */
export function Tag({ tone = 'ink', children }: { tone?: 'ink' | 'accent' | 'jade' | 'gold'; children: ReactNode }) {
  return <span className={clsx(styles.tag, styles[tone])}>{children}</span>;
}

/** Unread count, `99+` at most; `label` is its accessible name (“3 条未读”). Renders nothing at zero. */
export function Badge({ count, label }: { count: number; label: string }) {
  if (count <= 0) return null;
  return (
    <span className={styles.badge} role="img" aria-label={label}>
      {count > 99 ? '99+' : count}
    </span>
  );
}
