import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { isApiError, type Pace, pauseMs, waitOf } from '../contract';
import { anyErrorText, problemId } from '../format/errorText';
import { Button } from './Button';
import { type Drawing, InkDrawing } from './InkDrawing';
import styles from './QueryView.module.css';
import { Skeleton } from './Skeleton';

/** What an RTK Query hook gives; `error` may be an `ApiError` or anything thrown. */
export interface Query<Data> {
  data?: Data | undefined;
  /** Where present it wins over `data`, which may still belong to the former argument. */
  currentData?: Data | undefined;
  error?: unknown;
  isFetching?: boolean;
  refetch: () => unknown;
  /** Of a list by cursor: while nothing is listed and there is another page, that one is fetched. */
  hasNextPage?: boolean;
  isFetchNextPageError?: boolean;
  fetchNextPage?: () => unknown;
}

export interface QueryViewProps<Data> {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
  isEmpty?: (data: Data) => boolean;
  /** A sentence, or a whole `EmptyState` with its action. */
  empty?: ReactNode;
  skeleton?: ReactNode;
  /** Replaces `ErrorFace` where a kind of error needs its own page (404). */
  renderError?: (error: unknown) => ReactNode;
}

/** The four states of a query: loading, failed, empty, loaded. */
export function QueryView<Data>(props: QueryViewProps<Data>) {
  const { query, children, isEmpty, empty, skeleton, renderError } = props;
  const data = 'currentData' in query ? query.currentData : query.data;
  const failed = query.error !== undefined && query.error !== null;
  useOwnRetries(query, failed);
  const isWithoutRows = data !== undefined && isEmpty?.(data) === true;
  const goesOn = isWithoutRows && query.hasNextPage === true;
  useNextPage(query, goesOn);
  if (goesOn && query.isFetchNextPageError && !query.isFetching)
    return <ErrorFace text={anyErrorText(query.error)} onRetry={() => query.fetchNextPage?.()} />;
  if (goesOn) return skeleton ?? <Skeleton shape="row" count={5} />;
  // that a list was empty once says nothing where the newest one did not come
  if (data === undefined || (isWithoutRows && failed)) {
    if (!failed || query.isFetching) return skeleton ?? <Skeleton shape="row" count={5} />;
    return (
      renderError?.(query.error) ?? (
        <ErrorFace text={anyErrorText(query.error)} problem={problemId(query.error)} onRetry={query.refetch} />
      )
    );
  }
  return (
    <>
      {failed && <QueryError query={query} />}
      {isWithoutRows ? <EmptyFace empty={empty} /> : children(data)}
    </>
  );
}

/** A server that filters after it pages sends pages without a row: they are no end. */
function useNextPage(
  { isFetching = false, isFetchNextPageError = false, fetchNextPage }: Query<unknown>,
  goesOn: boolean,
) {
  const fetchNext = useEffectEvent(() => void fetchNextPage?.());
  const isDue = goesOn && !isFetching && !isFetchNextPageError;
  useEffect(() => {
    if (isDue) fetchNext();
  }, [isDue]);
}

const QueryError = ({ query }: { query: Query<unknown> }) => (
  <ErrorRow
    text={anyErrorText(query.error)}
    problem={problemId(query.error)}
    onRetry={() => query.refetch()}
    retrying={query.isFetching ?? false}
  />
);

const EmptyFace = ({ empty }: { empty: ReactNode }) =>
  typeof empty === 'string' || empty === undefined ? <EmptyState text={empty ?? '这里还什么都没有'} /> : empty;

export interface ErrorFaceProps {
  text: string;
  /** Id of what failed, as servers log it. */
  problem?: string | undefined;
  onRetry: () => unknown;
  retrying?: boolean;
}

/** A whole screen that could not be had, where `ErrorRow` would look lost. */
export function ErrorFace({ text, problem, onRetry, retrying = false }: ErrorFaceProps) {
  useRetryOnline(onRetry);
  return (
    <div role="alert">
      <EmptyState
        drawing="moon"
        text={text}
        action={
          <>
            <Button variant="quiet" loading={retrying} onClick={() => onRetry()}>
              重试
            </Button>
            <ProblemCode id={problem} />
          </>
        }
      />
    </div>
  );
}

export interface ErrorRowProps {
  text: string;
  /** Id of what failed, as servers log it. */
  problem?: string | undefined;
  onRetry?: (() => void) | undefined;
  retryLabel?: string;
  retrying?: boolean;
}

/** What failed and the way to try again, in the place where the data would stand. */
export function ErrorRow({ text, problem, onRetry, retryLabel = '重试', retrying = false }: ErrorRowProps) {
  useRetryOnline(onRetry);
  return (
    <div className={styles.row} role="alert">
      <p className={styles.text}>{text}</p>
      {onRetry && (
        <Button variant="quiet" small loading={retrying} onClick={onRetry}>
          {retryLabel}
        </Button>
      )}
      <ProblemCode id={problem} />
    </div>
  );
}

/**
 * What the reader tells support, who find the failure by it in the logs: the beginning of the id, the whole of which is copied.
 * Nothing where there is no id.
 */
export function ProblemCode({ id }: { id: string | undefined }) {
  const [copied, setCopied] = useState<string>();
  if (!id) return null;
  return (
    <span className={styles.problem}>
      <span>问题编号 </span>
      <code translate="no">{id.slice(0, 8)}</code>
      {/* missing on http pages; there a long press takes the whole code */}
      {navigator.clipboard && (
        <button
          type="button"
          onClick={() =>
            void navigator.clipboard.writeText(id).then(
              () => setCopied(id),
              () => {},
            )
          }
        >
          {copied === id ? '已复制' : '复制'}
        </button>
      )}
    </span>
  );
}

export interface EmptyStateProps {
  /** One sentence that says what this is and what to do. */
  text: ReactNode;
  drawing?: Drawing;
  /** One button or link. */
  action?: ReactNode;
}

/** Nothing here, or nothing to be had: an ink drawing, a sentence, a way on. */
export function EmptyState({ text, drawing = 'lantern', action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <InkDrawing name={drawing} />
      <p className={styles.emptyStateText}>{text}</p>
      {action}
    </div>
  );
}

/** A server that restarts, or is too busy, may need a while. */
const RETRIES: Pace = { firstMs: 3_000, longestMs: 60_000, spread: 0.2 };
const passingKinds = new Set(['offline', 'timeout', 'server', 'tooOften']);

/** Tries again what may pass, after growing pauses and in a visible page, since no event says that a server is well again. */
function useOwnRetries({ error, isFetching = false, refetch }: Query<unknown>, failed: boolean) {
  const count = useRef(0);
  const retry = useEffectEvent(() => {
    count.current += 1;
    refetch();
  });
  const waits = failed && !isFetching && isApiError(error) && passingKinds.has(error.kind);
  const isWell = !failed && !isFetching;
  const wait = isApiError(error) ? waitOf(error) : undefined;
  useEffect(() => {
    if (isWell) count.current = 0;
    const pause = pauseMs(count.current, RETRIES, wait);
    if (!waits || pause === null) return;
    let isDue = false;
    const retryInSight = () => isDue && document.visibilityState === 'visible' && retry();
    const timer = setTimeout(() => {
      isDue = true;
      retryInSight();
    }, pause);
    document.addEventListener('visibilitychange', retryInSight);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', retryInSight);
    };
  }, [isWell, waits, wait]);
}

/** Tries again what failed, as soon as the network is back. */
function useRetryOnline(onRetry: (() => unknown) | undefined) {
  const retry = useEffectEvent(() => void onRetry?.());
  useEffect(() => {
    const onOnline = () => retry();
    window.addEventListener('online', onOnline);
    return () => window.removeEventListener('online', onOnline);
  }, []);
}
