import {
  anyErrorText,
  firstCodePoints,
  formatPoints,
  linesOf,
  problemId,
  shorten,
  UNREADABLE,
  wordsOf,
} from '@liaozhai/shared/format';
import { useSelector } from '@liaozhai/shared/runtime';
import {
  Avatar,
  BackIcon,
  ChevronRightIcon,
  Foreign,
  IconButton,
  Passages,
  ProblemCode,
  RefreshIcon,
  StoryText,
  useCountdown,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo, type PointerEvent, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
import { resumePrice, selectLacksPoints } from '../api/purchases';
import { isRunning, isUnfinished, type Message } from '../model/message';
import { hadNoResponse, messagesLackingPoints, type PendingMessage, risenPrice } from '../model/pendingMessage';
import type { Story } from '../model/story';
import { selectChat } from '../slice';
import { texts } from '../texts';
import { Gliding } from './ChatLog';
import styles from './MessageRow.module.css';
import type { ChatActions } from './useChatActions';

interface MessageRowProps {
  message: Message;
  /** Heading of the day that begins with this message. */
  day: string | undefined;
  /** Only the last reply can be continued. */
  isLast: boolean;
  /** Whether the server supports `messages.regenerate`. */
  canRetell: boolean;
  /** A change of this reply is being ordered. */
  isHeld: boolean;
  story: Story;
  actions: ChatActions;
}

export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { day, ...rest } = props;
  const { message, actions } = rest;
  return (
    <>
      {day && <p className={styles.day}>{day}</p>}
      {message.role === 'user' && <OwnMessage body={message.body} onMore={() => actions.openMenu(message)} />}
      {message.role === 'system' && <p className={styles.system}>{message.body}</p>}
      {message.role === 'assistant' && <VoiceMessage {...rest} />}
    </>
  );
});

export type Waiting = 'sending' | 'queued' | 'offline' | 'unreachable' | 'login' | 'behind';

interface PendingRowProps {
  pending: PendingMessage;
  waiting: Waiting;
  actions: ChatActions;
}

export const PendingRow = memo(function PendingRow({ pending, waiting, actions }: PendingRowProps) {
  const shownWait = pending.state === 'sending' ? 'sending' : waiting;
  const state = <PendingState pending={pending} waiting={shownWait} actions={actions} />;
  return <OwnMessage body={pending.body} state={state} onMore={() => actions.openMenu(pending)} />;
});

/** Delivery status of an unconfirmed message, with a button if sending failed. */
function PendingState({ pending, waiting, actions }: PendingRowProps) {
  const pause = useSelector((state) => selectChat(state).pauses[pending.storyId]);
  const newPrice = risenPrice(pending.error);
  if (pending.state === 'failed') {
    return (
      <p className={styles.failed} role="alert">
        <span>{failureText(pending)}</span>
        {pending.error?.kind === 'insufficientBalance' ? (
          <PointsActions pending={pending} cost={pending.error.required} actions={actions} />
        ) : (
          <StateButton onPress={() => actions.retry(pending)}>
            {newPrice === undefined ? texts.chat.retry : texts.price.send(formatPoints(newPrice))}
          </StateButton>
        )}
        <ProblemCode id={problemId(pending.error)} />
      </p>
    );
  }
  return (
    <p className={styles.state}>
      {pause && pending.state === 'waiting' && waiting === 'sending' ? (
        <Countdown key={pause.until} {...pause} />
      ) : (
        <span>{texts.state[waiting]}</span>
      )}
      {waiting === 'login' && <StateButton onPress={actions.login}>{texts.state.toLogin}</StateButton>}
    </p>
  );
}

/** Below the first message that failed for lack of points: a way to get some, and one retry for it and all messages after it. */
function PointsActions({ pending, cost, actions }: Omit<PendingRowProps, 'waiting'> & { cost: number }) {
  const { storyId, clientId } = pending;
  // cost 0: the server reported the lack without figures, so the page cannot check it
  const lacksPoints = useSelector((state) => cost === 0 || selectLacksPoints(state, storyId, cost));
  const count = useSelector((state) => {
    const heldMessages = messagesLackingPoints(storyId, selectChat(state).pending);
    return heldMessages[0]?.clientId === clientId ? heldMessages.length : 0;
  });
  if (count === 0) return null;
  return (
    <>
      {lacksPoints && <StateButton onPress={() => actions.getPoints(cost)}>{texts.points.get}</StateButton>}
      <StateButton onPress={() => actions.retry(pending)}>
        {count > 1 ? texts.points.resendAll(count) : texts.chat.retry}
      </StateButton>
    </>
  );
}

function Countdown({ until, isOverloaded }: { until: number; isOverloaded: boolean }) {
  const [seconds] = useCountdown(() => (until - performance.now()) / 1000);
  return <span>{seconds > 0 ? texts.state.later(seconds, isOverloaded) : texts.state.sending}</span>;
}

function failureText(pending: PendingMessage): string {
  if (hadNoResponse(pending)) return texts.state.unknown;
  const newPrice = risenPrice(pending.error);
  if (newPrice !== undefined) return texts.price.each(formatPoints(newPrice));
  return pending.error ? anyErrorText(pending.error) : texts.state.failed;
}

/** A text button inside a status line, with a target larger than its text. */
const StateButton = ({ children, onPress }: { children: ReactNode; onPress: () => void }) => (
  <button type="button" className={styles.act} onClick={onPress} data-foot>
    {children}
  </button>
);

interface OwnMessageProps {
  body: string;
  /** Delivery status, shown below, until the server has confirmed the message; the bubble is paler until then. */
  state?: ReactNode;
  onMore: () => void;
}

/** The user's own message, in a bubble at the right. */
const OwnMessage = memo(function OwnMessage({ body, state, onMore }: OwnMessageProps) {
  const longPress = useLongPress(onMore);
  return (
    <article {...longPress} className={styles.own} aria-label={texts.chat.me}>
      <div className={styles.line}>
        <MoreButton author={texts.chat.me} body={body} onPress={onMore} />
        <div className={styles.bubble} data-confirmed={state === undefined}>
          {body.split('\n').map((line, order) => (
            <TextLine key={`line-${order.toString()}`} line={line} isCut={false} />
          ))}
        </div>
      </div>
      {state}
    </article>
  );
});

type VoiceMessageProps = Omit<MessageRowProps, 'day'>;

/** A reply, set as text without a bubble, under its speaker's name. */
const VoiceMessage = memo(function VoiceMessage(props: VoiceMessageProps) {
  const { message, isLast, canRetell, actions } = props;
  const { speaker } = props.story;
  const onMore = () => actions.openMenu(message);
  const longPress = useLongPress(onMore);
  return (
    <article {...longPress} className={styles.voice} aria-label={speaker.name}>
      <header className={styles.head}>
        <Avatar name={speaker.name} src={speaker.avatarUrl} size="small" decorative />
        <span className={styles.name}>
          <Foreign>{speaker.name}</Foreign>
          <small className={styles.origin}>{texts.chat.origin}</small>
        </span>
        {message.body !== '' && <MoreButton author={speaker.name} body={message.body} onPress={onMore} />}
      </header>
      {message.body !== '' && (
        <MessageText text={message.body} isGrowing={isRunning(message)} isCut={isUnfinished(message)} />
      )}
      <ReplyState {...props} />
      {isLast && canRetell && !isRunning(message) && <Retell {...props} />}
    </article>
  );
});

interface MessageTextProps {
  text: string;
  /** Shows a caret, since more text will follow. */
  isGrowing?: boolean;
  /** The text may be incomplete, so an unclosed markup span at its end still applies. */
  isCut?: boolean;
}

/** Renders story text as React nodes, never as HTML. While the text grows, only its last line is parsed again. */
export const MessageText = memo(function MessageText({ text, isGrowing = false, isCut = isGrowing }: MessageTextProps) {
  const lines = linesOf(text);
  return (
    <StoryText className={clsx(isGrowing && styles.growing)}>
      {lines.map((line, order) => (
        <TextLine key={`line-${order.toString()}`} line={line} isCut={isCut && order === lines.length - 1} />
      ))}
    </StoryText>
  );
});

const TextLine = memo(function TextLine({ line, isCut }: { line: string; isCut: boolean }) {
  return (
    <p>
      <Passages line={line} growing={isCut} />
    </p>
  );
});

const WATCHDOG_SECONDS = 30;

/** Status of a reply: queued, being written, stalled, stopped or failed. */
function ReplyState({ message, isLast, canRetell, story, actions }: VoiceMessageProps) {
  const isStalled = useStalled(message);
  if (isRunning(message) && isStalled) {
    return (
      <p className={styles.replyState}>
        <span>{texts.state.stalled}</span>
        <StateButton onPress={actions.refresh}>{texts.state.look}</StateButton>
      </p>
    );
  }
  if (message.status === 'pending' || (message.status === 'streaming' && message.body === '')) {
    return (
      <p className={styles.replyState}>
        <span className={styles.dots} aria-hidden="true" />
        <span>{message.status === 'pending' ? texts.state.pending : texts.state.streaming}</span>
      </p>
    );
  }
  if (message.status === 'completed' && message.body === '') return <p className={styles.replyState}>{UNREADABLE}</p>;
  if (message.status !== 'failed' && message.status !== 'cancelled') return null;
  const cost = resumePrice(message, story.pricePerMessage);
  const canContinue = isLast && !(canRetell && isUnwritten(message));
  return (
    <p className={styles.replyState}>
      <span>
        {message.status === 'cancelled' ? texts.state.cancelled : message.errorText || texts.state.interrupted}
      </span>
      {canContinue && (
        <StateButton onPress={() => actions.resume(message, cost)}>
          {withPrice(message.body === '' ? texts.retell.again : texts.resume.label, cost)}
        </StateButton>
      )}
    </p>
  );
}

/** A reply that was stopped before its first word cannot be continued. */
const isUnwritten = ({ status, body }: Message): boolean => status === 'cancelled' && body === '';

const withPrice = (label: string, price: number | undefined): string =>
  price === undefined ? label : texts.retell.priced(label, formatPoints(price));

/** Below the last reply: its variants, and 换一种说法 with the price. */
function Retell({ message, isHeld, story, actions }: VoiceMessageProps) {
  const { variant, variants } = message;
  const label = isUnwritten(message) ? texts.retell.again : texts.retell.label;
  return (
    <div className={styles.retell} data-foot>
      {variants > 1 && (
        <div className={styles.variants}>
          <IconButton
            label={texts.retell.former}
            icon={<BackIcon size={18} />}
            disabled={isHeld || variant <= 1}
            onClick={() => actions.choose(message, variant - 1)}
          />
          <span role="img" aria-label={texts.retell.countName(variant, variants)} translate="no">
            {texts.retell.count(variant, variants)}
          </span>
          <IconButton
            label={texts.retell.next}
            icon={<ChevronRightIcon size={18} />}
            disabled={isHeld || variant >= variants}
            onClick={() => actions.choose(message, variant + 1)}
          />
        </div>
      )}
      <button type="button" className={styles.again} disabled={isHeld} onClick={() => actions.retell(message)}>
        <RefreshIcon size={14} />
        <span>{withPrice(label, story.pricePerMessage)}</span>
      </button>
    </div>
  );
}

/** True once a running reply has not changed for `WATCHDOG_SECONDS`, so that its dots do not run for ever. */
function useStalled(message: Message): boolean {
  const [stalledAt, setStalledAt] = useState<string | null>(null);
  const progress = `${message.revision}:${message.length}:${message.status}`;
  const isReplyRunning = isRunning(message);
  useEffect(() => {
    if (!isReplyRunning) return;
    const timer = setTimeout(() => setStalledAt(progress), WATCHDOG_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [progress, isReplyRunning]);
  return stalledAt === progress;
}

const LABEL_CHARACTERS = 12;
/** Larger than the shown part, since markup and blanks are removed. */
const PARSED_CHARACTERS = 40;

/**
 * Opens the same menu as a long press, for mouse, keyboard and screen reader, whose users identify the message by the label. A
 * glyph instead of an icon, since a log has many.
 */
function MoreButton({ author, body, onPress }: { author: string; body: string; onPress: () => void }) {
  const words = wordsOf(firstCodePoints(body.trimStart(), PARSED_CHARACTERS), true).replace(/\s+/gu, ' ');
  const label = texts.chat.more(author, shorten(words, LABEL_CHARACTERS));
  return (
    <button type="button" className={styles.more} aria-label={label} aria-haspopup="dialog" onClick={onPress}>
      ⋯
    </button>
  );
}

const LONG_PRESS_MS = 450;
const MOVE_TOLERANCE_PX = 8;

/** Returns handlers that detect a long press by touch or pen; mouse users have buttons. */
function useLongPress(onLongPress: () => void) {
  const latestHandler = useRef(onLongPress);
  latestHandler.current = onLongPress;
  const isGliding = use(Gliding);
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let start = { x: 0, y: 0 };
    const cancel = () => clearTimeout(timer);
    return {
      onPointerDown(event: PointerEvent) {
        if (event.pointerType === 'mouse' || !event.isPrimary || isGliding()) return;
        start = { x: event.clientX, y: event.clientY };
        cancel();
        timer = setTimeout(() => latestHandler.current(), LONG_PRESS_MS);
      },
      onPointerMove(event: PointerEvent) {
        if (Math.hypot(event.clientX - start.x, event.clientY - start.y) > MOVE_TOLERANCE_PX) cancel();
      },
      onPointerUp: cancel,
      onPointerCancel: cancel,
    };
  }, [isGliding]);
}
