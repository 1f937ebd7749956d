import { anyErrorText, problemId } from '@liaozhai/shared/format';
import { isApiError, type Position } from '@liaozhai/shared/runtime';
import {
  ArrowDownIcon,
  ArrowUpIcon,
  ErrorRow,
  flushSync,
  listenTo,
  media,
  RowBoundary,
  Spinner,
  stopAll,
} from '@liaozhai/shared/ui';
import {
  createContext,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { threadSyncs } from '../api/threadSync';
import { indexOfKey, type Log, type Row, rowAt, rowCount } from '../model/log';
import type { Thread } from '../model/thread';
import { texts } from '../texts';
import styles from './ChatLog.module.css';
import { StickToBottom, useStickToBottom } from './stickToBottom';
import {
  firstOffset,
  type LogVirtualizer,
  storedPosition,
  usePlacing,
  usePositionSaving,
  useVirtualLog,
} from './virtualLog';

const OLDER_MARK_PX = 64;
/** Older messages are fetched when fewer screens than this are left above. */
const SCREENS_AHEAD = 2;

/** Focusable, since it scrolls. Not a live region, since `ReplyAnnouncer` announces replies. */
const logRegion = { role: 'log', tabIndex: 0, 'aria-live': 'off', 'aria-label': texts.chat.log } as const;

/** Whether the log is still scrolling by momentum after a touch. */
export const Gliding = createContext<() => boolean>(() => false);

export interface ChatLogProps {
  conversationId: string | null;
  log: Log;
  /** Shows the device's copy of the conversation, until the server has responded. */
  isCopy: boolean;
  older: Older;
  /** Messages after the last row, if that is not the end of the conversation. */
  newer?: Newer | undefined;
  /** Row to scroll to and to mark. */
  target?: Target | undefined;
  children: (row: Row) => ReactNode;
}

export interface Target {
  /** A new object with the same key scrolls to it once more. */
  key: string;
}

/** The conversation as a virtual list: about twenty of possibly ten thousand rows are mounted. */
export const ChatLog = memo(function ChatLog(props: ChatLogProps) {
  const { conversationId, log, isCopy, older, newer, target, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [position] = useState(() => storedPosition(conversationId));
  const [stick] = useState(() => new StickToBottom(startsAtEnd(log, position)));
  const view = useSyncExternalStore(stick.subscribe, stick.state);
  const paddingStart = older.hasOlder ? OLDER_MARK_PX : 0;
  const list = useVirtualLog(log, scroller, stick, paddingStart, () =>
    isBlank(log) ? 0 : firstOffset(log, position, paddingStart),
  );
  const isOpenEnded = newer !== undefined;
  useLayoutEffect(() => stick.setOpenEnded(isOpenEnded), [stick, isOpenEnded]);
  useStickToBottom(stick, list, log, isCopy);
  usePlacing(list, log, position);
  useTarget(list, log, stick, target);
  const saveSoon = usePositionSaving(list, conversationId, stick);

  const loadIfNear = useCallback(() => {
    if (!scroller.current) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller.current;
    const nearPx = clientHeight * SCREENS_AHEAD;
    if (older.hasOlder && scrollTop < nearPx) older.load();
    if (newer && scrollHeight - scrollTop - clientHeight < nearPx) newer.load();
  }, [older, newer]);
  useEffect(() => {
    if (log.messages.length > 0) loadIfNear();
  }, [loadIfNear, log.messages]);
  const onScroll = () => {
    stick.handleScroll();
    saveSoon();
    loadIfNear();
  };
  const goToEnd = () => {
    stick.pin();
    if (newer) return newer.leave();
    list.scrollToEnd({ behavior: view.unseen ? 'auto' : 'smooth' });
  };
  const firstUnsent = findUnsent(log);
  const goToUnsent = () => {
    stick.release();
    list.scrollToIndex(firstUnsent.index, { align: 'start' });
  };

  return (
    <Gliding value={stick.isGliding}>
      <div className={styles.frame}>
        <div {...logRegion} ref={scroller} className={styles.scroller} onScroll={onScroll}>
          {older.hasOlder && <OlderMark older={older} />}
          <div ref={list.containerRef} className={styles.rows}>
            {list.getVirtualItems().map(({ key, index }) => {
              const row = rowAt(log, index);
              return (
                <div
                  key={key}
                  data-index={index}
                  data-found={target !== undefined && key === target.key}
                  ref={list.measureElement}
                  className={styles.row}
                >
                  {row && <RowBoundary of={row}>{children}</RowBoundary>}
                </div>
              );
            })}
          </div>
        </div>
        {firstUnsent.count > 0 && firstUnsent.index < (list.range?.startIndex ?? 0) && (
          <UnsentPill count={firstUnsent.count} onPress={goToUnsent} />
        )}
        {(!view.atEnd || isOpenEnded) && !isBlank(log) && <ToEndPill isNew={view.unseen} onPress={goToEnd} />}
      </div>
      <PrintedLog log={log}>{children}</PrintedLog>
    </Gliding>
  );
});

/** Renders all loaded rows in the document flow for printing. */
function PrintedLog({ log, children }: Pick<ChatLogProps, 'log' | 'children'>) {
  const isPrinting = usePrinting();
  if (!isPrinting) return null;
  return (
    <div {...logRegion} className={styles.printed}>
      {Array.from({ length: rowCount(log) }, (_, index) => {
        const row = rowAt(log, index);
        return (
          row && (
            <div key={row.key}>
              <RowBoundary of={row}>{children}</RowBoundary>
            </div>
          )
        );
      })}
    </div>
  );
}

/** Whether the page is being printed. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const printMedia = media('print');
    // the rows must be rendered before the handler returns: Firefox captures the page before any microtask
    const show = (isBegun: boolean) => flushSync(() => setPrinting(isBegun));
    return stopAll(
      listenTo(window, ['beforeprint'], () => show(true)),
      listenTo(window, ['afterprint'], () => show(false)),
      listenTo(printMedia, ['change'], () => show(printMedia.matches)),
    );
  }, []);
  return isPrinting;
}

/** Only the opening, which is read from its beginning. */
const isBlank = ({ messages, pending }: Log) => messages.length + pending.length === 0;

const startsAtEnd = (log: Log, position: Position | undefined) =>
  !isBlank(log) && (position === undefined || indexOfKey(log, position.messageId) < 0);

/** Shown above the first row while older ones are loading. */
const OlderMark = ({ older }: { older: Older }) => (
  <div className={styles.older}>
    {older.error === undefined ? (
      <Spinner label={texts.chat.loadingOlder} />
    ) : (
      <ErrorRow text={anyErrorText(older.error)} problem={problemId(older.error)} onRetry={older.retry} />
    )}
  </div>
);

/** Scrolls back to the end; labelled if new messages are there. */
function ToEndPill({ isNew, onPress }: { isNew: boolean; onPress: () => void }) {
  const label = isNew ? texts.chat.newMessages : texts.chat.toEnd;
  return (
    <button type="button" className={styles.pill} data-new={isNew} aria-label={label} onClick={onPress}>
      <ArrowDownIcon size={18} />
      {isNew && <span>{label}</span>}
    </button>
  );
}

/** The row of the first failed message, and how many unsent messages start with it, since none overtakes it. */
function findUnsent(log: Log): { index: number; count: number } {
  const failed = log.pending.findIndex(({ state }) => state === 'failed');
  const count = failed < 0 ? 0 : log.pending.length - failed;
  return { index: rowCount(log) - count, count };
}

/** Scrolls up to the failed message while only the messages that wait after it are visible. */
const UnsentPill = ({ count, onPress }: { count: number; onPress: () => void }) => (
  <button type="button" className={styles.pill} data-unsent onClick={onPress}>
    <ArrowUpIcon size={18} />
    <span>{texts.chat.unsent(count)}</span>
  </button>
);

/** Scrolls to the target row once it is loaded, and stops following the end. */
function useTarget(list: LogVirtualizer, log: Log, stick: StickToBottom, target: Target | undefined): void {
  const reachedTarget = useRef<Target | undefined>(undefined);
  useLayoutEffect(() => {
    const index = target && target !== reachedTarget.current ? indexOfKey(log, target.key) : -1;
    if (index < 0) return;
    reachedTarget.current = target;
    stick.release();
    list.scrollToIndex(index, { align: 'start' });
  }, [list, log, stick, target]);
}

export interface Newer {
  /** Loads one page at a time. */
  load: () => void;
  /** Returns to the end of the conversation. */
  leave: () => void;
}

export interface Older {
  hasOlder: boolean;
  /** Failure of the last request; only `retry` starts the next. */
  error: unknown;
  load: () => void;
  retry: () => void;
}

/** Loads the pages before the first loaded message. */
export function useOlder({ storyId, hasOlder }: Thread): Older {
  const [error, setError] = useState<unknown>(undefined);
  const retry = useCallback(() => {
    setError(undefined);
    void threadSyncs
      .of(storyId)
      ?.loadOlder()
      .catch((cause: unknown) => {
        if (!isApiError(cause)) throw cause;
        setError(cause);
      });
  }, [storyId]);
  const load = useCallback(() => {
    if (error === undefined) retry();
  }, [error, retry]);
  return useMemo(() => ({ hasOlder, error, load, retry }), [hasOlder, error, load, retry]);
}
