import clsx from 'clsx';
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode } from 'react';
import styles from './Button.module.css';
import { pictureProps } from './VisuallyHidden';

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'primary' | 'quiet' | 'danger';
  /** Fills the width of its column. */
  block?: boolean;
  /** Lower button for rows and cards; the touch target stays 44 px. */
  small?: boolean;
  icon?: ReactNode;
  /** Shows a spinner and ignores presses; keeps its name and width. */
  loading?: boolean;
  /** Link element (`<Link to=…/>`, `<a href=…/>`) to render as this button. */
  asLink?: ReactElement<{ className?: string; children?: ReactNode }>;
}

export function Button({
  variant = 'primary',
  block,
  small,
  icon,
  loading = false,
  asLink,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const classes = clsx(styles.button, styles[variant], block && styles.block, small && styles.small, className);
  const content = (
    <>
      {icon}
      <span className={styles.label}>{children}</span>
    </>
  );
  if (asLink) return cloneElement(asLink, { className: classes, children: content });
  return (
    // not `disabled` while loading, which would lose the focus
    <button
      type="button"
      {...rest}
      className={classes}
      aria-disabled={loading || undefined}
      aria-busy={loading || undefined}
      onClick={(event) => (loading ? event.preventDefault() : onClick?.(event))}
    >
      {content}
      {loading && <Spinner className={styles.spinner} />}
    </button>
  );
}

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  /** Accessible name, in Chinese. */
  label: string;
  icon: ReactNode;
  variant?: 'plain' | 'solid' | 'veil';
  asLink?: ReactElement<{ className?: string; children?: ReactNode; 'aria-label'?: string }>;
}

export function IconButton({ label, icon, variant = 'plain', asLink, className, ...rest }: IconButtonProps) {
  const classes = clsx(styles.iconButtonButton, styles[variant], className);
  if (asLink) return cloneElement(asLink, { className: classes, children: icon, 'aria-label': label });
  return (
    <button type="button" title={label} {...rest} className={classes} aria-label={label}>
      {icon}
    </button>
  );
}

/** A loading spinner; `label` announces it to screen readers, without it the spinner is decorative. */
export const Spinner = ({ label, className }: { label?: string; className?: string | undefined }) => (
  <span className={clsx(styles.spinnerSpinner, className)} {...pictureProps(label)} />
);
