/**
 * How LibreChat draws a chat (github.com/danny-avila/LibreChat, client/src/components/Chat/Messages at 013f7e4, seen in November 2026):
 * each piece replaces the list of messages, a tree is built from it, and React draws the tree from its root, each message inside the one
 * it answers; messages are memoised by id and text, and the one that grows goes whole through react-markdown with the plugins of GitHub's
 * Markdown. All messages stand in the document. The page is ours.
 */
import { memo, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { type PeerMessage, pageStyle } from './messages.ts';

interface Branch extends PeerMessage {
  children: Branch[];
}

/** A conversation without other versions is a tree that never forks. */
function treeOf(messages: PeerMessage[]): Branch[] {
  const branches = messages.map((message): Branch => ({ ...message, children: [] }));
  for (const [index, branch] of branches.entries()) branches[index - 1]?.children.push(branch);
  return branches.slice(0, 1);
}

const Markdown = memo(({ text }: { text: string }) => (
  <ReactMarkdown remarkPlugins={[remarkGfm]}>{text}</ReactMarkdown>
));

const Content = memo(
  ({ message }: { message: Branch }) => (
    <div className="message">
      <div className="avatar" />
      <div className="text">
        <b>{message.role}</b>
        <Markdown text={message.text} />
      </div>
    </div>
  ),
  (before, now) => before.message.id === now.message.id && before.message.text === now.message.text,
);

function MultiMessage({ branches }: { branches: Branch[] }) {
  const message = branches[branches.length - 1];
  if (!message) return null;
  return (
    <>
      <Content message={message} />
      <MultiMessage branches={message.children} />
    </>
  );
}

const heard: { set: (change: (known: PeerMessage[]) => PeerMessage[]) => void } = { set: () => undefined };

function Chat({ start }: { start: PeerMessage[] }) {
  const [messages, setMessages] = useState(start);
  heard.set = setMessages;
  useEffect(() => {
    const log = document.querySelector('[role=log]');
    if (messages.length > 0) log?.scrollTo(0, log.scrollHeight);
  }, [messages]);
  return (
    <div role="log">
      <MultiMessage branches={treeOf(messages)} />
    </div>
  );
}

window.__peer = {
  show(messages) {
    document.head.append(Object.assign(document.createElement('style'), { textContent: pageStyle }));
    createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat start={messages} />);
  },
  grow: (piece) =>
    heard.set((known) =>
      known.map((each, at) => (at === known.length - 1 ? { ...each, text: each.text + piece } : each)),
    ),
};
