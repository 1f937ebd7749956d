import { ChatFilledIcon, ChatIcon, FireFilledIcon, FireIcon, UserFilledIcon, UserIcon } from '@liaozhai/shared/ui';

/** The three tabs are the host's own and never more. */
export const tabs = [
  { path: '/explore', label: '发现', Icon: FireIcon, ActiveIcon: FireFilledIcon },
  { path: '/conversations', label: '聊过', Icon: ChatIcon, ActiveIcon: ChatFilledIcon },
  { path: '/my', label: '我的', Icon: UserIcon, ActiveIcon: UserFilledIcon },
] as const;

export const isTab = (path: string) => tabs.some((tab) => tab.path === path);

/** Whether a place belongs under a tab: `/my/profile` under 我的. */
export const isUnderTab = (tabPath: string, pathname: string) =>
  pathname === tabPath || pathname.startsWith(`${tabPath}/`);
