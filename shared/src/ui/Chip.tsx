import clsx from 'clsx';
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode } from 'react';
import styles from './Chip.module.css';

export interface ChipProps extends ComponentProps<'button'> {
  icon?: ReactNode;
  /** Given: the chip is a toggle and says whether it is on. */
  selected?: boolean;
  asLink?: ReactElement<{ className?: string; children?: ReactNode }>;
}

export function Chip({ icon, selected, asLink, className, children, ...rest }: ChipProps) {
  const face = clsx(styles.chip, selected && styles.selected, className);
  const content = (
    <span className={styles.face}>
      {icon}
      {children}
    </span>
  );
  if (asLink) return cloneElement(asLink, { className: face, children: content });
  return (
    <button type="button" {...rest} className={face} aria-pressed={selected}>
      {content}
    </button>
  );
}
