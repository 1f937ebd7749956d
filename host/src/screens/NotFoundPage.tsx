import { Link, paths } from '@liaozhai/shared/runtime';
import { Button, EmptyState } from '@liaozhai/shared/ui';
import styles from './NotFoundPage.module.css';

/** For addresses that no build of the set knows. */
export function NotFoundPage() {
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>没有这个页面</h1>
      <EmptyState
        text="这条小路走到了尽头，也许链接已经失效。"
        drawing="mountain"
        action={<Button asLink={<Link to={paths.explore()} replace />}>回到发现</Button>}
      />
    </div>
  );
}
