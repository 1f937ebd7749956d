import clsx from 'clsx';
import styles from './Seal.module.css';

/** The seal 聊: the name of the house pressed in cinnabar. */
export function Seal({ size = 'medium', label }: { size?: 'small' | 'medium' | 'large'; label?: string }) {
  const face = clsx(styles.seal, styles[size]);
  return label ? (
    <span className={face} role="img" aria-label={label}>
      聊
    </span>
  ) : (
    <span className={face} aria-hidden="true">
      聊
    </span>
  );
}
