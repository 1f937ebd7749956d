import styles from './ScreenSkeleton.module.css';
import { Skeleton, type SkeletonProps } from './Skeleton';

/** A skeleton as large as a screen: the shelf of covers and a story's page are only among these. */
export const ScreenSkeleton = (props: SkeletonProps) => (
  <div className={styles.screen}>
    <Skeleton {...props} />
  </div>
);
