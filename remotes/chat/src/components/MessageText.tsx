import { linesOf } from '@liaozhai/shared/format';
import { Passages, StoryText } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo } from 'react';
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
