import clsx from 'clsx';
import { type ComponentProps, useLayoutEffect, useRef, useState } from 'react';
import { type Passage, passagesOf } from '../format/storyText';
import styles from './StoryText.module.css';

/** Story and dialogue as print sets it: serif, open leading; `<p>` indented, `<em>` actions in kai. */
export function StoryText({ indent = true, className, ...rest }: ComponentProps<'div'> & { indent?: boolean }) {
  return <div {...rest} className={clsx(styles.text, indent && styles.indent, className)} />;
}

/** One line of story text with its marks. */
export function Passages({ line, growing = false }: { line: string; growing?: boolean }) {
  return passagesOf(line, growing).map(({ kind, text }, order) => (
    <Run key={`${order.toString()}-${kind}`} kind={kind} text={text} />
  ));
}

const MARKUP = { plain: 'span', action: 'em', strong: 'strong' } as const;

/** React would replace the whole text as it grows, and with it what a reader has selected there: this one appends. */
function Run({ kind, text }: Passage) {
  const Mark = MARKUP[kind];
  const mark = useRef<HTMLElement>(null);
  const [first] = useState(text);
  useLayoutEffect(() => {
    if (mark.current) follow(mark.current, text);
  }, [text]);
  return <Mark ref={mark}>{first}</Mark>;
}

function follow(mark: HTMLElement, text: string): void {
  if (mark.textContent === text) return;
  const node = mark.childNodes.length === 1 ? mark.firstChild : null;
  // a translator has put an element in its place
  if (!(node instanceof Text)) mark.textContent = text;
  else if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else if (node.data.startsWith(text)) node.deleteData(text.length, node.data.length);
  else node.data = text;
}
