import { formatDay, hasNetwork } from '@liaozhai/shared/format';
import { useCapability, useOnline, useSelector } from '@liaozhai/shared/runtime';
import { guardHistory, useShanghaiDay, VisuallyHidden } from '@liaozhai/shared/ui';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useLatePart } from '../api/failures';
import type { LogWindow } from '../api/search';
import type { Row } from '../model/log';
import { isRunning, type Message } from '../model/message';
import { failedUpTo, type PendingMessage, pendingOutside } from '../model/pendingMessage';
import type { Story } from '../model/story';
import { runningMessage, type Thread } from '../model/thread';
import { selectChat } from '../slice';
import { texts } from '../texts';
import { ChatFoot, type ComposerHandle } from './ChatFoot';
import { ChatLog, type Target, useOlder } from './ChatLog';
import type { OpenSheet } from './ChatSheet';
import styles from './ChatView.module.css';
import { MessageRow, MessageText, PendingRow, type Waiting } from './MessageRow';
import { useChatActions } from './useChatActions';

interface ChatViewProps {
  story: Story;
  thread: Thread;
  /** The thread is the device's copy, since the server has not responded yet. */
  isCopy: boolean;
  isMember: boolean;
}

export function ChatView({ story, thread, isCopy, isMember }: ChatViewProps) {
  const [sheet, setSheet] = useState<OpenSheet | null>(null);
  const closeSheet = useCallback(() => setSheet(null), []);
  const sheetModule = useLatePart(loadSheet, sheet !== null, closeSheet);
  // ahead of the first tap
  useEffect(() => void loadSheet().catch(() => undefined), []);
  const canOpenSheet = useRef(false);
  useEffect(() => {
    canOpenSheet.current = sheet === null;
    return () => {
      canOpenSheet.current = false;
    };
  }, [sheet]);
  const composer = useRef<ComposerHandle>(null);
  const search = useSearch(thread, () => composer.current?.focusMore());
  // the button that orders a reply disappears with the former one, and the focus with it
  const leaveButton = useCallback(() => composer.current?.takeFocus(), []);
  const actions = useChatActions(story, thread.conversationId, isMember, setSheet, canOpenSheet, leaveButton);
  const allPending = useSelector((state) => selectChat(state).pending);
  const older = useOlder(thread);
  const last = thread.messages.at(-1);
  const pending = useMemo(
    () => pendingOutside(story.id, thread.messages, allPending),
    [story.id, thread.messages, allPending],
  );
  const { messages } = search.window ?? thread;
  const { hasOlder } = search.window?.older ?? thread;
  const isWindowShown = search.window !== null;
  const log = useMemo(
    () => ({ hasOpening: !hasOlder, messages, pending: isWindowShown ? [] : pending }),
    [hasOlder, messages, pending, isWindowShown],
  );
  useLeaveOnSend(pending, search.window);
  const isBlank = thread.messages.length === 0;
  useEffect(() => {
    if (isBlank) search.window?.newer.leave();
  }, [isBlank, search.window]);
  const steadyLast = useSteady(last);
  const isRunning = runningMessage(thread) !== undefined;
  // the next reply answers this line, so nothing more is ordered for the last one
  const isSending = pending.length > 0 && pending[0]?.state !== 'failed';
  const isOrdering = useSelector((state) => selectChat(state).continuing.includes(story.id));
  const waiting = useWaiting(isRunning, isMember);
  const canEdit = useCapability('messages.edit') && isMember;
  const lastId = isSending ? undefined : last?.id;
  const canRetell = useCapability('messages.regenerate') && isMember;
  const today = useShanghaiDay();
  const renderRow = useCallback(
    (row: Row) => {
      if (row.kind === 'opening') return <ChatOpening story={story} />;
      if (row.kind === 'pending') {
        const isBehind = failedUpTo(row.pending, log.pending).length > 0;
        return <PendingRow pending={row.pending} waiting={isBehind ? 'behind' : waiting} actions={actions} />;
      }
      const { message, startsDay } = row;
      const day = startsDay ? formatDay(message.createdAt, today) : undefined;
      const isLast = message.id === lastId;
      return (
        <MessageRow
          message={message}
          day={day}
          isLast={isLast}
          canRetell={canRetell}
          isHeld={isLast && isOrdering}
          story={story}
          actions={actions}
        />
      );
    },
    [story, actions, waiting, lastId, canRetell, isOrdering, today, log.pending],
  );
  return (
    <>
      {search.bar}
      <ChatLog
        conversationId={thread.conversationId}
        log={log}
        isCopy={isCopy}
        older={search.window?.older ?? older}
        newer={search.window?.newer}
        target={search.target}
      >
        {renderRow}
      </ChatLog>
      <ChatFoot
        story={story}
        last={steadyLast}
        isReplyDue={isRunning || isSending || isOrdering}
        isMember={isMember}
        isSearching={Boolean(search.bar)}
        actions={actions}
        ref={composer}
      />
      <ReplyAnnouncer last={last} />
      {sheetModule && (
        <sheetModule.ChatSheet
          sheet={sheet}
          story={story}
          log={log}
          lastId={isOrdering ? undefined : lastId}
          canRetell={canRetell}
          actions={actions}
          onSearch={search.open}
          onEdit={(text) => composer.current?.appendText(text)}
          onEditMessage={
            canEdit
              ? (message) => {
                  // the search window does not follow the deletions that an edit makes
                  search.window?.newer.leave();
                  composer.current?.edit(message);
                }
              : undefined
          }
          onOpen={setSheet}
          onClose={closeSheet}
        />
      )}
    </>
  );
}

const loadSheet = () => import(/* webpackChunkName: "story.chat.sheet" */ './ChatSheet');
const loadSearch = () => import(/* webpackChunkName: "story.chat.search" */ './ChatSearch');

/** Search in this chat, whose chunk loads on first use, and the window that it shows instead of the thread. */
function useSearch(thread: Thread, onLeft: () => void) {
  const [isOpen, setOpen] = useState(false);
  const searchModule = useLatePart(loadSearch, isOpen, () => setOpen(false));
  const [window, setWindow] = useState<LogWindow | null>(null);
  const [target, setTarget] = useState<Target>();
  const latestRequest = useRef<AbortController>(null);
  const { conversationId } = thread;
  const shownConversationId = useRef(conversationId);
  if (shownConversationId.current !== conversationId) {
    // the results belong to the previous conversation
    shownConversationId.current = conversationId;
    latestRequest.current?.abort();
    setWindow(null);
    setTarget(undefined);
  }
  const close = useCallback(() => {
    latestRequest.current?.abort();
    setOpen(false);
    setTarget(undefined);
  }, []);
  // going back closes the search before it leaves the chat
  useEffect(() => (isOpen ? guardHistory(close) : undefined), [isOpen, close]);
  const bar = isOpen && searchModule && (
    <searchModule.ChatSearch
      thread={thread}
      window={window}
      onWindow={setWindow}
      onTarget={setTarget}
      latestRequest={latestRequest}
      onClose={() => {
        close();
        // the bar disappears, and the focus with it
        onLeft();
      }}
    />
  );
  return { bar, open: () => setOpen(true), window, target };
}

/** Returns to the end of the conversation when the user sends a message. */
function useLeaveOnSend(pending: PendingMessage[], shownWindow: LogWindow | null): void {
  const lastId = pending.at(-1)?.clientId;
  const previousId = useRef(lastId);
  useEffect(() => {
    const isNew = lastId !== undefined && lastId !== previousId.current;
    previousId.current = lastId;
    if (isNew) shownWindow?.newer.leave();
  }, [lastId, shownWindow]);
}

const stateOf = ({ id, version, revision, status }: Message) => [id, version, revision, status].join();

/** Returns the last message, unchanged while only its text grows, which happens many times a second. */
function useSteady(last: Message | undefined): Message | undefined {
  const [steadyMessage, setSteadyMessage] = useState(last);
  if (last === steadyMessage || (last && steadyMessage && stateOf(last) === stateOf(steadyMessage)))
    return steadyMessage;
  setSteadyMessage(last);
  return last;
}

function useWaiting(isRunning: boolean, isMember: boolean): Waiting {
  const isOnline = useOnline();
  if (!isMember) return 'login';
  if (!isOnline) return hasNetwork() ? 'unreachable' : 'offline';
  return isRunning ? 'queued' : 'sending';
}

const ChatOpening = memo(function ChatOpening({ story }: { story: Story }) {
  if (!story.opening) return <div className={styles.blank} />;
  return (
    <section className={styles.opening} aria-label={texts.chat.opening}>
      <h2 className={styles.title}>{texts.chat.opening}</h2>
      <MessageText text={story.opening} />
    </section>
  );
});

const endings: Partial<Record<Message['status'], string>> = {
  failed: texts.state.announceFailed,
  cancelled: texts.state.announceStopped,
};

/** Shows the event in the title of a background tab, until the tab becomes visible. */
function announceInTitle(text: string) {
  if (document.visibilityState === 'visible') return;
  const { title } = document;
  document.title = `${text} · ${title}`;
  // a second reply may have prefixed the title once more; the title of another screen is not touched
  const restore = () => {
    if (document.title.endsWith(` · ${title}`)) document.title = title;
  };
  document.addEventListener('visibilitychange', restore, { once: true });
}

/** Announces the start and the end of a reply to screen readers, but not each of its pieces. */
function ReplyAnnouncer({ last }: { last: Message | undefined }) {
  const [announcement, setAnnouncement] = useState('');
  const lastRunningId = useRef<string | null>(null);
  const runningId = last && isRunning(last) ? last.id : null;
  const status = last?.status;
  useEffect(() => {
    if (runningId !== null && lastRunningId.current !== runningId) setAnnouncement(texts.state.announceRunning);
    if (runningId === null && lastRunningId.current !== null) {
      const ending = (status && endings[status]) ?? texts.state.announceDone;
      setAnnouncement(ending);
      announceInTitle(ending);
    }
    lastRunningId.current = runningId;
  }, [runningId, status]);
  return (
    <div role="status">
      <VisuallyHidden>{announcement}</VisuallyHidden>
    </div>
  );
}
