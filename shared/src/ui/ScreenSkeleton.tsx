import styles from './ScreenSkeleton.module.css';
import { Skeleton, type SkeletonProps } from './Skeleton';

/** A skeleton for a whole screen; only it supports the shapes `shelf` and `story`. */
export const ScreenSkeleton = (props: SkeletonProps) => (
  <div className={styles.screen}>
    <Skeleton {...props} />
  </div>
);
