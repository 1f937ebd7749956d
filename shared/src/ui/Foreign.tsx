import styles from './Foreign.module.css';

/** User-written text: keeps its own text direction and is limited to two lines. */
export const Foreign = ({ children }: { children: string }) => <bdi className={styles.foreign}>{children}</bdi>;
