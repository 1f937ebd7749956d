import styles from './Foreign.module.css';

/** A name or a title that other people wrote: its direction stays its own, and it takes two lines at most. */
export const Foreign = ({ children }: { children: string }) => <bdi className={styles.foreign}>{children}</bdi>;
