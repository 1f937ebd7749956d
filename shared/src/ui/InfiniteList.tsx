import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { anyErrorText, problemId } from '../format/errorText';
import { Spinner } from './Button';
import styles from './InfiniteList.module.css';
import { ErrorRow } from './QueryView';

export interface InfiniteListProps {
  children: ReactNode;
  hasMore: boolean;
  /** The next page is on its way. */
  loading: boolean;
  /** Why the next page did not come; stops asking until the reader retries. */
  error?: unknown;
  onMore: () => unknown;
  /** The last line; `null` for none. */
  end?: ReactNode;
}

const AHEAD = '800px 0px';

/** A list by cursor: asks for the next page 800 px before its end and says what goes on there. */
export function InfiniteList({ children, hasMore, loading, error, onMore, end = <EndOfList /> }: InfiniteListProps) {
  const sentinel = useRef<HTMLDivElement>(null);
  const more = useEffectEvent(() => onMore());
  const failed = error !== undefined && error !== null;
  const waiting = hasMore && !loading && !failed;
  // Observed again after each page, since a sentinel that never left the margin reports nothing; a quick page may come without a render
  // in between that says it is on its way.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other children are another page
  useEffect(() => {
    const element = sentinel.current;
    if (!waiting || !element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) more();
      },
      { root: scrollerOf(element), rootMargin: AHEAD },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [waiting, children]);
  return (
    <>
      {children}
      <div ref={sentinel} className={styles.foot} aria-busy={(hasMore && loading) || undefined}>
        {hasMore && loading && <Spinner label="正在加载更多" />}
        {hasMore && !loading && failed && (
          <ErrorRow text={anyErrorText(error)} problem={problemId(error)} onRetry={() => onMore()} />
        )}
        {!hasMore && end}
      </div>
    </>
  );
}

/** A margin only counts against the box that scrolls, and each screen has its own; null is the window. */
export function scrollerOf(element: Element): HTMLElement | null {
  for (let parent = element.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return parent;
  }
  return null;
}

/** The last line of a list, set like the close of a chapter. */
export function EndOfList({ text = '到底了' }: { text?: string }) {
  return <p className={styles.end}>{text}</p>;
}
