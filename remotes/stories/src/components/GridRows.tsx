import { observeElementRect, useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect } from 'react';

/** Rows of the grid, `to` not among them. */
export interface RowRange {
  from: number;
  to: number;
}

export interface GridRowsProps {
  scroller: HTMLElement;
  count: number;
  /** px from the top of one row to the top of the next */
  stride: number;
  /** px from the top of what scrolls to the first row */
  start: number;
  onRange: (range: RowRange) => void;
}

const OVERSCAN = 3;

/** Tells which rows of a long grid are to be drawn, those in sight and a few around. Draws nothing itself. */
export default function GridRows({ scroller, count, stride, start, onRange }: GridRowsProps) {
  const rows = useVirtualizer<HTMLElement, HTMLElement>({
    count,
    getScrollElement: () => scroller,
    estimateSize: () => stride,
    scrollMargin: start,
    overscan: OVERSCAN,
    initialOffset: () => scroller.scrollTop,
    initialRect: { width: globalThis.innerWidth, height: globalThis.innerHeight },
    // a hidden screen has no height; its rows stay as they are until it is back
    observeElementRect: (instance, tell) => observeElementRect(instance, (rect) => rect.height > 0 && tell(rect)),
    // where the list stands is the host's to remember
    scrollToFn: () => undefined,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are as tall as the new stride
  useLayoutEffect(() => rows.measure(), [rows, stride]);
  const drawn = rows.getVirtualItems();
  const from = drawn[0]?.index ?? 0;
  const to = (drawn.at(-1)?.index ?? -1) + 1;
  useLayoutEffect(() => onRange({ from, to }), [onRange, from, to]);
  return null;
}
