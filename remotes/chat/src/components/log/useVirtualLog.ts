import { observeElementRect, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useRef } from 'react';
import { type Log, rowCount, rowKeyAt } from '../../model';
import { estimateRow } from './estimateRow';

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

/** Our one door to the virtual list: rows by key, kept where the reader sees them when older ones are put before them. */
export function useVirtualLog(options: Options) {
  const { log, scroller, paddingStart, initialOffset, onResized, onViewResized, onPlaced } = options;
  const current = useRef(log);
  current.current = log;
  const viewWidth = useRef(FIRST_VIEW.width);
  // The same function for the life of the log: a new one would have all rows laid out anew.
  const keyAt = useRef((index: number) => rowKeyAt(current.current, index));
  return useVirtualizer<HTMLDivElement, HTMLElement>({
    count: rowCount(log),
    getItemKey: keyAt.current,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateRow(current.current, index, viewWidth.current),
    anchorTo: 'end',
    // Following is ours (Follower), since it stops when a reply's first line reaches the top.
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
}
