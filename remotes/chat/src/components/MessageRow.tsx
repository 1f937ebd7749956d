import { anyErrorText, linesOf } from '@liaozhai/shared/format';
import { Link, paths, useSelector } from '@liaozhai/shared/runtime';
import {
  Avatar,
  ContinueIcon,
  CopyIcon,
  DeleteIcon,
  EditIcon,
  ListRow,
  Passages,
  RefreshIcon,
  Sheet,
  StoryText,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { Log } from '../model/log';
import { hadNoAnswer, type Line } from '../model/pendingMessage';
import type { Speaker } from '../model/story';
import { isRunning, type Message } from '../model/thread';
import { selectChat } from '../slice';
import { texts } from '../texts';
import type { ChatActs } from './ChatView';
import styles from './MessageRow.module.css';

export interface MessageActs {
  openMenu: (message: Message) => void;
  look: () => void;
  resume: (message: Message) => void;
}

interface MessageRowProps {
  message: Message;
  /** The heading of the day that begins here. */
  day: string | undefined;
  /** Only the last reply can go on. */
  isLast: boolean;
  speaker: Speaker;
  acts: MessageActs;
}

/** A confirmed message, under its day where a day begins. */
export const MessageRow = memo(function MessageRow({ message, day, isLast, speaker, acts }: MessageRowProps) {
  return (
    <>
      {day && <p className={styles.day}>{day}</p>}
      {message.role === 'user' && <OwnMessage body={message.body} isConfirmed onMore={() => acts.openMenu(message)} />}
      {message.role === 'system' && <p className={styles.system}>{message.body}</p>}
      {message.role === 'assistant' && (
        <VoiceMessage
          message={message}
          speaker={speaker}
          onMore={acts.openMenu}
          onLook={acts.look}
          onContinue={isLast ? acts.resume : undefined}
        />
      )}
    </>
  );
});

interface LineActs {
  openMenu: (line: Line) => void;
  retry: (line: Line) => void;
  login: () => void;
}

interface LineRowProps {
  line: Line;
  waiting: Waiting;
  acts: LineActs;
}

/** A line on its way, with how far it has come. */
export const LineRow = memo(function LineRow({ line, waiting, acts }: LineRowProps) {
  const state = (
    <LineState
      line={line}
      waiting={line.state === 'sending' ? 'sending' : waiting}
      onRetry={() => acts.retry(line)}
      onLogin={acts.login}
    />
  );
  return <OwnMessage body={line.body} isConfirmed={false} state={state} onMore={() => acts.openMenu(line)} />;
});

interface OwnMessageProps {
  body: string;
  /** Whether the server has it; until then the bubble is paler. */
  isConfirmed: boolean;
  /** The line below: how far it has come. */
  state?: ReactNode;
  onMore: () => void;
}

/** The reader's own words, a bubble at the right. */
const OwnMessage = memo(function OwnMessage({ body, isConfirmed, state, onMore }: OwnMessageProps) {
  const longPress = useLongPress(onMore);
  return (
    <article {...longPress} className={styles.own} aria-label={texts.chat.me}>
      <div className={styles.line}>
        <MoreButton onPress={onMore} />
        <div className={styles.bubble} data-confirmed={isConfirmed}>
          {body.split('\n').map((line, order) => (
            <p key={`line-${order.toString()}`}>
              <Passages line={line} />
            </p>
          ))}
        </div>
      </div>
      {state}
    </article>
  );
});

interface VoiceMessageProps {
  message: Message;
  speaker: Speaker;
  onMore: (message: Message) => void;
  onLook: () => void;
  onContinue?: (message: Message) => void;
}

/** A reply: the story's voice, set as text on paper under its speaker's name. */
const VoiceMessage = memo(function VoiceMessage(props: VoiceMessageProps) {
  const { message, speaker, onMore, onLook, onContinue } = props;
  const longPress = useLongPress(() => onMore(message));
  return (
    <article {...longPress} className={styles.voice} aria-label={speaker.name}>
      <header className={styles.head}>
        <Avatar name={speaker.name} src={speaker.avatarUrl} size="small" decorative />
        <span className={styles.name}>{speaker.name}</span>
        {message.body !== '' && <MoreButton onPress={() => onMore(message)} />}
      </header>
      {message.body !== '' && <MessageText text={message.body} growing={isRunning(message)} />}
      <ReplyState message={message} onLook={onLook} onContinue={onContinue} />
    </article>
  );
});

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

/** Why a line that waits is waiting. */
export type Waiting = 'sending' | 'queued' | 'offline' | 'login';

interface LineStateProps {
  line: Line;
  waiting: Waiting;
  onRetry: () => void;
  onLogin: () => void;
}

/** How far an unconfirmed line has come, and what can be done when it came no further. */
function LineState({ line, waiting, onRetry, onLogin }: LineStateProps) {
  const resumesAt = useSelector((state) => selectChat(state).resumesAt[line.storyId]);
  if (line.state === 'failed') {
    return (
      <p className={styles.failed} role="alert">
        {failureText(line)}
        {line.error?.kind === 'insufficientBalance' && (
          <Link className={styles.link} to={paths.recharge()}>
            {texts.state.recharge}
          </Link>
        )}
        <StateButton onPress={onRetry}>{texts.chat.retry}</StateButton>
      </p>
    );
  }
  if (waiting === 'login') {
    return (
      <p className={styles.state}>
        {texts.state.login}
        <StateButton onPress={onLogin}>{texts.state.toLogin}</StateButton>
      </p>
    );
  }
  return (
    <p className={styles.state}>
      {resumesAt !== undefined && line.state === 'waiting' && waiting === 'sending' ? (
        <Countdown until={resumesAt} />
      ) : (
        texts.state[waiting]
      )}
    </p>
  );
}

function Countdown({ until }: { until: number }) {
  const seconds = Math.ceil((until - useNow(1000)) / 1000);
  return seconds > 0 ? texts.state.later(seconds) : texts.state.sending;
}

function failureText(line: Line): string {
  if (hadNoAnswer(line)) return texts.state.unknown;
  return line.error ? anyErrorText(line.error) : texts.state.failed;
}

const WATCHDOG_SECONDS = 30;

interface ReplyStateProps {
  message: Message;
  onLook: () => void;
  /** Given for the last reply, which alone can go on. */
  onContinue?: ((message: Message) => void) | undefined;
}

/** What is truly going on with a reply: queued, being written, silent for too long, broken off. */
function ReplyState({ message, onLook, onContinue }: ReplyStateProps) {
  const isStalled = useStalled(message);
  if (isRunning(message) && isStalled) {
    return (
      <p className={styles.replyStateState}>
        {texts.state.stalled}
        <StateButton onPress={onLook}>{texts.state.look}</StateButton>
      </p>
    );
  }
  if (message.status === 'pending' || (message.status === 'streaming' && message.body === '')) {
    return (
      <p className={styles.replyStateState}>
        <span className={styles.dots} aria-hidden="true" />
        {message.status === 'pending' ? texts.state.pending : texts.state.streaming}
      </p>
    );
  }
  if (message.status === 'cancelled') return <p className={styles.replyStateState}>{texts.state.cancelled}</p>;
  if (message.status !== 'failed') return null;
  return (
    <p className={styles.replyStateState}>
      {message.errorText || texts.state.interrupted}
      {onContinue && <StateButton onPress={() => onContinue(message)}>{texts.resume.label}</StateButton>}
    </p>
  );
}

/** True once a running reply has not moved for half a minute: dots must not go on for ever. */
function useStalled(message: Message): boolean {
  const [stalledAt, setStalledAt] = useState<string | null>(null);
  const progress = `${message.revision}:${message.length}:${message.status}`;
  const running = isRunning(message);
  useEffect(() => {
    if (!running) return;
    const timer = setTimeout(() => setStalledAt(progress), WATCHDOG_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [progress, running]);
  return stalledAt === progress;
}

/** A small act inside a line of state; its target is larger than its face. */
const StateButton = ({ children, onPress }: { children: ReactNode; onPress: () => void }) => (
  <button type="button" className={styles.act} onClick={onPress}>
    {children}
  </button>
);

interface MenuAct {
  label: string;
  icon: ReactNode;
  run: () => void;
}

interface MessageMenuProps {
  /** null while closed. */
  acts: MenuAct[] | null;
  onClose: () => void;
}

/** What can be done with one message: one sheet for the whole log. */
export const MessageMenu = ({ acts, onClose }: MessageMenuProps) => (
  <Sheet open={acts !== null} onClose={onClose} title={texts.chat.more}>
    {acts?.map(({ label, icon, run }) => (
      <ListRow
        key={label}
        title={label}
        icon={icon}
        onClick={() => {
          onClose();
          run();
        }}
      />
    ))}
  </Sheet>
);

const SIZE = 20;

/** What the menu was opened for as it is now, since a line may go out under the open menu; null once it is gone. */
export function currentTarget(opened: Message | Line, log: Log): Message | Line | null {
  const { clientId } = opened;
  const line = 'state' in opened ? log.lines.find((each) => each.clientId === clientId) : undefined;
  const isSame = (message: Message) => ('state' in opened ? message.clientId === clientId : message.id === opened.id);
  return line ?? log.messages.findLast(isSame) ?? null;
}

export function messageActs(message: Message, acts: ChatActs, isLast: boolean): MenuAct[] {
  const copy = { label: texts.chat.copy, icon: <CopyIcon size={SIZE} />, run: () => acts.copy(message.body) };
  const mayGoOn = isLast && message.role === 'assistant' && !isRunning(message);
  if (!mayGoOn) return [copy];
  return [copy, { label: texts.resume.label, icon: <ContinueIcon size={SIZE} />, run: () => acts.resume(message) }];
}

/** One that is being sent can only be copied: what becomes of it is not ours to say. */
export function lineActs(line: Line, acts: ChatActs, edit: (text: string) => void): MenuAct[] {
  const copy = { label: texts.chat.copy, icon: <CopyIcon size={SIZE} />, run: () => acts.copy(line.body) };
  if (line.state === 'sending') return [copy];
  const takeBack = () => {
    if (acts.remove(line)) edit(line.body);
  };
  return [
    ...(line.state === 'failed'
      ? [{ label: texts.chat.resend, icon: <RefreshIcon size={SIZE} />, run: () => acts.retry(line) }]
      : []),
    copy,
    { label: texts.chat.edit, icon: <EditIcon size={SIZE} />, run: takeBack },
    { label: texts.chat.remove, icon: <DeleteIcon size={SIZE} />, run: () => acts.remove(line) },
  ];
}

/** The ⋯ of a message: what a long press opens, for mice, keyboards and screen readers. A glyph, since a log has many. */
const MoreButton = ({ onPress }: { onPress: () => void }) => (
  <button type="button" className={styles.more} aria-label={texts.chat.more} aria-haspopup="dialog" onClick={onPress}>
    ⋯
  </button>
);

const HOLD_MS = 450;
const STILL_PX = 8;

/** Handlers that call back when a finger rests on the element; a mouse has buttons for that. */
function useLongPress(onLongPress: () => void) {
  const latest = useRef(onLongPress);
  latest.current = onLongPress;
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let from = { x: 0, y: 0 };
    const end = () => clearTimeout(timer);
    return {
      onPointerDown(event: PointerEvent) {
        if (event.pointerType === 'mouse' || !event.isPrimary) return;
        from = { x: event.clientX, y: event.clientY };
        end();
        timer = setTimeout(() => latest.current(), HOLD_MS);
      },
      onPointerMove(event: PointerEvent) {
        if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL_PX) end();
      },
      onPointerUp: end,
      onPointerCancel: end,
    };
  }, []);
}

const MINUTE_MS = 60_000;

/** The time, epoch ms, told anew each minute for texts such as 5 分钟前, or as often as asked for. */
export function useNow(everyMs = MINUTE_MS): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
