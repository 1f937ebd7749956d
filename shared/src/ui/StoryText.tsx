import clsx from 'clsx';
import type { ComponentProps } from 'react';
import styles from './StoryText.module.css';

/** Story and dialogue as print sets it: serif, open leading; `<p>` indented, `<em>` actions in kai. */
export function StoryText({ indent = true, className, ...rest }: ComponentProps<'div'> & { indent?: boolean }) {
  return <div {...rest} className={clsx(styles.text, indent && styles.indent, className)} />;
}
