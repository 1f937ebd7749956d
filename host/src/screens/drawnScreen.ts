/** What stood in a tab's screen before the app. */
interface DrawnScreen {
  route: string;
  content: readonly Node[];
  /** how far the reader has scrolled it, in pixels; null while they have not, and once the app goes on from there */
  top: number | null;
}

let drawn: DrawnScreen | null = null;

/** Keeps what the server drew, and follows its scrolling, until the app takes its place. */
export function followDrawnScreen(root: Element) {
  const frame = root.querySelector<HTMLElement>('[data-first]');
  const scroller = frame?.querySelector(':scope > main');
  if (!frame || !scroller) return;
  const screen: DrawnScreen = {
    route: frame.dataset.first ?? '',
    content: [...scroller.childNodes],
    top: scroller.scrollTop || null,
  };
  scroller.addEventListener('scroll', () => {
    screen.top = scroller.scrollTop;
  });
  drawn = screen;
}

/** For the first screen alone, which goes on from there. */
export function takeDrawnScroll(): number | null {
  const top = drawn?.top ?? null;
  if (drawn) drawn.top = null;
  return top;
}

/** What the server drew for this route, to show until its page is there; null if that was nothing. */
export function drawnContent(route: string): readonly Node[] | null {
  return drawn?.route === route && drawn.content.length > 0 ? drawn.content : null;
}
