import clsx from 'clsx';
import { type ComponentProps, useLayoutEffect, useRef, useState } from 'react';
import { type Passage, passagesOf } from '../format/storyText';
import styles from './StoryText.module.css';

/** Text of a story: serif, wide leading; `<p>` indented, `<em>` (actions) in a kai font. */
export function StoryText({ indent = true, className, ...rest }: ComponentProps<'div'> & { indent?: boolean }) {
  return <div {...rest} className={clsx(styles.text, indent && styles.indent, className)} />;
}

/** One line of story text with its formatting. */
export function Passages({ line, growing = false }: { line: string; growing?: boolean }) {
  return passagesOf(line, growing).map(({ kind, text }, order) => (
    <Run key={`${order.toString()}-${kind}`} kind={kind} text={text} />
  ));
}

const MARKUP = { plain: 'span', action: 'em', strong: 'strong' } as const;

/** Appends to the text node as the text grows. React would replace it, and with it the user's selection. */
function Run({ kind, text }: Passage) {
  const Mark = MARKUP[kind];
  const element = useRef<HTMLElement>(null);
  const [initialText] = useState(text);
  useLayoutEffect(() => {
    if (element.current) syncText(element.current, text);
  }, [text]);
  return <Mark ref={element}>{initialText}</Mark>;
}

function syncText(element: HTMLElement, text: string): void {
  if (element.textContent === text) return;
  const node = element.childNodes.length === 1 ? element.firstChild : null;
  // a translator has replaced the text node by an element
  if (!(node instanceof Text)) element.textContent = text;
  else if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else if (node.data.startsWith(text)) node.deleteData(text.length, node.data.length);
  else node.data = text;
}
