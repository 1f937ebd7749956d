import styles from './Banner.module.css';
import { clockTime } from './clockTime';

/** This browser runs builds of an override link: says so for as long as it does, with the way out. */
export function OverrideBadge({ expires }: { expires: string }) {
  return (
    <aside className={styles.override} aria-label="预览">
      <span>正在预览未发布的版本，至 {clockTime(new Date(expires))}</span>
      {/* a new document: the page's set is pinned for its life */}
      <a className={styles.leave} href="/?override=off">
        退出预览
      </a>
    </aside>
  );
}
