import { observeElementRect, useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect } from 'react';

/** Range of rows, from `from` up to and excluding `to`. */
export interface RowRange {
  from: number;
  to: number;
}

interface GridRowsProps {
  scroller: HTMLElement;
  count: number;
  /** Distance between the tops of two rows, in px. */
  stride: number;
  /** Distance from the top of the scrolled content to the first row, in px. */
  start: number;
  onRange: (range: RowRange) => void;
}

const OVERSCAN = 3;

/** Reports which rows of a long grid to render: the visible ones and some around them. Renders nothing itself. */
export default function GridRows({ scroller, count, stride, start, onRange }: GridRowsProps) {
  const rows = useVirtualizer<HTMLElement, HTMLElement>({
    count,
    getScrollElement: () => scroller,
    estimateSize: () => stride,
    scrollMargin: start,
    overscan: OVERSCAN,
    initialOffset: () => scroller.scrollTop,
    initialRect: { width: globalThis.innerWidth, height: globalThis.innerHeight },
    // a hidden screen has no height; its rows stay unchanged until it is shown again
    observeElementRect: (instance, onRect) => observeElementRect(instance, (rect) => rect.height > 0 && onRect(rect)),
    // the host restores the scroll position
    scrollToFn: () => undefined,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are as tall as the new stride
  useLayoutEffect(() => rows.measure(), [rows, stride]);
  const renderedRows = rows.getVirtualItems();
  const from = renderedRows[0]?.index ?? 0;
  const to = (renderedRows.at(-1)?.index ?? -1) + 1;
  useLayoutEffect(() => onRange({ from, to }), [onRange, from, to]);
  return null;
}
