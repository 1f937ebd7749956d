import styles from './Divider.module.css';

/** A hairline; with `text` it is the line that carries a date or a heading. */
export function Divider({ text }: { text?: string }) {
  if (!text) return <hr className={styles.line} />;
  return (
    <div className={styles.titled}>
      <span className={styles.text}>{text}</span>
    </div>
  );
}
