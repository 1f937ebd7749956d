import { formatDay } from '@liaozhai/shared/format';
import { useOnline, useSelector } from '@liaozhai/shared/runtime';
import { useShanghaiDay } from '@liaozhai/shared/ui';
import { useCallback, useMemo, useRef, useState } from 'react';
import { type Line, linesOutside, type Message, type Row, runningMessage, type Story, type Thread } from '../model';
import { selectChat } from '../slice';
import { ChatFoot, type ComposerHandle } from './ChatFoot';
import { ChatOpening } from './ChatOpening';
import { LineRow } from './LineRow';
import type { Waiting } from './LineState';
import { ChatLog } from './log/ChatLog';
import { useOlder } from './log/useOlder';
import { MessageMenu } from './MessageMenu';
import { MessageRow } from './MessageRow';
import { currentTarget, lineActs, messageActs } from './menuActs';
import { ReplyAnnouncer } from './ReplyAnnouncer';
import { useChatActs } from './useChatActs';

interface ChatViewProps {
  story: Story;
  thread: Thread;
  isMember: boolean;
}

/** Log above, composer below. */
export function ChatView({ story, thread, isMember }: ChatViewProps) {
  const acts = useChatActs(story.id, thread.conversationId, isMember);
  const composer = useRef<ComposerHandle>(null);
  const allLines = useSelector((state) => selectChat(state).lines);
  const older = useOlder(thread);
  const [menuFor, setMenuFor] = useState<Message | Line | null>(null);
  const last = thread.messages.at(-1);
  const { messages, hasOlder } = thread;
  const log = useMemo(
    () => ({ hasOpening: !hasOlder, messages, lines: linesOutside(story.id, messages, allLines) }),
    [hasOlder, messages, allLines, story.id],
  );
  const steadyLast = useSteady(last);
  const isRunning = runningMessage(thread) !== undefined;
  const waiting = useWaiting(isRunning, isMember);
  const rowActs = useMemo(() => ({ ...acts, openMenu: setMenuFor }), [acts]);
  const lastId = last?.id;
  const today = useShanghaiDay();
  const drawRow = useCallback(
    (row: Row) => {
      if (row.kind === 'opening') return <ChatOpening story={story} />;
      if (row.kind === 'line') return <LineRow line={row.line} waiting={waiting} acts={rowActs} />;
      const { message, startsDay } = row;
      const day = startsDay ? formatDay(message.createdAt, today) : undefined;
      const isLast = message.id === lastId;
      return <MessageRow message={message} day={day} isLast={isLast} speaker={story.speaker} acts={rowActs} />;
    },
    [story, rowActs, waiting, lastId, today],
  );
  const target = menuFor && currentTarget(menuFor, log);
  const menu =
    target &&
    ('state' in target
      ? lineActs(target, acts, (text) => composer.current?.putBack(text))
      : messageActs(target, acts, target.id === lastId));
  return (
    <>
      <ChatLog conversationId={thread.conversationId} log={log} older={older}>
        {drawRow}
      </ChatLog>
      <ChatFoot story={story} last={steadyLast} isRunning={isRunning} isMember={isMember} acts={acts} ref={composer} />
      <ReplyAnnouncer last={last} />
      <MessageMenu acts={menu} onClose={() => setMenuFor(null)} />
    </>
  );
}

const stateOf = ({ id, version, revision, status }: Message) => [id, version, revision, status].join();

/** The last message as it was when more of it changed than its text, which grows many times a second. */
function useSteady(last: Message | undefined): Message | undefined {
  const [steady, setSteady] = useState(last);
  if (last === steady || (last && steady && stateOf(last) === stateOf(steady))) return steady;
  setSteady(last);
  return last;
}

function useWaiting(isRunning: boolean, isMember: boolean): Waiting {
  const isOnline = useOnline();
  if (!isMember) return 'login';
  if (!isOnline) return 'offline';
  return isRunning ? 'queued' : 'sending';
}
