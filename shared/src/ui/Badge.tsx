import styles from './Badge.module.css';

/** Unread count, `99+` at most; `label` is what a screen reader says (“3 条未读”). Nothing at zero. */
export function Badge({ count, label }: { count: number; label: string }) {
  if (count <= 0) return null;
  return (
    <span className={styles.badge} role="img" aria-label={label}>
      {count > 99 ? '99+' : count}
    </span>
  );
}
