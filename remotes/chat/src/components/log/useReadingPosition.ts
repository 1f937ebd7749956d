import { type Position, positions } from '@liaozhai/shared/runtime';
import { useCallback, useLayoutEffect, useRef } from 'react';
import { indexOfKey, type Log, rowCount } from '../../model';
import { estimateRow } from './estimateRow';
import type { LogVirtualizer } from './useVirtualLog';

const SAVE_AFTER_MS = 150;
/** Stands for a reader who was at the end: what has come since is what they want to see. */
const END = 'end';

/** Where the reader stood last; undefined for the end. */
export function storedPosition(conversationId: string | null): Position | undefined {
  const position = conversationId === null ? undefined : positions.read(conversationId);
  return position?.messageId === END ? undefined : position;
}

/** The offset to begin at, in px and from estimates: the stored row's, else the end. */
export function firstOffset(log: Log, position: Position | undefined, paddingStart: number): number {
  const index = position ? indexOfKey(log, position.messageId) : -1;
  const rows = index < 0 ? rowCount(log) : index;
  let offset = paddingStart;
  for (let row = 0; row < rows; row += 1) offset += estimateRow(log, row, globalThis.innerWidth);
  return Math.max(0, index < 0 ? offset - globalThis.innerHeight : offset - (position?.offset ?? 0));
}

/** Puts the view back to the row it was at, once that row has its true height. */
export function usePlacing(list: LogVirtualizer, log: Log, position: Position | undefined): void {
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
export function usePositionSaving(
  list: LogVirtualizer,
  conversationId: string | null,
  isAtEnd: () => boolean,
): () => void {
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
