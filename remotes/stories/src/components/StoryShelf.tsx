import { listenTo, scrollerOf, stopAll, useModule } from '@liaozhai/shared/ui';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Story } from '../model';
import type { RowRange } from './GridRows';
import { type GridWindow, StoryGrid } from './StoryGrid';

/** Up to this number all cards are in the document, so that the browser's own search finds them. */
const MAX_PLAIN_CARDS = 120;
/** From this number on, the list may soon be long, so the code for long lists is loaded. */
const PRELOAD_FROM_CARDS = 60;

export const loadRows = () => import(/* webpackChunkName: "longList" */ './GridRows');

export interface StoryShelfProps {
  stories: Story[];
  begunIds?: ReadonlySet<string>;
  hasLead?: boolean;
  /** `stories` is the complete list. */
  isWhole: boolean;
  /** Many more stories are about to be restored. */
  growsSoon?: boolean;
}

/** The shelf. A long one renders only the cards near the view. */
export function StoryShelf({ stories, begunIds, hasLead = true, isWhole, growsSoon = false }: StoryShelfProps) {
  const grid = useRef<HTMLUListElement>(null);
  const { Rows, hasFailed } = useRows(growsSoon || stories.length > PRELOAD_FROM_CARDS, stories.length);
  const isLong = stories.length > MAX_PLAIN_CARDS && !hasFailed;
  const shape = useGridShape(grid, isLong && Rows !== null, hasLead);
  const [range, setRange] = useState<RowRange | null>(null);
  const focusedIndex = useFocusedCard(grid, isLong);
  const total = isWhole ? stories.length : -1;
  const window = isLong && Rows && shape ? windowOf(range, focusedIndex, shape, stories.length, total) : null;
  return (
    <>
      {Rows && window && shape && (
        <Rows
          scroller={shape.scroller}
          count={rowCountOf(shape, stories.length)}
          stride={shape.stride}
          start={shape.start}
          onRange={setRange}
        />
      )}
      {/* until the rows are measured, a restored long list would be rendered as a whole */}
      <StoryGrid
        ref={grid}
        stories={isLong && !window ? stories.slice(0, MAX_PLAIN_CARDS) : stories}
        begunIds={begunIds}
        hasLead={hasLead}
        window={window}
      />
    </>
  );
}

/** Loads the code for long lists on demand. If that fails, the whole list is rendered until the next page, which tries again. */
function useRows(isNeeded: boolean, length: number) {
  const [failedLength, setFailedLength] = useState<number | null>(null);
  const rows = useModule(loadRows, isNeeded && failedLength !== length, () => setFailedLength(length));
  return { Rows: rows?.default ?? null, hasFailed: rows === null && failedLength !== null };
}

const rowCountOf = ({ columns, head }: GridShape, cards: number) => Math.ceil((cards - head) / columns);

type GridShape = NonNullable<ReturnType<typeof readShape>>;

const isSame = (one: GridShape, other: GridShape) =>
  one.scroller === other.scroller &&
  one.columns === other.columns &&
  one.head === other.head &&
  Math.abs(one.stride - other.stride) < 0.001 &&
  Math.abs(one.start - other.start) < 1;

/** Measures of the grid; all rows except the first have the same height. */
function readShape(list: HTMLElement, hasLead: boolean) {
  // the screen's own ref is empty while the effects of a screen that is shown again run
  const scroller = scrollerOf(list);
  const columns = getComputedStyle(list).gridTemplateColumns.split(' ').length;
  // the wide card fills the row on a phone, and otherwise two columns of it
  const head = hasLead ? Math.max(1, columns - 1) : 0;
  const [first, second] = [list.children[head], list.children[head + columns]];
  const top = first?.getBoundingClientRect().top;
  const below = second?.getBoundingClientRect().top;
  // elements of a hidden screen have no size
  if (!scroller || !first || top === undefined || below === undefined || below <= top) return null;
  const stride = below - top;
  const row = (Number(first.getAttribute('aria-posinset') ?? head + 1) - 1 - head) / columns;
  const start = top - scroller.getBoundingClientRect().top + scroller.scrollTop - row * stride;
  return {
    scroller,
    columns,
    /** Number of cards before the first of these rows: the wide one and those next to it. */
    head,
    /** Distance between the tops of two rows, in px. */
    stride,
    /** Distance from the top of the scrolled content to the first of these rows, in px. */
    start,
  };
}

/** Measures the rendered cards, again when the grid's size changes. */
function useGridShape(grid: RefObject<HTMLUListElement | null>, isNeeded: boolean, hasLead: boolean): GridShape | null {
  const [shape, setShape] = useState<GridShape | null>(null);
  useLayoutEffect(() => {
    const list = grid.current;
    if (!isNeeded || !list) return;
    const measure = () => {
      const next = readShape(list, hasLead);
      if (next) setShape((current) => (current && isSame(current, next) ? current : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, [grid, isNeeded, hasLead]);
  return shape;
}

/** Index of the card with the keyboard focus, from 0. */
function useFocusedCard(grid: RefObject<HTMLUListElement | null>, isNeeded: boolean): number | null {
  const [focusedIndex, setFocusedIndex] = useState<number | null>(null);
  useEffect(() => {
    const list = grid.current;
    if (!isNeeded || !list) return;
    const enter = ({ target }: FocusEvent) => {
      const position = (target as Element).closest('li')?.getAttribute('aria-posinset');
      setFocusedIndex(position ? Number(position) - 1 : null);
    };
    return stopAll(
      listenTo(list, ['focusin'], enter),
      listenTo(list, ['focusout'], () => setFocusedIndex(null)),
    );
  }, [grid, isNeeded]);
  return focusedIndex;
}

/** Distance in rows at which a focused card is still rendered; removing it would move the focus to the top of the page. */
const FOCUS_REACH_ROWS = 30;

function windowOf(
  range: RowRange | null,
  focusedIndex: number | null,
  shape: GridShape,
  cards: number,
  total: number,
): GridWindow {
  const { columns, head, stride } = shape;
  let { from, to } = range ?? { from: 0, to: Math.ceil(MAX_PLAIN_CARDS / columns) };
  const row = focusedIndex === null || focusedIndex < head ? -1 : Math.floor((focusedIndex - head) / columns);
  if (row >= 0 && row >= from - FOCUS_REACH_ROWS && row <= to + FOCUS_REACH_ROWS) {
    from = Math.min(from, row);
    to = Math.max(to, row + 1);
  }
  return {
    head,
    columns,
    from: head + from * columns,
    to: head + to * columns,
    above: from * stride,
    below: Math.max(0, rowCountOf(shape, cards) - to) * stride,
    total,
  };
}
