import { Link } from '@liaozhai/shared/runtime';
import clsx from 'clsx';
import { memo } from 'react';
import styles from './TabBar.module.css';
import { isUnderTab, tabs } from './tabs';

interface TabBarProps {
  pathname: string;
  hidden: boolean;
  /** A finger or pointer is on a tab that is not open. */
  onApproach: (path: string) => void;
  /** The open tab was chosen again. */
  onAgain: () => void;
}

/** 发现 · 聊过 · 我的. Each replaces the history entry: going back leads past the page that the tab was chosen on. */
export const TabBar = memo(function TabBar({ pathname, hidden, onApproach, onAgain }: TabBarProps) {
  return (
    <nav className={styles.bar} aria-label="主导航" hidden={hidden}>
      {tabs.map(({ path, label, Icon, ActiveIcon }) => {
        const active = isUnderTab(path, pathname);
        const Shown = active ? ActiveIcon : Icon;
        const approach = () => !active && onApproach(path);
        return (
          <Link
            key={path}
            to={path}
            replace
            className={clsx(styles.tab, active && styles.active)}
            aria-current={active ? 'page' : undefined}
            onTouchStart={approach}
            onPointerEnter={approach}
            onFocus={approach}
            onClick={(event) => {
              if (pathname !== path) return;
              event.preventDefault();
              onAgain();
            }}
          >
            <Shown size={24} aria-hidden />
            <span className={styles.label}>{label}</span>
          </Link>
        );
      })}
    </nav>
  );
});
