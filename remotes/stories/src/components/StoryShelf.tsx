import { scrollerOf } from '@liaozhai/shared/ui';
import { type ComponentType, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Story } from '../model';
import type { GridRowsProps, RowRange } from './GridRows';
import { type GridWindow, StoryGrid } from './StoryGrid';

/** Up to so many cards all stand in the document, where the browser's own search finds them. */
const SHORT = 120;
/** From here on the list may soon be long. */
const GROWING = 60;

/** What knows the rows of a long list. */
export const loadRows = () => import(/* webpackChunkName: "longList" */ './GridRows');

interface StoryShelfProps {
  stories: Story[];
  begun?: ReadonlySet<string>;
  hasLead?: boolean;
  /** These are all there are. */
  isWhole: boolean;
  /** Many more are about to be put back. */
  growsSoon?: boolean;
}

/** The shelf, of which only what is near the view is drawn once it is long. */
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
      {/* until the rows are known, a long list that was put back would be drawn whole */}
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

/** Fetched when it is wanted; where it cannot be had the whole list is drawn. */
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

/** How the cards stand: all rows but the first are alike. */
interface GridShape {
  scroller: HTMLElement;
  columns: number;
  /** cards ahead of the first of these rows: the wide one and those beside it */
  head: number;
  /** px from the top of one row to the top of the next */
  stride: number;
  /** px from the top of what scrolls to the first of these rows */
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
  // the screen's own reference to it is empty while the effects of a screen that is shown again run
  const scroller = scrollerOf(list);
  const columns = getComputedStyle(list).gridTemplateColumns.split(' ').length;
  // the wide card fills the line of a phone, elsewhere two places of it
  const head = hasLead ? Math.max(1, columns - 1) : 0;
  const [first, second] = [list.children[head], list.children[head + columns]];
  const top = first?.getBoundingClientRect().top;
  const below = second?.getBoundingClientRect().top;
  // a hidden screen has no boxes
  if (!scroller || !first || top === undefined || below === undefined || below <= top) return null;
  const stride = below - top;
  const row = (Number(first.getAttribute('aria-posinset') ?? head + 1) - 1 - head) / columns;
  const start = top - scroller.getBoundingClientRect().top + scroller.scrollTop - row * stride;
  return { scroller, columns, head, stride, start };
}

/** Read from the drawn cards, and again when the grid's size changes. */
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

/** Which card has the keyboard's focus, counted from 0. */
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

/** As far away, in rows, as a card that has the focus is still drawn, or the keyboard would begin at the page's top. */
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
