import { linesOf } from '@liaozhai/shared/format';
import { createSignal, type Position, positions } from '@liaozhai/shared/runtime';
import { listenTo, stopAll } from '@liaozhai/shared/ui';
import { observeElementRect, useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';
import { contentAt, indexOfKey, type Log, rowAt, rowCount, rowKeyAt } from '../model/log';
import { isRunning, keyOf, type Message } from '../model/message';

const GUTTER_PX = 32;
const COLUMN_PX = 640;
const OPENING_PX = 480;

const voiceMetrics = { characterPx: 17, linePx: 31.45, gapPx: 6.8, framePx: 72, leastPx: 0, besidePx: 0, indent: 2 };
const ownMetrics = { characterPx: 15, linePx: 24, gapPx: 0, framePx: 36, leastPx: 60, besidePx: 72, indent: 0 };
/** Of the column, for the user's own messages. */
const OWN_WIDTH = 0.92;

/** Estimates a row's height, in px, so that the scrollbar hardly moves when the row is measured. */
function estimateRow(log: Log, index: number, viewWidth: number): number {
  const content = contentAt(log, index);
  if (!content) return OPENING_PX;
  const estimate = estimates.get(content);
  if (estimate?.viewWidth === viewWidth) return estimate.height;
  const column = Math.min(viewWidth, COLUMN_PX) - GUTTER_PX;
  const isVoice = 'role' in content && content.role !== 'user';
  const height = isVoice
    ? heightOf(linesOf(content.body), column, voiceMetrics)
    : heightOf(content.body.split('\n'), column * OWN_WIDTH, ownMetrics);
  estimates.set(content, { viewWidth, height });
  return height;
}

/** Cached, since the virtualizer requests the sizes of all rows below each measured one. */
const estimates = new WeakMap<object, { viewWidth: number; height: number }>();

function heightOf(paragraphs: string[], width: number, metrics: typeof voiceMetrics): number {
  const { characterPx, linePx, gapPx, framePx, leastPx, besidePx, indent } = metrics;
  const perLine = Math.max(1, Math.floor((width - besidePx) / characterPx));
  let lines = 0;
  for (const text of paragraphs) lines += Math.max(1, Math.ceil((text.length + indent) / perLine));
  return Math.max(leastPx, framePx + lines * linePx + Math.max(0, paragraphs.length - 1) * gapPx);
}

export type LogVirtualizer = Virtualizer<HTMLDivElement, HTMLElement>;

/** Size of a phone, until the real one is measured. */
const INITIAL_VIEW = { width: 390, height: 700 };

/**
 * The only use of the virtualizer. Rows are keyed, and the visible ones stay in place when older ones are prepended.
 * `paddingStart`: space above the first row while older messages are on the server.
 */
export function useVirtualLog(
  log: Log,
  scroller: RefObject<HTMLDivElement | null>,
  stick: StickToBottom,
  paddingStart: number,
  initialOffset: () => number,
) {
  const latestLog = useRef(log);
  latestLog.current = log;
  const viewWidth = useRef(INITIAL_VIEW.width);
  // a stable function, since a new one would make the virtualizer lay out all rows again
  const keyAt = useRef((index: number) => rowKeyAt(latestLog.current, index));
  const list = useVirtualizer<HTMLDivElement, HTMLElement>({
    count: rowCount(log),
    getItemKey: keyAt.current,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateRow(latestLog.current, index, viewWidth.current),
    anchorTo: 'end',
    // following is done by `useStickToBottom`, since it stops when a reply's first line reaches the top
    scrollEndThreshold: -1,
    overscan: 3,
    paddingStart,
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
    initialRect: INITIAL_VIEW,
    initialOffset,
    observeElementRect: (instance, onRect) =>
      observeElementRect(instance, (rect) => {
        // a hidden screen has no height; the rows stay unchanged until it is shown again
        if (rect.height === 0) return;
        viewWidth.current = rect.width;
        onRect(rect);
        stick.handleViewResize();
      }),
    scrollToFn: (offset, { adjustments = 0, behavior }, { scrollElement }) => {
      scrollElement?.scrollTo({ top: offset + adjustments, behavior });
      if (scrollElement && behavior !== 'smooth') stick.recordPlacement(scrollElement.scrollTop);
    },
    // after rows or the view have been resized, before the paint
    onChange: stick.follow,
  });
  // the row that was the first one before older messages came
  const firstKey = rowKeyAt(log, 0);
  const first = useRef({ key: firstKey, formerKey: '' });
  if (first.current.key !== firstKey) first.current = { key: firstKey, formerKey: first.current.key };
  list.shouldAdjustScrollPositionOnItemSizeChange = (row, _delta, instance) => {
    if (row.key !== first.current.formerKey) return shouldKeepPosition(row, instance);
    first.current.formerKey = '';
    const content = rowAt(latestLog.current, row.index);
    const hasNewHeading = content?.kind === 'message' && content.startsDay;
    const bottom = (instance.scrollOffset ?? 0) + (instance.scrollRect?.height ?? 0);
    // its day's heading came above words that may be in view
    return hasNewHeading ? row.start < bottom : shouldKeepPosition(row, instance);
  };
  return list;
}

/** Whether to move the view when a row changes its height. The virtualizer's default is not to while scrolling up. */
const shouldKeepPosition = (row: VirtualItem, list: LogVirtualizer): boolean => {
  const offset = list.scrollOffset ?? 0;
  // at the upper edge: an estimate was wrong about the part above the edge too, while later changes are at a row's end
  return list.itemSizeCache.has(row.key) ? row.end <= offset : row.start < offset;
};

const SAVE_AFTER_MS = 150;
/** Position of a user at the end, who returns to the end even if messages have been added. */
const END = 'end';

/** The stored scroll position; undefined for the end. */
export function storedPosition(conversationId: string | null): Position | undefined {
  const position = conversationId === null ? undefined : positions.read(conversationId);
  return position?.messageId === END ? undefined : position;
}

/** Initial offset in px, computed from estimates: the stored row's, otherwise the end. */
export function firstOffset(log: Log, position: Position | undefined, paddingStart: number): number {
  const index = position ? indexOfKey(log, position.messageId) : -1;
  const rows = index < 0 ? rowCount(log) : index;
  let offset = paddingStart;
  for (let row = 0; row < rows; row += 1) offset += estimateRow(log, row, globalThis.innerWidth);
  return Math.max(0, index < 0 ? offset - globalThis.innerHeight : offset - (position?.offset ?? 0));
}

/** Scrolls to the stored row once it has been measured. */
export function usePlacing(list: LogVirtualizer, log: Log, position: Position | undefined): void {
  const isPlaced = useRef(false);
  useLayoutEffect(() => {
    if (isPlaced.current) return;
    isPlaced.current = true;
    const index = position ? indexOfKey(log, position.messageId) : -1;
    if (!position || index < 0) return;
    // `getTotalSize` makes the virtualizer lay out its rows
    const start = list.getTotalSize() > 0 ? list.measurementsCache[index]?.start : undefined;
    if (start !== undefined) list.scrollToOffset(start - position.offset);
  }, [list, log, position]);
}

/** Stores the scroll position as row and offset. Returns the function to call after scrolling. */
export function usePositionSaving(
  list: LogVirtualizer,
  conversationId: string | null,
  stick: StickToBottom,
): () => void {
  const unsavedPosition = useRef<Position | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const save = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (unsavedPosition.current && conversationId !== null) positions.write(conversationId, unsavedPosition.current);
    unsavedPosition.current = null;
  }, [conversationId]);

  useLayoutEffect(() => stopAll(listenTo(window, ['pagehide'], save), save), [save]);

  return useCallback(() => {
    const element = list.scrollElement;
    const row = element && element.clientHeight > 0 ? list.getVirtualItemForOffset(element.scrollTop) : undefined;
    if (!element || !row) return;
    unsavedPosition.current = stick.state().atEnd
      ? { messageId: END, offset: 0 }
      : { messageId: String(row.key), offset: row.start - element.scrollTop };
    timer.current ??= setTimeout(save, SAVE_AFTER_MS);
  }, [stick, list, save]);
}

/** After each commit and before its paint, measures the last row and scrolls to follow it. */
export function useStickToBottom(stick: StickToBottom, list: LogVirtualizer, log: Log, isCopy: boolean): void {
  const last = log.messages.at(-1);
  const lastPending = log.pending.at(-1);
  const isNewReply = last && isRunning(last) && (last.revision === 1 || last.body === '');
  const replyKey = isNewReply ? keyOf(last) : null;
  const lastCommit = useRef<CommitState | null>(null);

  useLayoutEffect(() => {
    const previous = lastCommit.current;
    lastCommit.current = { last, pendingId: lastPending?.clientId, replyKey, isCopy };
    stick.attach(list, (key) => indexOfKey(log, key));
    if (!previous) return stick.follow();
    // a user who sends wants to see the message and its reply
    if (lastPending && lastPending.clientId !== previous.pendingId) stick.pin();
    if (replyKey !== null && replyKey !== previous.replyKey) stick.setLimit(replyKey);
    // without a copy on the device only the opening was shown; the loaded conversation then opens at its end
    if (previous.isCopy && !isCopy && previous.last === undefined && stick.isUnmoved()) stick.pin();
    const hasSent = lastPending?.clientId !== previous.pendingId;
    if (last === previous.last && !hasSent) return;
    measureLast(list, log);
    stick.handleEndChange(hasSent || hasNewContent(last, previous.last));
  }, [stick, list, log, last, lastPending, replyKey, isCopy]);
}

interface CommitState {
  last: Message | undefined;
  pendingId: string | undefined;
  replyKey: string | null;
  isCopy: boolean;
}

/** Whether there is new content: the server's messages may equal the device's copy, but as other objects. */
function hasNewContent(current: Message | undefined, previous: Message | undefined): boolean {
  if (!current || !previous) return current !== previous;
  const isSame =
    keyOf(current) === keyOf(previous) && current.revision === previous.revision && current.status === previous.status;
  return !isSame || current.length !== previous.length;
}

/** Resizes the last row before the paint instead of after it, so that its end does not run ahead of the view. */
function measureLast(list: LogVirtualizer, log: Log): void {
  const last = log.messages.at(-1);
  const element = last && list.elementsCache.get(keyOf(last));
  if (last && element?.isConnected) list.resizeItem(indexOfKey(log, keyOf(last)), element.offsetHeight);
}

/** Distance from the end that still counts as being there. */
const AT_END_PX = 40;
/** Scrolling emits an event per frame; after a longer pause it has stopped. */
const GLIDE_MS = 150;
/** Smaller movements are rounding errors. */
const MIN_MOVE_PX = 1.5;

interface ViewState {
  atEnd: boolean;
  /** New content is below the visible part. */
  unseen: boolean;
}

/**
 * Follows growing content while the user is at the end, until the first line of a reply reaches the top. Never moves the view of
 * a user who has scrolled up.
 */
export class StickToBottom {
  #list: LogVirtualizer | null = null;
  #indexOf: (key: string) => number = () => -1;
  #isPinned: boolean;
  #isOpenEnded = false;
  #limitKey: string | null = null;
  #placedOffset = -1;
  #lastOffset = 0;
  #movedAt = Number.NEGATIVE_INFINITY;
  #state: ViewState;
  readonly #changeSignal = createSignal();

  constructor(startsAtEnd: boolean) {
    this.#isPinned = startsAtEnd;
    this.#state = { atEnd: startsAtEnd, unseen: false };
  }

  readonly state = (): ViewState => this.#state;

  readonly subscribe = this.#changeSignal.on;

  /** Called on each commit, since the rows' indexes change. */
  attach(list: LogVirtualizer, indexOf: (key: string) => number): void {
    this.#list = list;
    this.#indexOf = indexOf;
  }

  /** The shown messages end before the conversation does, so their end is not followed. */
  setOpenEnded(isOpenEnded: boolean): void {
    if (isOpenEnded) this.release();
    this.#isOpenEnded = isOpenEnded;
  }

  /** Sets the row of a new reply, whose top must stay in view. */
  setLimit(key: string): void {
    this.#limitKey = key;
  }

  /** Records a scroll position that this code has set. */
  recordPlacement(offset: number): void {
    this.#placedOffset = offset;
  }

  /** Scrolls to the end, or as far as the limit allows, if pinned. */
  readonly follow = (): void => {
    const view = this.#view();
    if (!view || !this.#isPinned || this.#isOpenEnded) return;
    const { element, list, end } = view;
    const limit = this.#limitKey === null ? -1 : this.#indexOf(this.#limitKey);
    const target = limit < 0 ? end : Math.min(end, list.getOffsetForIndex(limit, 'start')?.[0] ?? end);
    if (target > element.scrollTop + 0.5) list.scrollToOffset(target);
  };

  /** Handles a change of the view's height, e.g. by the keyboard: a user who was at the end stays there. */
  handleViewResize(): void {
    const view = this.#view();
    if (view && this.#state.atEnd) view.list.scrollToOffset(view.end);
    else this.follow();
  }

  /** Pins or releases on the user's own scrolling; scrolling by this code has no effect. */
  readonly handleScroll = (): void => {
    const view = this.#view();
    if (!view) return;
    const { atEnd } = view;
    const offset = view.element.scrollTop;
    const isProgrammatic = Math.abs(offset - this.#placedOffset) < MIN_MOVE_PX;
    // returning to the end pins; a user who was already there may only have been moved by shrinking rows
    if (!isProgrammatic && atEnd && !this.#state.atEnd) this.pin();
    else if (!isProgrammatic && !atEnd && offset < this.#lastOffset - MIN_MOVE_PX) this.#isPinned = false;
    this.#lastOffset = offset;
    if (!isProgrammatic) this.#movedAt = performance.now();
    this.#publish({ atEnd, unseen: this.#state.unseen && !atEnd });
  };

  /** Handles a change at the end; `isNew` if content was added and not only rendered again. */
  handleEndChange(isNew: boolean): void {
    this.follow();
    const view = this.#view();
    if (!view) return;
    const { atEnd } = view;
    this.#publish({ atEnd, unseen: (isNew || this.#state.unseen) && !atEnd && !this.#isOpenEnded });
  }

  pin(): void {
    this.#isPinned = true;
    this.#limitKey = null;
  }

  /** Whether the view is scrolling by momentum: then a touch only stops it and is not a long press. */
  readonly isGliding = (): boolean => performance.now() - this.#movedAt < GLIDE_MS;

  /** Whether the view is still at the top. */
  isUnmoved(): boolean {
    return (this.#list?.scrollElement?.scrollTop ?? 0) < MIN_MOVE_PX;
  }

  /** Stops following the end. */
  release(): void {
    this.#isPinned = false;
  }

  #view() {
    const list = this.#list;
    const element = list?.scrollElement;
    if (!list || !element || element.clientHeight === 0) return undefined;
    const end = element.scrollHeight - element.clientHeight;
    return { list, element, end, atEnd: !this.#isOpenEnded && end - element.scrollTop <= AT_END_PX };
  }

  #publish(next: ViewState): void {
    if (next.atEnd === this.#state.atEnd && next.unseen === this.#state.unseen) return;
    this.#state = next;
    this.#changeSignal.emit();
  }
}
