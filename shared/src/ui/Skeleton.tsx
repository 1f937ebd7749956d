import clsx from 'clsx';
import styles from './Skeleton.module.css';
import { VisuallyHidden } from './VisuallyHidden';

export interface SkeletonProps {
  shape?: 'text' | 'card' | 'row';
  /** How many lines, cards or rows. */
  count?: number;
  /** What is being waited for, said once. */
  label?: string;
}

const groups = { text: undefined, card: styles.cards, row: styles.rows };

/** Paper not yet written on: holds the place of what is loading. */
export function Skeleton({ shape = 'text', count = 3, label = '正在加载' }: SkeletonProps) {
  return (
    <div className={clsx(styles.group, groups[shape])} role="status">
      <VisuallyHidden>{label}</VisuallyHidden>
      {Array.from({ length: count }, (_, index) => (
        <SkeletonPiece key={`${shape}-${index.toString()}`} shape={shape} />
      ))}
    </div>
  );
}

function SkeletonPiece({ shape }: { shape: 'text' | 'card' | 'row' }) {
  if (shape === 'text') return <span className={clsx(styles.ink, styles.line)} />;
  return (
    <div className={styles[shape]}>
      <span className={clsx(styles.ink, shape === 'card' ? styles.cover : styles.disc)} />
      <span className={styles.lines}>
        <span className={clsx(styles.ink, styles.line)} />
        <span className={clsx(styles.ink, styles.line)} />
      </span>
    </div>
  );
}
