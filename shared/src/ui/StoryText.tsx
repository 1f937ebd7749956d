import clsx from 'clsx';
import type { ComponentProps } from 'react';
import { passagesOf } from '../format/storyText';
import styles from './StoryText.module.css';

/** Story and dialogue as print sets it: serif, open leading; `<p>` indented, `<em>` actions in kai. */
export function StoryText({ indent = true, className, ...rest }: ComponentProps<'div'> & { indent?: boolean }) {
  return <div {...rest} className={clsx(styles.text, indent && styles.indent, className)} />;
}

const MARKUP = { action: 'em', strong: 'strong' } as const;

/** One line of story text with its marks; a line of dialogue may carry marks of its own. */
export function Passages({ line, growing = false }: { line: string; growing?: boolean }) {
  return passagesOf(line, growing).map((passage, order) => {
    const key = `${order.toString()}-${passage.kind}`;
    if (passage.kind === 'speech') return <Speech key={key} text={passage.text} />;
    if (passage.kind === 'plain') return passage.text;
    const Mark = MARKUP[passage.kind];
    return <Mark key={key}>{passage.text}</Mark>;
  });
}

/** Quotation marks are taken off before the marks inside are looked for, or the whole would be dialogue again. */
function Speech({ text }: { text: string }) {
  return (
    <span>
      {text.at(0)}
      {text.includes('*') ? <Passages line={text.slice(1, -1)} /> : text.slice(1, -1)}
      {text.at(-1)}
    </span>
  );
}
