import { anyErrorText, linesOf, problemId } from '@liaozhai/shared/format';
import { isApiError, type Position, positions } from '@liaozhai/shared/runtime';
import { ArrowDownIcon, ArrowUpIcon, ErrorRow, RowBoundary, Spinner } from '@liaozhai/shared/ui';
import { observeElementRect, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  createContext,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { threadSyncs } from '../api/threadSync';
import { contentAt, indexOfKey, type Log, type Row, rowAt, rowCount, rowKeyAt } from '../model/log';
import type { Thread } from '../model/thread';
import { texts } from '../texts';
import styles from './ChatLog.module.css';
import { StickToBottom, useStickToBottom } from './useStickToBottom';

const OLDER_MARK_PX = 64;
/** Older messages are fetched when fewer screens than this are left above. */
const SCREENS_AHEAD = 2;

/** Reachable by keyboard, since it scrolls; silent, since ReplyAnnouncer speaks for it. */
const logRegion = { role: 'log', tabIndex: 0, 'aria-live': 'off', 'aria-label': texts.chat.log } as const;

/** Whether the log is gliding on under the finger. */
export const Gliding = createContext<() => boolean>(() => false);

export interface ChatLogProps {
  conversationId: string | null;
  log: Log;
  /** The device's copy of the conversation, which shows until the server has answered. */
  isCopy: boolean;
  older: Older;
  /** What comes after the last row, where that is not the end of the conversation. */
  newer?: Newer | undefined;
  /** The row to go to and to mark. */
  target?: Target | undefined;
  children: (row: Row) => ReactNode;
}

export interface Target {
  /** A new object goes there once more. */
  key: string;
}

/** The conversation as a list of ten thousand rows of which some twenty exist. */
export const ChatLog = memo(function ChatLog(props: ChatLogProps) {
  const { conversationId, log, isCopy, older, newer, target, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [position] = useState(() => storedPosition(conversationId));
  const [stick] = useState(() => new StickToBottom(startsAtEnd(log, position)));
  const view = useSyncExternalStore(stick.subscribe, stick.state);
  const paddingStart = older.hasOlder ? OLDER_MARK_PX : 0;
  const list = useVirtualLog({
    log,
    scroller,
    paddingStart,
    initialOffset: () => (isBlank(log) ? 0 : firstOffset(log, position, paddingStart)),
    onResized: stick.follow,
    onViewResized: stick.viewResized,
    onPlaced: stick.placed,
  });
  const isOpenEnded = newer !== undefined;
  useLayoutEffect(() => stick.setOpenEnded(isOpenEnded), [stick, isOpenEnded]);
  useStickToBottom(stick, list, log, isCopy);
  usePlacing(list, log, position);
  useTarget(list, log, stick, target);
  const saveSoon = usePositionSaving(
    list,
    conversationId,
    useCallback(() => stick.state().atEnd, [stick]),
  );

  const askOlder = useCallback(() => {
    const element = scroller.current;
    if (older.hasOlder && element && element.scrollTop < element.clientHeight * SCREENS_AHEAD) older.load();
  }, [older]);
  useEffect(() => {
    if (log.messages.length > 0) askOlder();
  }, [askOlder, log.messages]);
  const askNewer = useCallback(() => {
    const element = scroller.current;
    if (!newer || !element) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    if (scrollHeight - scrollTop - clientHeight < clientHeight * SCREENS_AHEAD) newer.load();
  }, [newer]);
  useEffect(askNewer, [askNewer]);
  const onScroll = () => {
    stick.scrolled();
    saveSoon();
    askOlder();
    askNewer();
  };
  const goToEnd = () => {
    stick.pin();
    if (newer) return newer.leave();
    list.scrollToEnd({ behavior: view.unseen ? 'auto' : 'smooth' });
  };
  const unsent = unsentFrom(log);
  const goToUnsent = () => {
    stick.release();
    list.scrollToIndex(unsent.index, { align: 'start' });
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
        {unsent.count > 0 && unsent.index < (list.range?.startIndex ?? 0) && (
          <UnsentPill count={unsent.count} onPress={goToUnsent} />
        )}
        {(!view.atEnd || isOpenEnded) && !isBlank(log) && <ToEndPill isNew={view.unseen} onPress={goToEnd} />}
      </div>
      <PrintedLog log={log}>{children}</PrintedLog>
    </Gliding>
  );
});

/** On paper every loaded row stands below the one before it. */
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

function createPrinting() {
  let isPrinting = false;
  return {
    current: () => isPrinting,
    subscribe(onChange: () => void) {
      const over = new AbortController();
      const paper = matchMedia('print');
      const hear = (target: EventTarget, type: string, read: () => boolean) =>
        target.addEventListener(
          type,
          () => {
            isPrinting = read();
            onChange();
          },
          { signal: over.signal },
        );
      hear(window, 'beforeprint', () => true);
      hear(window, 'afterprint', () => false);
      hear(paper, 'change', () => paper.matches);
      return () => over.abort();
    },
  };
}

/** Whether the page is being put on paper. What it draws then has to be there before the event is over. */
function usePrinting(): boolean {
  const [printing] = useState(createPrinting);
  return useSyncExternalStore(printing.subscribe, printing.current);
}

/** Nothing but the opening, which is read from its beginning. */
const isBlank = ({ messages, pending }: Log) => messages.length + pending.length === 0;

const startsAtEnd = (log: Log, position: Position | undefined) =>
  !isBlank(log) && (position === undefined || indexOfKey(log, position.messageId) < 0);

/** Above the first row while older ones are on their way. */
const OlderMark = ({ older }: { older: Older }) => (
  <div className={styles.older}>
    {older.error === undefined ? (
      <Spinner label={texts.chat.loadingOlder} />
    ) : (
      <ErrorRow text={anyErrorText(older.error)} problem={problemId(older.error)} onRetry={older.retry} />
    )}
  </div>
);

/** Scrolls back to the end, for a reader who has scrolled away; says when something new waits there. */
const ToEndPill = ({ isNew, onPress }: { isNew: boolean; onPress: () => void }) => (
  <button
    type="button"
    className={styles.pill}
    data-new={isNew}
    aria-label={isNew ? texts.chat.newMessages : texts.chat.toEnd}
    onClick={onPress}
  >
    <ArrowDownIcon size={18} />
    {isNew && <span>{texts.chat.newMessages}</span>}
  </button>
);

/** The row of the first message that failed, and how many have not gone out since: none overtakes it. */
function unsentFrom(log: Log): { index: number; count: number } {
  const failed = log.pending.findIndex(({ state }) => state === 'failed');
  const count = failed < 0 ? 0 : log.pending.length - failed;
  return { index: rowCount(log) - count, count };
}

/** Leads up to the failed message, for a reader who sees only what waits behind it. */
const UnsentPill = ({ count, onPress }: { count: number; onPress: () => void }) => (
  <button type="button" className={styles.pill} data-unsent onClick={onPress}>
    <ArrowUpIcon size={18} />
    <span>{texts.chat.unsent(count)}</span>
  </button>
);

const GUTTER_PX = 32;
const COLUMN_PX = 640;
const OPENING_PX = 480;

const voice = { characterPx: 17, linePx: 31.45, gapPx: 6.8, framePx: 72, indent: 2 };
const own = { characterPx: 15, linePx: 24, framePx: 36, leastPx: 60, widthShare: 0.92, besidePx: 72 };

/** About how tall a row will be, in px, so that the scrollbar hardly moves when it is measured. */
function estimateRow(log: Log, index: number, viewWidth: number): number {
  const content = contentAt(log, index);
  if (!content) return OPENING_PX;
  const known = estimates.get(content);
  if (known?.viewWidth === viewWidth) return known.height;
  const column = Math.min(viewWidth, COLUMN_PX) - GUTTER_PX;
  const isVoice = 'role' in content && content.role !== 'user';
  const height = isVoice ? voiceHeight(content.body, column) : ownHeight(content.body, column);
  estimates.set(content, { viewWidth, height });
  return height;
}

/** The list asks for all rows below each one that is measured. */
const estimates = new WeakMap<object, { viewWidth: number; height: number }>();

function voiceHeight(body: string, column: number): number {
  const paragraphs = linesOf(body);
  const perLine = Math.max(1, Math.floor(column / voice.characterPx));
  let lines = 0;
  for (const text of paragraphs) lines += Math.ceil((text.length + voice.indent) / perLine);
  return voice.framePx + lines * voice.linePx + Math.max(0, paragraphs.length - 1) * voice.gapPx;
}

function ownHeight(body: string, column: number): number {
  const perLine = Math.max(1, Math.floor((column * own.widthShare - own.besidePx) / own.characterPx));
  let lines = 0;
  for (const text of body.split('\n')) lines += Math.max(1, Math.ceil(text.length / perLine));
  return Math.max(own.leastPx, own.framePx + lines * own.linePx);
}

/** Goes to a row once it is there, and lets the reader scroll on from it. */
function useTarget(list: LogVirtualizer, log: Log, stick: StickToBottom, target: Target | undefined): void {
  const reached = useRef<Target | undefined>(undefined);
  useLayoutEffect(() => {
    const index = target && target !== reached.current ? indexOfKey(log, target.key) : -1;
    if (index < 0) return;
    reached.current = target;
    stick.release();
    list.scrollToIndex(index, { align: 'start' });
  }, [list, log, stick, target]);
}

export interface Newer {
  /** One page at a time. */
  load: () => void;
  /** Back to the end of the conversation. */
  leave: () => void;
}

export interface Older {
  hasOlder: boolean;
  /** The last try failed; the reader decides about the next. */
  error: unknown;
  load: () => void;
  retry: () => void;
}

/** The pages before the first loaded message. */
export function useOlder({ storyId, hasOlder }: Thread): Older {
  const [error, setError] = useState<unknown>(undefined);
  const retry = useCallback(() => {
    setError(undefined);
    void threadSyncs.loadOlder(storyId).catch((cause: unknown) => {
      if (!isApiError(cause)) throw cause;
      setError(cause);
    });
  }, [storyId]);
  const load = useCallback(() => {
    if (error === undefined) retry();
  }, [error, retry]);
  return useMemo(() => ({ hasOlder, error, load, retry }), [hasOlder, error, load, retry]);
}

export type LogVirtualizer = Virtualizer<HTMLDivElement, HTMLElement>;

interface Options {
  log: Log;
  scroller: RefObject<HTMLDivElement | null>;
  /** Room above the first row while older ones are on the server. */
  paddingStart: number;
  initialOffset: () => number;
  /** Runs after rows or the view have changed their size, before the paint. */
  onResized: () => void;
  /** Runs after the view itself has changed its size. */
  onViewResized: () => void;
  /** Hears where we ourselves put the view, to tell it from the reader's scrolling. */
  onPlaced: (offset: number) => void;
}

/** A phone's, until the real one is known. */
const FIRST_VIEW = { width: 390, height: 700 };

/** The one place that uses the virtual list: rows by key, kept where the reader sees them when older ones are put before them. */
function useVirtualLog(options: Options) {
  const { log, scroller, paddingStart, initialOffset, onResized, onViewResized, onPlaced } = options;
  const current = useRef(log);
  current.current = log;
  const viewWidth = useRef(FIRST_VIEW.width);
  // The same function for the life of the log: a new one would lay out all rows again.
  const keyAt = useRef((index: number) => rowKeyAt(current.current, index));
  const list = useVirtualizer<HTMLDivElement, HTMLElement>({
    count: rowCount(log),
    getItemKey: keyAt.current,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateRow(current.current, index, viewWidth.current),
    anchorTo: 'end',
    // Following is ours (useStickToBottom), since it stops when a reply's first line reaches the top.
    scrollEndThreshold: -1,
    overscan: 3,
    paddingStart,
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
    initialRect: FIRST_VIEW,
    initialOffset,
    observeElementRect: (instance, tell) =>
      observeElementRect(instance, (rect) => {
        // A hidden screen has no height; the rows stay as they are until it is back.
        if (rect.height === 0) return;
        viewWidth.current = rect.width;
        tell(rect);
        onViewResized();
      }),
    scrollToFn: (offset, { adjustments = 0, behavior }, { scrollElement }) => {
      scrollElement?.scrollTo({ top: offset + adjustments, behavior });
      if (scrollElement && behavior !== 'smooth') onPlaced(scrollElement.scrollTop);
    },
    onChange: onResized,
  });
  list.shouldAdjustScrollPositionOnItemSizeChange = keepsPlace;
  return list;
}

/** Whether the view moves along with a row that changed its height. The list's default is not to while the reader scrolls up. */
const keepsPlace: LogVirtualizer['shouldAdjustScrollPositionOnItemSizeChange'] = (row, _delta, list) => {
  const offset = list.scrollOffset ?? 0;
  // at the upper edge: a guess was wrong of what is above it as well, while what changes later does so at its foot
  return list.itemSizeCache.has(row.key) ? row.end <= offset : row.start < offset;
};

const SAVE_AFTER_MS = 150;
/** Stands for a reader who was at the end: what has come since is what they want to see. */
const END = 'end';

/** Where the reader stood last; undefined for the end. */
export function storedPosition(conversationId: string | null): Position | undefined {
  const position = conversationId === null ? undefined : positions.read(conversationId);
  return position?.messageId === END ? undefined : position;
}

/** The offset to begin at, in px and from estimates: the stored row's, else the end. */
function firstOffset(log: Log, position: Position | undefined, paddingStart: number): number {
  const index = position ? indexOfKey(log, position.messageId) : -1;
  const rows = index < 0 ? rowCount(log) : index;
  let offset = paddingStart;
  for (let row = 0; row < rows; row += 1) offset += estimateRow(log, row, globalThis.innerWidth);
  return Math.max(0, index < 0 ? offset - globalThis.innerHeight : offset - (position?.offset ?? 0));
}

/** Puts the view back to the row it was at, once that row has its true height. */
function usePlacing(list: LogVirtualizer, log: Log, position: Position | undefined): void {
  const isPlaced = useRef(false);
  useLayoutEffect(() => {
    if (isPlaced.current) return;
    isPlaced.current = true;
    const index = position ? indexOfKey(log, position.messageId) : -1;
    if (!position || index < 0) return;
    // asking for the total has the rows laid out
    const start = list.getTotalSize() > 0 ? list.measurementsCache[index]?.start : undefined;
    if (start !== undefined) list.scrollToOffset(start - position.offset);
  }, [list, log, position]);
}

/** Writes down where the reader is, by row and offset. Returns what to call when they have moved. */
function usePositionSaving(list: LogVirtualizer, conversationId: string | null, isAtEnd: () => boolean): () => void {
  const unsaved = useRef<Position | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const save = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (unsaved.current && conversationId !== null) positions.write(conversationId, unsaved.current);
    unsaved.current = null;
  }, [conversationId]);

  useLayoutEffect(() => {
    window.addEventListener('pagehide', save);
    return () => {
      window.removeEventListener('pagehide', save);
      save();
    };
  }, [save]);

  return useCallback(() => {
    const element = list.scrollElement;
    const row = element && element.clientHeight > 0 ? list.getVirtualItemForOffset(element.scrollTop) : undefined;
    if (!element || !row) return;
    unsaved.current = isAtEnd()
      ? { messageId: END, offset: 0 }
      : { messageId: String(row.key), offset: row.start - element.scrollTop };
    timer.current ??= setTimeout(save, SAVE_AFTER_MS);
  }, [isAtEnd, list, save]);
}
