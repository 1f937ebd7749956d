import { paths } from '@liaozhai/shared/contract';
import { Link } from '@liaozhai/shared/runtime';
import {
  ChatFilledIcon,
  ChatIcon,
  FireFilledIcon,
  FireIcon,
  UserFilledIcon,
  UserIcon,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo } from 'react';
import styles from './TabBar.module.css';

/** The host's three tabs; `shape` is the skeleton of their screens. */
export const tabs = [
  { path: paths.explore(), label: '发现', shape: 'shelf', Icon: FireIcon, ActiveIcon: FireFilledIcon },
  { path: paths.conversations(), label: '聊过', shape: 'coverRow', Icon: ChatIcon, ActiveIcon: ChatFilledIcon },
  { path: paths.my(), label: '我的', shape: 'card', Icon: UserIcon, ActiveIcon: UserFilledIcon },
] as const;

export const isTab = (path: string) => tabs.some((tab) => tab.path === path);

/** Whether a path belongs under a tab: `/my/profile` under 我的. */
const isUnderTab = (tabPath: string, pathname: string) => pathname === tabPath || pathname.startsWith(`${tabPath}/`);

interface TabBarProps {
  pathname: string;
  /** Whether a chat is open, which belongs to 聊过 regardless of where it was opened. */
  isInChat?: boolean;
  /** Whether a reply is unread. Not shown in a chat, where each reply is unread until it is reported as seen. */
  hasNewReply?: boolean;
  /** Whether the screen is outside the shell; a wide window still shows the rail. */
  hidden: boolean;
  /** Called when a finger, pointer or focus reaches an inactive tab. */
  onApproach: (path: string) => void;
  /** Called when the active tab is chosen again. */
  onReselect: () => void;
}

/** 发现 · 聊过 · 我的. Each replaces the history entry, so going back skips the page that the tab was chosen on. */
export const TabBar = memo(function TabBar({
  pathname,
  isInChat,
  hasNewReply,
  hidden,
  onApproach,
  onReselect,
}: TabBarProps) {
  return (
    <nav className={styles.bar} aria-label="主导航" hidden={hidden} data-foot>
      {tabs.map(({ path, label, Icon, ActiveIcon }) => {
        const isChatHere = isInChat && path === paths.conversations();
        const active = isUnderTab(path, pathname) || isChatHere;
        const CurrentIcon = active ? ActiveIcon : Icon;
        const handleApproach = () => !active && onApproach(path);
        return (
          <Link
            key={path}
            to={path}
            replace
            className={clsx(styles.tab, active && styles.active)}
            aria-current={isChatHere || (active ? 'page' : undefined)}
            onTouchStart={handleApproach}
            onPointerEnter={handleApproach}
            onFocus={handleApproach}
            onClick={(event) => {
              if (pathname !== path) return;
              event.preventDefault();
              onReselect();
            }}
          >
            <CurrentIcon size={24} aria-hidden />
            <span className={styles.label}>{label}</span>
            {hasNewReply && !isInChat && path === paths.conversations() && (
              <span className={styles.dot}>
                <VisuallyHidden>有新回复</VisuallyHidden>
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
});
