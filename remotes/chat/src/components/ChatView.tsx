import { failureText, formatDay } from '@liaozhai/shared/format';
import {
  copyText,
  drafts,
  isApiError,
  newClientId,
  paths,
  requestLogin,
  toast,
  useExpiredSession,
  useNavigate,
  useOnline,
  useSelector,
  useUser,
} from '@liaozhai/shared/runtime';
import { Button, followKeyboard, useShanghaiDay, VisuallyHidden } from '@liaozhai/shared/ui';
import {
  memo,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { continueReply } from '../api/continueReply';
import { outbox } from '../api/outbox';
import { askForSuggestions, prices, recallSuggestions, suggestionKeyOf } from '../api/suggestions';
import { threadSyncs } from '../api/threadSync';
import type { Row } from '../model/log';
import { type PendingMessage, pendingOutside } from '../model/pendingMessage';
import type { Story } from '../model/story';
import { isRunning, type Message, runningMessage, type Thread } from '../model/thread';
import { selectChat } from '../slice';
import { texts } from '../texts';
import { ChatLog, useOlder } from './ChatLog';
import styles from './ChatView.module.css';
import { Composer, hasKeyboard, ReplyChips, SuggestionList, useDraft } from './Composer';
import {
  currentTarget,
  MessageMenu,
  MessageRow,
  MessageText,
  messageActions,
  PendingRow,
  pendingActions,
  type Waiting,
} from './MessageRow';

interface ChatViewProps {
  story: Story;
  thread: Thread;
  isMember: boolean;
}

/** Log above, composer below. */
export function ChatView({ story, thread, isMember }: ChatViewProps) {
  const actions = useChatActions(story.id, thread.conversationId, isMember);
  const composer = useRef<ComposerHandle>(null);
  const allPending = useSelector((state) => selectChat(state).pending);
  const older = useOlder(thread);
  const [menuFor, setMenuFor] = useState<Message | PendingMessage | null>(null);
  const last = thread.messages.at(-1);
  const { messages, hasOlder } = thread;
  const log = useMemo(
    () => ({ hasOpening: !hasOlder, messages, pending: pendingOutside(story.id, messages, allPending) }),
    [hasOlder, messages, allPending, story.id],
  );
  const steadyLast = useSteady(last);
  const isRunning = runningMessage(thread) !== undefined;
  const waiting = useWaiting(isRunning, isMember);
  const rowActions = useMemo(() => ({ ...actions, openMenu: setMenuFor }), [actions]);
  const lastId = last?.id;
  const today = useShanghaiDay();
  const drawRow = useCallback(
    (row: Row) => {
      if (row.kind === 'opening') return <ChatOpening story={story} />;
      if (row.kind === 'pending') return <PendingRow pending={row.pending} waiting={waiting} actions={rowActions} />;
      const { message, startsDay } = row;
      const day = startsDay ? formatDay(message.createdAt, today) : undefined;
      const isLast = message.id === lastId;
      return <MessageRow message={message} day={day} isLast={isLast} speaker={story.speaker} actions={rowActions} />;
    },
    [story, rowActions, waiting, lastId, today],
  );
  const target = menuFor && currentTarget(menuFor, log);
  const menu =
    target &&
    ('state' in target
      ? pendingActions(target, actions, (text) => composer.current?.putBack(text))
      : messageActions(target, actions, target.id === lastId));
  return (
    <>
      <ChatLog conversationId={thread.conversationId} log={log} older={older}>
        {drawRow}
      </ChatLog>
      <ChatFoot
        story={story}
        last={steadyLast}
        isRunning={isRunning}
        isMember={isMember}
        actions={actions}
        ref={composer}
      />
      <ReplyAnnouncer last={last} />
      <MessageMenu actions={menu} onClose={() => setMenuFor(null)} />
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

/** The story's opening as the head of the log: what the conversation goes on from. */
const ChatOpening = memo(function ChatOpening({ story }: { story: Story }) {
  if (!story.opening) return <div className={styles.blank} />;
  return (
    <section className={styles.opening} aria-label={texts.chat.opening}>
      <h2 className={styles.title}>{texts.chat.opening}</h2>
      <MessageText text={story.opening} />
    </section>
  );
});

/** Tells a screen reader that a reply has begun and that it has ended: two announcements, not one per piece. */
function ReplyAnnouncer({ last }: { last: Message | undefined }) {
  const [announced, setAnnounced] = useState('');
  const wasRunning = useRef<string | null>(null);
  const runningId = last && isRunning(last) ? last.id : null;
  const failed = last?.status === 'failed' || last?.status === 'cancelled';
  useEffect(() => {
    if (runningId !== null && wasRunning.current !== runningId) setAnnounced(texts.state.announceRunning);
    if (runningId === null && wasRunning.current !== null) {
      setAnnounced(failed ? texts.state.announceFailed : texts.state.announceDone);
    }
    wasRunning.current = runningId;
  }, [runningId, failed]);
  return (
    <div role="status">
      <VisuallyHidden>{announced}</VisuallyHidden>
    </div>
  );
}

interface ChatFootProps {
  story: Story;
  /** As it is but for the text that it may be growing by. */
  last: Message | undefined;
  isRunning: boolean;
  isMember: boolean;
  actions: ChatActions;
  ref: Ref<ComposerHandle>;
}

interface ComposerHandle {
  /** Puts words back into the composer, after what has been written there since. */
  putBack: (text: string) => void;
}

/** 灵感, 继续 and the composer, above the keyboard; what is typed stays in here, so that a key press draws nothing else and a growing reply nothing here. */
const ChatFoot = memo(function ChatFoot({ story, last, isRunning, isMember, actions, ref }: ChatFootProps) {
  const [draft, write] = useDraft(story.id);
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({ putBack: (text) => fill(draft ? `${draft}\n${text}` : text) }));
  const foot = useRef<HTMLDivElement>(null);
  const used = useRef<{ id: string; text: string } | null>(null);
  const user = useUser();
  const suggestions = useSelector((state) => selectChat(state).suggestions[story.id]);
  const isContinuing = useSelector((state) => selectChat(state).continuing.includes(story.id));
  const isBusy = isContinuing || isRunning;
  const [closedKey, setClosedKey] = useState<string | null>(null);
  const shownSuggestions =
    last &&
    suggestions?.baseKey !== closedKey &&
    suggestions?.baseKey === suggestionKeyOf(last) &&
    suggestions.status !== 'failed'
      ? suggestions
      : undefined;
  useLayoutEffect(() => (foot.current ? followKeyboard(foot.current) : undefined), []);
  useEffect(() => void recallSuggestions(story.id), [story.id]);

  const fill = (text: string) => {
    write(text);
    // on a touch screen the keyboard comes when the reader asks for it
    if (hasKeyboard()) field.current?.focus();
  };
  const closeSuggestions = () => setClosedKey(suggestions?.baseKey ?? null);
  const send = (body: string) => {
    const suggestion = used.current?.text.trim() === body ? used.current : null;
    used.current = null;
    write('');
    closeSuggestions();
    actions.send(body, suggestion?.id);
  };
  return (
    <div ref={foot} className={styles.foot}>
      <ExpiredNotice />
      <Composer
        field={field}
        text={draft}
        onText={write}
        onSend={send}
        price={story.pricePerMessage}
        balance={user?.balance}
      >
        {shownSuggestions && (
          <SuggestionList
            suggestions={shownSuggestions}
            onUse={(suggestion) => {
              used.current = suggestion;
              fill(suggestion.text);
            }}
            onSend={(suggestion) => {
              closeSuggestions();
              actions.send(suggestion.text, suggestion.id);
            }}
            onClose={closeSuggestions}
          />
        )}
        {isMember && last && (
          <ReplyChips
            prices={prices()}
            isBusy={isBusy}
            canContinue={last.role === 'assistant'}
            onSuggest={() => {
              setClosedKey(null);
              actions.askForSuggestions();
            }}
            onContinue={() => actions.resume(last)}
          />
        )}
      </Composer>
    </div>
  );
});

/** Says why nothing goes out and that nothing is lost, with the way on. */
function ExpiredNotice() {
  if (useExpiredSession() === null) return null;
  return (
    <div className={styles.expired} role="status">
      <p>{texts.chat.expired}</p>
      <Button small variant="quiet" onClick={() => void requestLogin('login')}>
        {texts.state.toLogin}
      </Button>
    </div>
  );
}

/** Everything a reader can do in the chat of one story. */
function useChatActions(storyId: string, conversationId: string | null, isMember: boolean) {
  const navigate = useNavigate();
  return useMemo(() => {
    /** A purchase that failed says why; one that failed for lack of points leads to more. */
    const tell = (cause: unknown, fallback: string) => {
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause, fallback);
      if (!problem) return;
      const recharge = { label: texts.state.recharge, run: () => void navigate(paths.recharge()) };
      const action = cause.kind === 'insufficientBalance' ? recharge : undefined;
      toast(problem, { kind: 'error', action });
    };
    return {
      login: () => void requestLogin('login'),
      look: () => void threadSyncs.catchUp(storyId),
      retry: (pending: PendingMessage) => void outbox.retry(pending),
      remove: (pending: PendingMessage) => outbox.remove(pending.clientId),
      send(body: string, suggestionId?: string) {
        const pending: PendingMessage = {
          clientId: newClientId(),
          storyId,
          conversationId,
          body,
          createdAt: Date.now(),
          state: 'waiting',
        };
        void outbox.enqueue(suggestionId ? { ...pending, suggestionId } : pending);
        drafts.flush();
        if (!isMember) void requestLogin();
      },
      resume: (message: Message) =>
        void continueReply(storyId, message).catch((cause: unknown) => tell(cause, texts.resume.failed)),
      askForSuggestions: () =>
        void askForSuggestions(storyId).then(
          (came) => {
            if (!came) toast(texts.suggest.failed, { kind: 'error' });
          },
          (cause: unknown) => tell(cause, texts.suggest.failed),
        ),
      copy: (text: string) =>
        void copyText(text).then((done) =>
          toast(done ? texts.chat.copied : texts.chat.copyFailed, { kind: done ? 'success' : 'error' }),
        ),
    };
  }, [storyId, conversationId, isMember, navigate]);
}

export type ChatActions = ReturnType<typeof useChatActions>;
