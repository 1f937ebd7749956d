import { linesOf } from '@liaozhai/shared/format';
import { type Position, positions } from '@liaozhai/shared/runtime';
import { listenTo, stopAll } from '@liaozhai/shared/ui';
import { observeElementRect, useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';
import { contentAt, indexOfKey, type Log, rowAt, rowCount, rowKeyAt } from '../model/log';
import type { StickToBottom } from './stickToBottom';

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
