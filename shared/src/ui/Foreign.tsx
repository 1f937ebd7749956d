import styles from './Foreign.module.css';

/** User-written text: keeps its own text direction and is limited to two lines, or as a paragraph (`long`) to 24. */
export const Foreign = ({ children, long }: { children: string; long?: boolean }) => (
  <bdi className={styles.foreign} data-long={long}>
    {children}
  </bdi>
);
