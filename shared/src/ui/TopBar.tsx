import clsx from 'clsx';
import BackIcon from 'lucide-react/icons/chevron-left';
import type { ReactElement, ReactNode } from 'react';
import { IconButton } from './Button';
import styles from './TopBar.module.css';

export interface TopBarProps {
  title: ReactNode;
  /** Shows the 返回 button. */
  onBack?: () => void;
  /** A link for going back, instead of a handler. */
  backLink?: ReactElement<{ className?: string; children?: ReactNode; 'aria-label'?: string }>;
  actions?: ReactNode;
  /** `veil` overlays scrolling content; `clear` is transparent over a cover and hides the title visually. */
  variant?: 'paper' | 'veil' | 'clear';
}

export function TopBar({ title, onBack, backLink, actions, variant = 'paper' }: TopBarProps) {
  const hasBack = Boolean(onBack) || Boolean(backLink);
  return (
    <header className={clsx(styles.bar, styles[variant])}>
      <div className={styles.side}>
        {hasBack && (
          <IconButton
            label="返回"
            icon={<BackIcon size={26} />}
            variant={variant === 'clear' ? 'veil' : 'plain'}
            onClick={onBack}
            {...(backLink && { asLink: backLink })}
          />
        )}
      </div>
      <h1 className={styles.title}>{title}</h1>
      <div className={clsx(styles.side, styles.actions)}>{actions}</div>
    </header>
  );
}
