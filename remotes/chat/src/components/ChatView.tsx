import { failureText, formatDay, formatPoints, hasNetwork } from '@liaozhai/shared/format';
import {
  copyText,
  drafts,
  isApiError,
  newClientId,
  requestLogin,
  session,
  store,
  toast,
  useCapability,
  useExpiredSession,
  useOnline,
  useSearchParams,
  useSelector,
  useUser,
} from '@liaozhai/shared/runtime';
import { Button, followKeyboard, guardHistory, useShanghaiDay, VisuallyHidden } from '@liaozhai/shared/ui';
import {
  type ComponentType,
  memo,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { outbox } from '../api/outbox';
import { prices, resumePrice, selectLacksPoints } from '../api/points';
import {
  chooseVariant,
  continueReply,
  editMessage,
  regenerateReply,
  restartConversation,
  stopReply,
} from '../api/replies';
import type { LogWindow } from '../api/search';
import { askForSuggestions, closeSuggestions, recallSuggestions, suggestionKeyOf } from '../api/suggestions';
import { threadSyncs } from '../api/threadSync';
import type { Row } from '../model/log';
import { failedUpTo, type PendingMessage, pendingOutside, risenPrice } from '../model/pendingMessage';
import type { Story } from '../model/story';
import { type EditedLine, isRunning, type Message, runningMessage, type Thread } from '../model/thread';
import { type Suggestions, selectChat } from '../slice';
import { texts } from '../texts';
import { ChatLog, type Target, useOlder } from './ChatLog';
import type { ChatSearchProps } from './ChatSearch';
import type { ChatSheetProps, OpenSheet } from './ChatSheet';
import styles from './ChatView.module.css';
import { Composer, type Draft, EditingBar, hasKeyboard, ReplyChips, SuggestionList, useDraft } from './Composer';
import { MessageRow, MessageText, PendingRow, type Waiting } from './MessageRow';

interface ChatViewProps {
  story: Story;
  thread: Thread;
  /** The thread is the device's copy, and the server has not answered yet. */
  isCopy: boolean;
  isMember: boolean;
}

/** Log above, composer below. */
export function ChatView({ story, thread, isCopy, isMember }: ChatViewProps) {
  const [sheet, setSheet] = useState<OpenSheet | null>(null);
  const closeSheet = useCallback(() => setSheet(null), []);
  const ChatSheet = useChatSheet(sheet !== null, closeSheet);
  const search = useSearch(thread);
  const actions = useChatActions(story, thread.conversationId, isMember, setSheet);
  const composer = useRef<ComposerHandle>(null);
  const allPending = useSelector((state) => selectChat(state).pending);
  const older = useOlder(thread);
  const last = thread.messages.at(-1);
  const pending = useMemo(
    () => pendingOutside(story.id, thread.messages, allPending),
    [story.id, thread.messages, allPending],
  );
  const { messages } = search.window ?? thread;
  const { hasOlder } = search.window?.older ?? thread;
  const isAway = search.window !== null;
  const log = useMemo(
    () => ({ hasOpening: !hasOlder, messages, pending: isAway ? [] : pending }),
    [hasOlder, messages, pending, isAway],
  );
  useLeavingBySending(pending, search.window);
  const isBlank = thread.messages.length === 0;
  useEffect(() => {
    if (isBlank) search.window?.newer.leave();
  }, [isBlank, search.window]);
  const steadyLast = useSteady(last);
  const isRunning = runningMessage(thread) !== undefined;
  const waiting = useWaiting(isRunning, isMember);
  const rowActions = useMemo(
    () => ({ ...actions, openMenu: (target: Message | PendingMessage) => setSheet({ kind: 'menu', target }) }),
    [actions],
  );
  const canEdit = useCapability('messages.edit') && isMember;
  const lastId = last?.id;
  const canRetell = useCapability('messages.regenerate') && isMember;
  const today = useShanghaiDay();
  const drawRow = useCallback(
    (row: Row) => {
      if (row.kind === 'opening') return <ChatOpening story={story} />;
      if (row.kind === 'pending') {
        const isBehind = failedUpTo(row.pending, log.pending).length > 0;
        return <PendingRow pending={row.pending} waiting={isBehind ? 'behind' : waiting} actions={rowActions} />;
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
          price={story.pricePerMessage}
          speaker={story.speaker}
          actions={rowActions}
        />
      );
    },
    [story, rowActions, waiting, lastId, canRetell, today, log.pending],
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
        {drawRow}
      </ChatLog>
      <ChatFoot
        story={story}
        last={steadyLast}
        isRunning={isRunning}
        isMember={isMember}
        isSearching={search.bar !== false && search.bar !== undefined}
        actions={actions}
        ref={composer}
      />
      <ReplyAnnouncer last={last} />
      {ChatSheet && (
        <ChatSheet
          sheet={sheet}
          story={story}
          log={log}
          lastId={lastId}
          canRetell={canRetell}
          actions={actions}
          onSearch={search.open}
          onEdit={(text) => composer.current?.putBack(text)}
          onEditMessage={
            canEdit
              ? (message) => {
                  // a found part of the conversation does not follow what the edit takes away
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

/** The sheet comes in a file of its own, fetched once the chat stands; where it cannot be had, opening it says so and the next tap tries again. */
function useChatSheet(isOpen: boolean, close: () => void): ComponentType<ChatSheetProps> | undefined {
  const [component, setComponent] = useState<ComponentType<ChatSheetProps>>();
  useEffect(() => {
    if (component) return;
    void import(/* webpackChunkName: "story.chat.sheet" */ './ChatSheet').then(
      ({ ChatSheet }) => setComponent(() => ChatSheet),
      () => {
        if (!isOpen) return;
        toast(texts.chat.sheetFailed, { kind: 'error' });
        close();
      },
    );
  }, [component, isOpen, close]);
  return component;
}

/** The search of this chat, whose code comes when it is asked for, and what it shows instead of the thread. */
function useSearch(thread: Thread) {
  const [isOpen, setOpen] = useState(false);
  const [ChatSearch, setChatSearch] = useState<ComponentType<ChatSearchProps>>();
  const [window, setWindow] = useState<LogWindow | null>(null);
  const [target, setTarget] = useState<Target>();
  const { conversationId } = thread;
  const shownOf = useRef(conversationId);
  if (shownOf.current !== conversationId) {
    // another conversation than the one that was searched
    shownOf.current = conversationId;
    setWindow(null);
    setTarget(undefined);
  }
  const close = useCallback(() => {
    setOpen(false);
    setTarget(undefined);
  }, []);
  const open = useCallback(() => {
    setOpen(true);
    void import(/* webpackChunkName: "story.chat.search" */ './ChatSearch').then(
      ({ ChatSearch }) => setChatSearch(() => ChatSearch),
      () => {
        setOpen(false);
        toast(texts.find.unavailable, { kind: 'error' });
      },
    );
  }, []);
  // going back closes what lies over the chat before it leaves the chat
  useEffect(() => (isOpen ? guardHistory(close) : undefined), [isOpen, close]);
  const bar = isOpen && ChatSearch && (
    <ChatSearch thread={thread} window={window} onWindow={setWindow} onTarget={setTarget} onClose={close} />
  );
  return { bar, open, window, target };
}

/** Who sends wants to see it go out, at the end of the conversation. */
function useLeavingBySending(pending: PendingMessage[], shown: LogWindow | null): void {
  const last = pending.at(-1)?.clientId;
  const before = useRef(last);
  useEffect(() => {
    const isNew = last !== undefined && last !== before.current;
    before.current = last;
    if (isNew) shown?.newer.leave();
  }, [last, shown]);
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
  if (!isOnline) return hasNetwork() ? 'unreachable' : 'offline';
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

const endings: Partial<Record<Message['status'], string>> = {
  failed: texts.state.announceFailed,
  cancelled: texts.state.announceStopped,
};

/** A tab in the background says in its title what has happened, until it is looked at. */
function announceInTitle(text: string) {
  if (document.visibilityState === 'visible') return;
  const { title } = document;
  document.title = `${text} · ${title}`;
  // a second reply may have put its words before these; another screen's title stays
  const restore = () => {
    if (document.title.endsWith(` · ${title}`)) document.title = title;
  };
  document.addEventListener('visibilitychange', restore, { once: true });
}

/** Tells a screen reader that a reply has begun and that it has ended: two announcements, not one per piece. */
function ReplyAnnouncer({ last }: { last: Message | undefined }) {
  const [announced, setAnnounced] = useState('');
  const wasRunning = useRef<string | null>(null);
  const runningId = last && isRunning(last) ? last.id : null;
  const status = last?.status;
  useEffect(() => {
    if (runningId !== null && wasRunning.current !== runningId) setAnnounced(texts.state.announceRunning);
    if (runningId === null && wasRunning.current !== null) {
      const ending = (status && endings[status]) ?? texts.state.announceDone;
      setAnnounced(ending);
      announceInTitle(ending);
    }
    wasRunning.current = runningId;
  }, [runningId, status]);
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
  isSearching: boolean;
  actions: ChatActions;
  ref: Ref<ComposerHandle>;
}

interface ComposerHandle {
  /** Puts words back into the composer, after what has been written there since. */
  putBack: (text: string) => void;
  /** Lets the reader give one of their lines other words; what stood in the composer is there again afterwards. */
  edit: (message: Message) => void;
}

/** 灵感, 继续 and the composer, above the keyboard; what is typed stays in here, so that a key press draws nothing else and a growing reply nothing here. */
const ChatFoot = memo(function ChatFoot(props: ChatFootProps) {
  const { story, last, isRunning, isMember, isSearching, actions, ref } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const { line: editedLine, draft, begin, end } = useEditing(story.id, last);
  const write = useFocus(field);
  useImperativeHandle(ref, () => ({
    putBack(text) {
      draft.write([draft.read(), text].filter(Boolean).join('\n'));
      write();
    },
    edit(message) {
      begin(message);
      write();
    },
  }));
  const foot = useRef<HTMLDivElement>(null);
  /** The words that 灵感 has filled the field with; a change makes them the reader's own. */
  const used = useRef<{ suggestionId: string | undefined; text: string } | null>(null);
  const user = useUser();
  const suggestions = useSelector((state) => selectChat(state).suggestions[story.id]);
  const lacksPoints = useSelector((state) => selectLacksPoints(state, story.id, story.pricePerMessage));
  const isContinuing = useSelector((state) => selectChat(state).continuing.includes(story.id));
  const isBusy = isContinuing || isRunning;
  const stopping = useStopping(last, actions.stop);
  const canSearch = useCapability('messages.search');
  const canRestart = useCapability('conversations.restart');
  const hasRuns = useCapability('conversations.runs');
  const shownSuggestions =
    last && suggestions?.baseKey === suggestionKeyOf(last) && suggestions.status !== 'failed' && !suggestions.isClosed
      ? suggestions
      : undefined;
  const openingLines = useOpeningLines(story, last, draft);
  const offered = shownSuggestions ?? openingLines.offered;
  useLayoutEffect(() => (foot.current ? followKeyboard(foot.current) : undefined), []);
  useEffect(() => void recallSuggestions(story.id), [story.id]);
  const { chosen } = openingLines;
  const filled = useRef<string>(undefined);
  useEffect(() => {
    // once: words that the reader takes out again stay out
    if (chosen === undefined || filled.current === chosen) return;
    filled.current = chosen;
    if (draft.read() !== '') return;
    used.current = { suggestionId: undefined, text: chosen };
    draft.write(chosen);
  }, [chosen, draft]);

  const fill = (text: string) => {
    draft.write(text);
    // on a touch screen the keyboard comes when the reader asks for it
    if (hasKeyboard()) field.current?.focus();
  };
  const close = () => (shownSuggestions ? closeSuggestions(story.id) : openingLines.close());
  const sendEdited = (line: EditedLine, body: string) => {
    actions.edit(line, body, last?.seq ?? line.seq, end);
  };
  const send = (body: string) => {
    if (editedLine) return sendEdited(editedLine, body);
    const suggestionId = used.current?.text.trim() === body ? used.current.suggestionId : undefined;
    if (!actions.send(body, suggestionId)) return;
    used.current = null;
    draft.write('');
    close();
  };
  return (
    <div ref={foot} className={styles.foot} data-foot data-searching={isSearching || undefined}>
      <ExpiredNotice />
      <Composer
        field={field}
        draft={draft}
        onSend={send}
        price={story.pricePerMessage}
        balance={user?.balance}
        isMember={user !== null}
        lacksPoints={lacksPoints}
        onGetPoints={() => actions.getPoints(story.pricePerMessage ?? 0)}
        {...stopping}
        isHeld={editedLine !== undefined && isBusy}
      >
        {editedLine && (
          <EditingBar
            followers={(last?.seq ?? 0) - editedLine.seq}
            isHeld={isRunning}
            onCancel={() => {
              end();
              if (hasKeyboard()) field.current?.focus();
            }}
          />
        )}
        {offered && !editedLine && (
          <SuggestionList
            label={shownSuggestions ? texts.suggest.label : texts.suggest.opening}
            suggestions={offered}
            onUse={(text) => {
              // words of the reader's own stay, before the suggested ones
              const written = draft.read() === used.current?.text ? '' : draft.read().trim();
              used.current = { suggestionId: offered.id, text };
              if (shownSuggestions) close();
              fill([written, text].filter(Boolean).join('\n'));
            }}
            onSend={(text) => {
              if (actions.send(text, offered.id)) close();
            }}
            onClose={close}
          />
        )}
        {isMember && last && !editedLine && (
          <ReplyChips
            prices={{ ...prices(), resume: resumePrice(last, story.pricePerMessage) }}
            isBusy={isBusy}
            canContinue={last.role === 'assistant'}
            suggestions={shownSuggestions}
            onSuggest={actions.askForSuggestions}
            onContinue={(price) => actions.resume(last, price)}
            onMore={canSearch || canRestart || hasRuns ? actions.openMore : undefined}
          />
        )}
      </Composer>
    </div>
  );
});

/**
 * What a reader may say first: offered as 灵感 is, for nothing, while nothing is said or written and the list was not put away.
 * The address names the line that was tapped on the story's page.
 */
function useOpeningLines({ id: storyId, openingLines }: Story, last: Message | undefined, draft: Draft) {
  const [isClosed, setClosed] = useState(false);
  const [search] = useSearchParams();
  const isPending = useSelector((state) => selectChat(state).pending.some((one) => one.storyId === storyId));
  const isBegun = last !== undefined || isPending;
  const isWriting = useSyncExternalStore(draft.subscribe, () => draft.read() !== '');
  const line = Number(search.get('line'));
  return useMemo(() => {
    const isOffered = !isBegun && !isWriting && !isClosed && openingLines.length > 0;
    const offered: Suggestions | undefined = isOffered
      ? { baseKey: '', clientId: '', status: 'ready', items: openingLines.map((text) => ({ id: text, text })) }
      : undefined;
    return { offered, chosen: isBegun ? undefined : openingLines[line - 1], close: () => setClosed(true) };
  }, [isBegun, isWriting, isClosed, openingLines, line]);
}

/** Focuses the field with the next render: a sheet that closes in it gives the focus back to its opener first. */
function useFocus(field: RefObject<HTMLElement | null>): () => void {
  const [count, focus] = useReducer((before: number) => before + 1, 0);
  useLayoutEffect(() => {
    if (count > 0) field.current?.focus();
  }, [count, field]);
  return focus;
}

/**
 * The composer's words: what is written for the story, or, while one of the reader's lines is edited, that line's. Both are
 * kept on the device. A line that is gone meanwhile leaves its words among the others.
 */
function useEditing(storyId: string, last: Message | undefined) {
  const edited = useDraft(`${storyId}.edited`);
  const words = useDraft(`${storyId}.edit`);
  const draft = useDraft(storyId);
  const kept = useSyncExternalStore(edited.subscribe, edited.read);
  const line = useMemo(() => readLine(kept), [kept]);
  const isGone = line !== undefined && (line.conversationId !== last?.conversationId || line.seq > last.seq);
  const end = useCallback(() => {
    edited.write('');
    words.write('');
  }, [edited, words]);
  useEffect(() => {
    if (!isGone) return;
    draft.write([draft.read(), words.read()].filter(Boolean).join('\n'));
    end();
  }, [isGone, draft, words, end]);
  const begin = ({ id, conversationId, seq, revision, body }: Message) => {
    edited.write(JSON.stringify({ id, conversationId, seq, revision } satisfies EditedLine));
    words.write(body);
  };
  return line && !isGone ? { line, draft: words, begin, end } : { line: undefined, draft, begin, end };
}

function readLine(kept: string): EditedLine | undefined {
  try {
    return kept === '' ? undefined : JSON.parse(kept);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return undefined;
  }
}

/** 停止 for the reply that is being written, where the server can stop it. */
function useStopping(last: Message | undefined, stop: ChatActions['stop']) {
  const canStop = useCapability('messages.cancel');
  const [stoppedKey, setStoppedKey] = useState<string | null>(null);
  if (!canStop || !last || !isRunning(last)) return { onStop: undefined, isStopping: false };
  const key = `${last.id}:${last.revision}`;
  const onStop = () => {
    setStoppedKey(key);
    void stop(last).finally(() => setStoppedKey(null));
  };
  return { onStop, isStopping: stoppedKey === key };
}

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

/** Everything a reader can do in the chat of one story; what cannot be paid for opens the ways to points instead. */
function useChatActions(
  { id: storyId, pricePerMessage }: Story,
  conversationId: string | null,
  isMember: boolean,
  open: (sheet: OpenSheet) => void,
) {
  return useMemo(() => {
    const getPoints = (cost: number) => {
      open({ kind: 'points', cost });
      // they may have come by another device
      void session.refresh();
    };
    const canPay = (cost: number | undefined): boolean => {
      if (!selectLacksPoints(store.getState(), storyId, cost)) return true;
      getPoints(cost ?? 0);
      return false;
    };
    /** A second tap before the answer to the first is ignored. */
    const isOrdering = () => selectChat(store.getState()).continuing.includes(storyId);
    /** A purchase that failed says why; one that failed for want of points leads to more. */
    const tell = (cause: unknown, fallback: string) => {
      if (!isApiError(cause)) throw cause;
      if (cause.kind === 'insufficientBalance') {
        if (cause.required > cause.balance) session.userPatched({ balance: cause.balance });
        return getPoints(cause.required);
      }
      const problem = failureText(cause, fallback);
      if (problem) toast(problem, { kind: 'error' });
    };
    /** Buys at the price that is shown. Where it has risen meanwhile, a question says the new one, and one tap goes on. */
    const buy = (price: number | undefined, order: (price: number | undefined) => Promise<unknown>, failed: string) => {
      void order(price).catch((cause: unknown) => {
        const risen = isApiError(cause) ? risenPrice(cause) : undefined;
        if (risen === undefined) return tell(cause, failed);
        const { title, now, goOn } = texts.price;
        const points = formatPoints(risen);
        const run = () => canPay(risen) && buy(risen, order, failed);
        open({ kind: 'confirm', title, text: now(points), label: goOn(points), danger: false, run });
      });
    };
    return {
      login: () => void requestLogin('login'),
      look: () => void threadSyncs.catchUp(storyId),
      getPoints,
      openMore: () => open({ kind: 'more' }),
      restart() {
        if (conversationId === null) return;
        void restartConversation(storyId, conversationId).then(
          () => toast(texts.restart.done),
          (cause: unknown) => tell(cause, texts.restart.failed),
        );
      },
      retry: (pending: PendingMessage) => {
        const risen = risenPrice(pending.error);
        const isPaidFor = risen === undefined && pending.error?.kind !== 'insufficientBalance';
        if (isPaidFor || canPay(risen ?? pricePerMessage)) void outbox.retry(pending);
      },
      remove: (pending: PendingMessage) => outbox.remove(pending.clientId),
      /** False where it was not taken: the reader has too few points and keeps the words. */
      send(body: string, suggestionId?: string): boolean {
        if (!canPay(pricePerMessage)) return false;
        const pending: PendingMessage = {
          clientId: newClientId(),
          storyId,
          conversationId,
          body,
          ...(suggestionId && { suggestionId }),
          ...(pricePerMessage !== undefined && { price: pricePerMessage }),
          createdAt: Date.now(),
          state: 'waiting',
        };
        void outbox.enqueue(pending);
        drafts.flush();
        if (!isMember) void requestLogin();
        return true;
      },
      /** `price`: as it was shown */
      resume(message: Message, price: number | undefined) {
        const order = (shown: number | undefined) => continueReply(storyId, message, shown);
        if (canPay(price)) buy(price, order, texts.resume.failed);
      },
      retell(message: Message) {
        if (isOrdering() || !canPay(pricePerMessage)) return;
        buy(pricePerMessage, (price) => regenerateReply(storyId, message, price), texts.retell.failed);
      },
      /** Asks first where more than the answer goes. */
      edit(line: EditedLine, body: string, lastSeq: number, onTaken: () => void) {
        if (isOrdering() || !canPay(pricePerMessage)) return;
        const order = (price: number | undefined) => editMessage(storyId, line, body, lastSeq, price).then(onTaken);
        const run = () => buy(pricePerMessage, order, texts.editing.failed);
        const followers = lastSeq - line.seq;
        if (followers <= 1) return run();
        const { question: title, warning, confirm: label } = texts.editing;
        open({ kind: 'confirm', title, text: warning(followers), label, danger: true, run });
      },
      choose(message: Message, variant: number) {
        if (isOrdering()) return;
        void chooseVariant(storyId, message, variant).catch((cause: unknown) => tell(cause, texts.retell.chooseFailed));
      },
      stop: (message: Message): Promise<void> =>
        stopReply(storyId, message).catch((cause: unknown) => tell(cause, texts.stop.failed)),
      /** `price`: as it was shown */
      askForSuggestions(price: number | undefined, others = false) {
        if (others && !canPay(price)) return;
        const order = async (shown: number | undefined) => {
          if (!(await askForSuggestions(storyId, shown, others))) toast(texts.suggest.failed, { kind: 'error' });
        };
        buy(price, order, texts.suggest.failed);
      },
      copy: (text: string) =>
        void copyText(text).then((done) =>
          toast(done ? texts.chat.copied : texts.chat.copyFailed, { kind: done ? 'success' : 'error' }),
        ),
    };
  }, [storyId, pricePerMessage, conversationId, isMember, open]);
}

export type ChatActions = ReturnType<typeof useChatActions>;
