import { StoryText } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo } from 'react';
import { linesOf, type Passage, passagesOf } from '../model';
import styles from './MessageText.module.css';

interface MessageTextProps {
  text: string;
  /** More is coming: a mark that is still open counts, and a caret stands at the end. */
  growing?: boolean;
}

/** Story text as React nodes, never as HTML; while it grows only its last line is read anew. */
export const MessageText = memo(function MessageText({ text, growing = false }: MessageTextProps) {
  const lines = linesOf(text);
  return (
    <StoryText className={clsx(growing && styles.growing)}>
      {lines.map((line, order) => (
        <TextLine key={`line-${order.toString()}`} line={line} growing={growing && order === lines.length - 1} />
      ))}
    </StoryText>
  );
});

const TextLine = memo(function TextLine({ line, growing }: { line: string; growing: boolean }) {
  return (
    <p>
      <Passages line={line} growing={growing} />
    </p>
  );
});

const MARKUP = { plain: 'span', action: 'em', strong: 'strong' } as const;

/** One line's passages; a line of dialogue may carry marks of its own. */
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
function Speech({ text }: { text: Passage['text'] }) {
  return (
    <span className={styles.speech}>
      {text.at(0)}
      {text.includes('*') ? <Passages line={text.slice(1, -1)} /> : text.slice(1, -1)}
      {text.at(-1)}
    </span>
  );
}
