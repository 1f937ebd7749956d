import { paths } from '@liaozhai/shared/contract';
import { Link, useLocation } from '@liaozhai/shared/runtime';
import { Button, EmptyState } from '@liaozhai/shared/ui';
import type { ReactNode } from 'react';
import { usePage } from '../page';
import { tabs } from '../shell/TabBar';
import styles from './NothingPage.module.css';

/** Shown for addresses that no build of the set has: a mistake, a tab whose remote was withdrawn, or a dev server that is down. */
export function NothingPage() {
  const { set, remotes, local } = usePage();
  const { pathname } = useLocation();
  const closedTab = tabs.find(({ path }) => path === pathname);
  // nothing describes its pages, so that any address may be one of them
  const missing = set.override?.local?.find(({ name }) => !remotes.activeBuild(name));
  if (local && missing) return <local.LocalNothing {...missing} />;
  return (
    <Nothing
      title={closedTab ? `「${closedTab.label}」暂时关闭` : '没有这个页面'}
      text={closedTab ? '正在维护，内容都还在，请稍后再来。' : '链接可能写错了，也可能已经失效。'}
      action={pathname !== paths.explore() && <Button asLink={<Link to={paths.explore()} replace />}>回到发现</Button>}
    />
  );
}

export const Nothing = ({ title, ...state }: { title: string; text: string; action: ReactNode }) => (
  <div className={styles.page}>
    <h1 className={styles.title}>{title}</h1>
    <EmptyState {...state} drawing="mountain" />
  </div>
);
