import { scrollerOf } from '@liaozhai/shared/ui';
import { type ComponentType, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Story } from '../model';
import type { GridRowsProps, RowRange } from './GridRows';
import { type GridWindow, StoryGrid } from './StoryGrid';

/** Up to this number all cards are in the document, so that the browser's own search finds them. */
const SHORT = 120;
/** From this number on, the list may soon be long, so the code for long lists is loaded. */
const GROWING = 60;

export const loadRows = () => import(/* webpackChunkName: "longList" */ './GridRows');

interface StoryShelfProps {
  stories: Story[];
  begun?: ReadonlySet<string>;
  hasLead?: boolean;
  /** `stories` is the complete list. */
  isWhole: boolean;
  /** Many more stories are about to be restored. */
  growsSoon?: boolean;
}

/** The shelf. A long one renders only the cards near the view. */
export function StoryShelf({ stories, begun, hasLead = true, isWhole, growsSoon = false }: StoryShelfProps) {
  const grid = useRef<HTMLUListElement>(null);
  const { Rows, isLost } = useRows(growsSoon || stories.length > GROWING, stories.length);
  const isLong = stories.length > SHORT && !isLost;
  const shape = useGridShape(grid, isLong && Rows !== null, hasLead);
  const [range, setRange] = useState<RowRange | null>(null);
  const focused = useFocusedCard(grid, isLong);
  const total = isWhole ? stories.length : -1;
  const window = isLong && Rows && shape ? windowOf(range, focused, shape, stories.length, total) : null;
  return (
    <>
      {Rows && window && shape && (
        <Rows
          scroller={shape.scroller}
          count={rowsOf(shape, stories.length)}
          stride={shape.stride}
          start={shape.start}
          onRange={setRange}
        />
      )}
      {/* until the rows are measured, a restored long list would be rendered as a whole */}
      <StoryGrid
        ref={grid}
        stories={isLong && !window ? stories.slice(0, SHORT) : stories}
        begun={begun}
        hasLead={hasLead}
        window={window}
      />
    </>
  );
}

/** Loads the code for long lists on demand; if that fails, the whole list is rendered. */
function useRows(isWanted: boolean, length: number) {
  const [rows, setRows] = useState<{ Rows: ComponentType<GridRowsProps> | null; isLost: boolean }>({
    Rows: null,
    isLost: false,
  });
  const isMissing = rows.Rows === null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was lost is tried again with the next page
  useEffect(() => {
    if (!isWanted || !isMissing) return;
    let isLeft = false;
    loadRows().then(
      ({ default: Rows }) => isLeft || setRows({ Rows, isLost: false }),
      () => isLeft || setRows({ Rows: null, isLost: true }),
    );
    return () => {
      isLeft = true;
    };
  }, [isWanted, isMissing, length]);
  return rows;
}

/** Measures of the grid; all rows except the first have the same height. */
interface GridShape {
  scroller: HTMLElement;
  columns: number;
  /** Number of cards before the first of these rows: the wide one and those next to it. */
  head: number;
  /** Distance between the tops of two rows, in px. */
  stride: number;
  /** Distance from the top of the scrolled content to the first of these rows, in px. */
  start: number;
}

const rowsOf = ({ columns, head }: GridShape, cards: number) => Math.ceil((cards - head) / columns);

const isSame = (one: GridShape, other: GridShape) =>
  one.scroller === other.scroller &&
  one.columns === other.columns &&
  one.head === other.head &&
  Math.abs(one.stride - other.stride) < 0.001 &&
  Math.abs(one.start - other.start) < 1;

function readShape(list: HTMLElement, hasLead: boolean): GridShape | null {
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
  return { scroller, columns, head, stride, start };
}

/** Measures the rendered cards, again when the grid's size changes. */
function useGridShape(grid: RefObject<HTMLUListElement | null>, isWanted: boolean, hasLead: boolean): GridShape | null {
  const [shape, setShape] = useState<GridShape | null>(null);
  useLayoutEffect(() => {
    const list = grid.current;
    if (!isWanted || !list) return;
    const read = () => {
      const next = readShape(list, hasLead);
      if (next) setShape((known) => (known && isSame(known, next) ? known : next));
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(list);
    return () => observer.disconnect();
  }, [grid, isWanted, hasLead]);
  return shape;
}

/** Index of the card with the keyboard focus, from 0. */
function useFocusedCard(grid: RefObject<HTMLUListElement | null>, isWanted: boolean): number | null {
  const [focused, setFocused] = useState<number | null>(null);
  useEffect(() => {
    const list = grid.current;
    if (!isWanted || !list) return;
    const enter = ({ target }: FocusEvent) => {
      const position = (target as Element).closest('li')?.getAttribute('aria-posinset');
      setFocused(position ? Number(position) - 1 : null);
    };
    const leave = () => setFocused(null);
    list.addEventListener('focusin', enter);
    list.addEventListener('focusout', leave);
    return () => {
      list.removeEventListener('focusin', enter);
      list.removeEventListener('focusout', leave);
    };
  }, [grid, isWanted]);
  return focused;
}

/** Distance in rows at which a focused card is still rendered; removing it would move the focus to the top of the page. */
const FOCUS_REACH = 30;

function windowOf(
  range: RowRange | null,
  focused: number | null,
  shape: GridShape,
  cards: number,
  total: number,
): GridWindow {
  const { columns, head, stride } = shape;
  let { from, to } = range ?? { from: 0, to: Math.ceil(SHORT / columns) };
  const row = focused === null || focused < head ? -1 : Math.floor((focused - head) / columns);
  if (row >= 0 && row >= from - FOCUS_REACH && row <= to + FOCUS_REACH) {
    from = Math.min(from, row);
    to = Math.max(to, row + 1);
  }
  return {
    head,
    columns,
    from: head + from * columns,
    to: head + to * columns,
    above: from * stride,
    below: Math.max(0, rowsOf(shape, cards) - to) * stride,
    total,
  };
}
