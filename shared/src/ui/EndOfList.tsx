import styles from './EndOfList.module.css';

/** The last line of a list, set like the close of a chapter. */
export function EndOfList({ text = '到底了' }: { text?: string }) {
  return <p className={styles.end}>{text}</p>;
}
