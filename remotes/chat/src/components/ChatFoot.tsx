import { SESSION_EXPIRED } from '@liaozhai/shared/format';
import { requestLogin, useCapability, useExpiredSession, useSearchParams, useSelector } from '@liaozhai/shared/runtime';
import { Button, followKeyboard } from '@liaozhai/shared/ui';
import {
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
  useTransition,
} from 'react';
import { cachedThread } from '../api/chatApi';
import { prices, resumePrice } from '../api/purchases';
import { closeSuggestions, restoreSuggestions, suggestionKeyOf } from '../api/suggestions';
import { type EditedLine, isRunning, type Message } from '../model/message';
import type { Story } from '../model/story';
import { findMessage } from '../model/thread';
import { type Suggestions, selectChat, selectIsRestarting } from '../slice';
import { texts } from '../texts';
import styles from './ChatView.module.css';
import {
  Composer,
  Cost,
  type Draft,
  EditingBar,
  hasKeyboard,
  ReplyChips,
  RestartBar,
  SuggestionList,
  useDraft,
} from './Composer';
import type { ChatActions } from './useChatActions';

interface ChatFootProps {
  story: Story;
  /** Stays the same object while only the text of a reply grows, see `useSteady`. */
  last: Message | undefined;
  /** A reply is running or ordered, or a line is being sent. */
  isReplyDue: boolean;
  isMember: boolean;
  isSearching: boolean;
  actions: ChatActions;
  ref: Ref<ComposerHandle>;
}

export interface ComposerHandle {
  appendText: (text: string) => void;
  /** Focuses the field, or the first chip where an on-screen keyboard would open, unless the focus is here already. */
  takeFocus: () => void;
  /** Focuses the button that opens the menu of the conversation. */
  focusMore: () => void;
  /** Starts editing one of the user's lines; the composer's former text is restored afterwards. */
  edit: (message: Message) => void;
}

/** Shown from the tap until the order has started. */
const pendingSuggestions: Suggestions = { baseKey: '', clientId: '', status: 'pending', items: [] };

/** 灵感, 继续 and the composer, above the keyboard. Drafts are local, so that typing redraws nothing else and a growing reply nothing here. */
export const ChatFoot = memo(function ChatFoot(props: ChatFootProps) {
  const { story, last, isReplyDue, isMember, isSearching, actions, ref } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const { line: editedLine, draft, begin, end, settle } = useEditing(story.id, last);
  const focusField = useFocusAfterRender(field);
  useImperativeHandle(ref, () => ({
    appendText(text) {
      draft.write([draft.read(), text].filter(Boolean).join('\n'));
      focusField();
    },
    takeFocus() {
      if (foot.current?.contains(document.activeElement)) return;
      if (hasKeyboard()) focusField();
      else foot.current?.querySelector<HTMLElement>('button[aria-disabled]')?.focus({ preventScroll: true });
    },
    focusMore() {
      foot.current?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();
    },
    edit(message) {
      begin(message);
      focusField();
    },
  }));
  const foot = useRef<HTMLDivElement>(null);
  /** The suggested text in the field; once it is changed, it is sent without the suggestion's id. */
  const usedSuggestion = useRef<{ suggestionId: string | undefined; text: string } | null>(null);
  const suggestions = useSelector((state) => selectChat(state).suggestions[story.id]);
  const rewrite = useSelector((state) => selectChat(state).rewrites[story.id]);
  const isRestarting = useSelector((state) => selectIsRestarting(state, story.id, last?.conversationId));
  const stopProps = useStopProps(last, actions.stop);
  const canSearch = useCapability('messages.search');
  const canRestart = useCapability('conversations.restart');
  const hasRuns = useCapability('conversations.runs');
  const shownSuggestions =
    last && suggestions?.baseKey === suggestionKeyOf(last) && suggestions.status !== 'failed' && !suggestions.isClosed
      ? suggestions
      : undefined;
  const openingLines = useOpeningLines(story, last, draft);
  const [isRequesting, startRequest] = useTransition();
  const offeredSuggestions =
    shownSuggestions ?? openingLines.offered ?? (isRequesting ? pendingSuggestions : undefined);
  useLayoutEffect(() => (foot.current ? followKeyboard(foot.current) : undefined), []);
  useEffect(() => void restoreSuggestions(story.id), [story.id]);
  const { chosenLine } = openingLines;
  const filledLine = useRef<string>(undefined);
  useEffect(() => {
    // filled in once: text that the user deletes stays deleted
    if (chosenLine === undefined || filledLine.current === chosenLine) return;
    filledLine.current = chosenLine;
    if (draft.read() !== '') return;
    usedSuggestion.current = { suggestionId: undefined, text: chosenLine };
    draft.write(chosenLine);
  }, [chosenLine, draft]);

  const fill = (text: string) => {
    draft.write(text);
    // on a touch screen the keyboard opens only when the user taps the field
    if (hasKeyboard()) field.current?.focus();
  };
  const close = () => (shownSuggestions ? closeSuggestions(story.id) : openingLines.close());
  const sendEdited = (line: EditedLine, body: string) => {
    actions.edit(line, body, last?.seq ?? line.seq, (isAccepted) => settle(line, isAccepted ? body : null));
  };
  const send = (body: string) => {
    if (editedLine) return sendEdited(editedLine, body);
    const suggestionId = usedSuggestion.current?.text.trim() === body ? usedSuggestion.current.suggestionId : undefined;
    if (!actions.send(body, suggestionId)) return;
    usedSuggestion.current = null;
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
        cost={<Cost story={story} onGetPoints={actions.getPoints} />}
        {...stopProps}
        isHeld={isRestarting || (editedLine !== undefined && isReplyDue)}
      >
        {editedLine && (
          <EditingBar
            followers={(last?.seq ?? 0) - editedLine.seq}
            isHeld={isReplyDue}
            isSending={rewrite !== undefined && 'id' in rewrite && rewrite.id === editedLine.id}
            onCancel={() => {
              end();
              if (hasKeyboard()) field.current?.focus();
            }}
          />
        )}
        {isRestarting && <RestartBar />}
        {offeredSuggestions && !editedLine && !isRestarting && (
          <SuggestionList
            label={shownSuggestions ? texts.suggest.label : texts.suggest.opening}
            suggestions={offeredSuggestions}
            onUse={(text) => {
              // the user's own text stays, before the suggested text
              const ownText = draft.read() === usedSuggestion.current?.text ? '' : draft.read().trim();
              usedSuggestion.current = { suggestionId: offeredSuggestions.id, text };
              if (shownSuggestions) close();
              fill([ownText, text].filter(Boolean).join('\n'));
            }}
            onSend={(text) => {
              if (actions.send(text, offeredSuggestions.id)) close();
            }}
            onClose={close}
          />
        )}
        {isMember && last && !editedLine && !isRestarting && (
          <ReplyChips
            prices={{ ...prices(), resume: resumePrice(last, story.pricePerMessage) }}
            isBusy={isReplyDue}
            // suggestions that are being bought fit the text as it is
            canContinue={last.role === 'assistant' && shownSuggestions?.status !== 'pending'}
            suggestions={shownSuggestions}
            onSuggest={(price, others) => startRequest(() => actions.requestSuggestions(price, others))}
            onContinue={(price) => actions.resume(last, price)}
            onMore={canSearch || canRestart || hasRuns ? actions.openMore : undefined}
          />
        )}
      </Composer>
    </div>
  );
});

/**
 * Free suggestions for the first message, shown until a message exists, text is typed or the list is closed. The `line` parameter
 * of the address is the line that was tapped on the story's page.
 */
function useOpeningLines({ id: storyId, openingLines }: Story, last: Message | undefined, draft: Draft) {
  const [isClosed, setClosed] = useState(false);
  const [search] = useSearchParams();
  const isPending = useSelector((state) => selectChat(state).pending.some((each) => each.storyId === storyId));
  const isBegun = last !== undefined || isPending;
  const isWriting = useSyncExternalStore(draft.subscribe, () => draft.read() !== '');
  const line = Number(search.get('line'));
  return useMemo(() => {
    const isOffered = !isBegun && !isWriting && !isClosed && openingLines.length > 0;
    const offered: Suggestions | undefined = isOffered
      ? { baseKey: '', clientId: '', status: 'ready', items: openingLines.map((text) => ({ id: text, text })) }
      : undefined;
    return { offered, chosenLine: isBegun ? undefined : openingLines[line - 1], close: () => setClosed(true) };
  }, [isBegun, isWriting, isClosed, openingLines, line]);
}

/** Focuses the field after the next render, since a closing sheet first returns the focus to its opener. */
function useFocusAfterRender(field: RefObject<HTMLElement | null>): () => void {
  const [count, focus] = useReducer((before: number) => before + 1, 0);
  useLayoutEffect(() => {
    if (count > 0) field.current?.focus();
  }, [count, field]);
  return focus;
}

/**
 * Returns the composer's draft: the one for the story, or that of an edited line. Both are stored on the device. If the edited
 * line is deleted meanwhile, its draft is appended to the story's.
 */
function useEditing(storyId: string, last: Message | undefined) {
  const lineDraft = useDraft(`${storyId}.edited`);
  const textDraft = useDraft(`${storyId}.edit`);
  const draft = useDraft(storyId);
  const editedLine = useSyncExternalStore(lineDraft.subscribe, lineDraft.read);
  const line = useMemo(() => readLine(editedLine), [editedLine]);
  const isGone =
    editedLine !== '' && (line === undefined || line.conversationId !== last?.conversationId || line.seq > last.seq);
  const end = useCallback(() => {
    lineDraft.write('');
    textDraft.write('');
  }, [lineDraft, textDraft]);
  useEffect(() => {
    if (!isGone) return;
    draft.write([draft.read(), textDraft.read()].filter(Boolean).join('\n'));
    end();
  }, [isGone, draft, textDraft, end]);
  const begin = ({ id, conversationId, seq, revision, body }: Message) => {
    lineDraft.write(JSON.stringify({ id, conversationId, seq, revision } satisfies EditedLine));
    textDraft.write(body);
  };
  /** Ends the edit whose text the server has accepted. Another text, or edit begun meanwhile, goes on. */
  const settle = (sentLine: EditedLine, acceptedText: string | null) => {
    if (readLine(lineDraft.read())?.id !== sentLine.id) return;
    if (textDraft.read().trim() === acceptedText) return end();
    const thread = cachedThread(storyId);
    const message = thread && findMessage(thread, sentLine.id);
    // the text edits the line as it is now
    if (message) lineDraft.write(JSON.stringify({ ...sentLine, revision: message.revision } satisfies EditedLine));
  };
  const editing = { begin, end, settle };
  return line && !isGone ? { line, draft: textDraft, ...editing } : { line: undefined, draft, ...editing };
}

function readLine(json: string): EditedLine | undefined {
  try {
    const line: EditedLine | null = json === '' ? null : JSON.parse(json);
    // another build may have stored it
    const isReadable = line?.id && line.conversationId && Number.isInteger(line.seq) && Number.isInteger(line.revision);
    return isReadable ? line : undefined;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return undefined;
  }
}

/** Offers 停止 for a running reply if the server supports it. */
function useStopProps(last: Message | undefined, stop: ChatActions['stop']) {
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

/** Explains that nothing is sent or lost, and offers to sign in. */
function ExpiredNotice() {
  if (useExpiredSession() === null) return null;
  return (
    <div className={styles.expired} role="status">
      <p>{SESSION_EXPIRED}</p>
      <Button small variant="quiet" onClick={() => void requestLogin('login')}>
        {texts.state.toLogin}
      </Button>
    </div>
  );
}
