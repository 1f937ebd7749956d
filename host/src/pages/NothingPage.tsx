import { paths } from '@liaozhai/shared/contract';
import { Link, useLocation } from '@liaozhai/shared/runtime';
import { Button, EmptyState } from '@liaozhai/shared/ui';
import { tabs } from '../shell/TabBar';
import styles from './NothingPage.module.css';

/** Shown for addresses that no build of the set has: a mistake, or a tab whose remote was withdrawn. */
export function NothingPage() {
  const { pathname } = useLocation();
  const closedTab = tabs.find(({ path }) => path === pathname);
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>{closedTab ? `「${closedTab.label}」暂时关闭` : '没有这个页面'}</h1>
      <EmptyState
        text={closedTab ? '正在维护，内容都还在，请稍后再来。' : '链接可能写错了，也可能已经失效。'}
        drawing="mountain"
        action={
          pathname !== paths.explore() && <Button asLink={<Link to={paths.explore()} replace />}>回到发现</Button>
        }
      />
    </div>
  );
}
