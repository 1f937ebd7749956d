import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { anyErrorText, problemId } from '../format/errorText';
import { Spinner } from './Button';
import styles from './InfiniteList.module.css';
import { ErrorRow } from './QueryView';

export interface InfiniteListProps {
  children: ReactNode;
  hasMore: boolean;
  /** The next page is loading. */
  loading: boolean;
  /** Error of the next page; no further request until the user retries. */
  error?: unknown;
  onMore: () => unknown;
  /** Last line of the list; `null` for none. */
  end?: ReactNode;
}

const PRELOAD_MARGIN = '800px 0px';

/** A cursor-paged list: loads the next page 800 px before its end and shows loading and errors there. */
export function InfiniteList({ children, hasMore, loading, error, onMore, end = <EndOfList /> }: InfiniteListProps) {
  const sentinel = useRef<HTMLDivElement>(null);
  const loadMore = useEffectEvent(() => onMore());
  const hasFailed = error !== undefined && error !== null;
  const isIdle = hasMore && !loading && !hasFailed;
  // Observes again after each page, since a sentinel that stays within the margin reports nothing. A fast page may arrive without
  // a render in which `loading` is true.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other children are another page
  useEffect(() => {
    const element = sentinel.current;
    if (!isIdle || !element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) loadMore();
      },
      { root: scrollerOf(element), rootMargin: PRELOAD_MARGIN },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isIdle, children]);
  return (
    <>
      {children}
      <div ref={sentinel} className={styles.foot} aria-busy={(hasMore && loading) || undefined}>
        {hasMore && loading && <Spinner label="正在加载更多" />}
        {hasMore && !loading && hasFailed && (
          <ErrorRow text={anyErrorText(error)} problem={problemId(error)} onRetry={() => onMore()} />
        )}
        {!hasMore && end}
      </div>
    </>
  );
}

/** The scroll container that `rootMargin` refers to; each screen has its own. Null is the window. */
export function scrollerOf(element: Element): HTMLElement | null {
  for (let parent = element.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return parent;
  }
  return null;
}

export function EndOfList({ text = '到底了' }: { text?: string }) {
  return <p className={styles.end}>{text}</p>;
}
