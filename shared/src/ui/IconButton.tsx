import clsx from 'clsx';
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode } from 'react';
import styles from './IconButton.module.css';

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  /** The accessible name, in Chinese. */
  label: string;
  icon: ReactNode;
  variant?: 'plain' | 'solid' | 'veil';
  asLink?: ReactElement<{ className?: string; children?: ReactNode; 'aria-label'?: string }>;
}

export function IconButton({ label, icon, variant = 'plain', asLink, className, ...rest }: IconButtonProps) {
  const face = clsx(styles.button, styles[variant], className);
  if (asLink) return cloneElement(asLink, { className: face, children: icon, 'aria-label': label });
  return (
    <button type="button" title={label} {...rest} className={face} aria-label={label}>
      {icon}
    </button>
  );
}
