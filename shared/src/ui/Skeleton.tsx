import clsx from 'clsx';
import styles from './Skeleton.module.css';
import { VisuallyHidden } from './VisuallyHidden';

/** Shape of the expected content: text lines, rows with a round portrait, rows with a cover, the shelf of covers, a story's page, cards. */
export type SkeletonShape = 'text' | 'row' | 'coverRow' | 'shelf' | 'story' | 'card';

export interface SkeletonProps {
  shape?: SkeletonShape;
  /** Number of lines, rows, covers or cards. */
  count?: number;
  /** Announced to screen readers once. */
  label?: string;
}

const counts: Record<SkeletonShape, number> = { text: 3, row: 6, coverRow: 6, shelf: 5, story: 1, card: 4 };

/** Placeholder for loading content. A screen uses the same one until its data has loaded. */
export function Skeleton({ shape = 'text', count = counts[shape], label = '正在加载' }: SkeletonProps) {
  return (
    <div className={styles.group} role="status" data-skeleton={shape}>
      <VisuallyHidden>{label}</VisuallyHidden>
      {Array.from({ length: count }, (_, index) => (
        <SkeletonPiece key={`${shape}-${index.toString()}`} shape={shape} />
      ))}
    </div>
  );
}

function SkeletonPiece({ shape }: { shape: SkeletonShape }) {
  if (shape === 'text') return <span className={clsx(styles.ink, styles.line)} />;
  return (
    <div className={styles.piece}>
      <span className={clsx(styles.ink, styles.picture)} />
      <span className={styles.lines}>
        <span className={clsx(styles.ink, styles.line)} />
        <span className={clsx(styles.ink, styles.line)} />
      </span>
    </div>
  );
}
