import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { isApiError, type Pace, pauseMs, waitOf } from '../contract';
import { listenTo, stopAll } from '../format/browser';
import { anyErrorText, problemId } from '../format/errorText';
import { Button } from './Button';
import { type Drawing, InkDrawing } from './InkDrawing';
import styles from './QueryView.module.css';
import { Skeleton } from './Skeleton';

/** Result of an RTK Query hook; `error` may be an `ApiError` or any thrown value. */
export interface Query<Data> {
  data?: Data | undefined;
  /** Takes precedence over `data`, which may belong to the previous argument. */
  currentData?: Data | undefined;
  error?: unknown;
  isFetching?: boolean;
  refetch: () => unknown;
  /** For cursor-paged lists: while the list is empty and has a next page, that page is fetched. */
  hasNextPage?: boolean;
  isFetchNextPageError?: boolean;
  fetchNextPage?: () => unknown;
}

export interface QueryViewProps<Data> {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
  isEmpty?: (data: Data) => boolean;
  /** A sentence, or an `EmptyState` with its action. */
  empty?: ReactNode;
  skeleton?: ReactNode;
  /** Replaces `ErrorFace` for errors with a page of their own (404). */
  renderError?: (error: unknown) => ReactNode;
}

/** Renders the four states of a query: loading, failed, empty, loaded. */
export function QueryView<Data>(props: QueryViewProps<Data>) {
  const { query, children, isEmpty, empty, skeleton, renderError } = props;
  const data = 'currentData' in query ? query.currentData : query.data;
  const hasFailed = query.error !== undefined && query.error !== null;
  useAutoRetry(query, hasFailed);
  const isWithoutRows = data !== undefined && isEmpty?.(data) === true;
  const mayHaveMore = isWithoutRows && query.hasNextPage === true;
  useNextPage(query, mayHaveMore);
  if (mayHaveMore && query.isFetchNextPageError && !query.isFetching)
    return <ErrorFace text={anyErrorText(query.error)} onRetry={() => query.fetchNextPage?.()} />;
  if (mayHaveMore) return skeleton ?? <Skeleton shape="row" count={5} />;
  // an empty older result is not shown if the latest request failed
  if (data === undefined || (isWithoutRows && hasFailed)) {
    if (!hasFailed || query.isFetching) return skeleton ?? <Skeleton shape="row" count={5} />;
    return (
      renderError?.(query.error) ?? (
        <ErrorFace text={anyErrorText(query.error)} problem={problemId(query.error)} onRetry={query.refetch} />
      )
    );
  }
  return (
    <>
      {hasFailed && <QueryError query={query} />}
      {isWithoutRows ? <EmptyContent empty={empty} /> : children(data)}
    </>
  );
}

/** A server that filters after paging may send empty pages before the end. */
function useNextPage(
  { isFetching = false, isFetchNextPageError = false, fetchNextPage }: Query<unknown>,
  mayHaveMore: boolean,
) {
  const fetchNext = useEffectEvent(() => void fetchNextPage?.());
  const isDue = mayHaveMore && !isFetching && !isFetchNextPageError;
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

const EmptyContent = ({ empty }: { empty: ReactNode }) =>
  typeof empty === 'string' || empty === undefined ? <EmptyState text={empty ?? '这里还什么都没有'} /> : empty;

export interface ErrorFaceProps {
  text: string;
  /** Request id of the failure, as in the servers' logs. */
  problem?: string | undefined;
  onRetry: () => unknown;
  retrying?: boolean;
}

/** Error state of a whole screen; `ErrorRow` is for a part of one. */
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
  /** Request id of the failure, as in the servers' logs. */
  problem?: string | undefined;
  onRetry?: (() => void) | undefined;
  retryLabel?: string;
  retrying?: boolean;
}

/** Error text with a retry button, in place of the data. */
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
 * Error id for support, to find the failure in the logs. Shows the first 8 characters and copies the whole id. Renders nothing
 * without an id.
 */
export function ProblemCode({ id }: { id: string | undefined }) {
  const [copied, setCopied] = useState<string>();
  if (!id) return null;
  return (
    <span className={styles.problem}>
      <span>问题编号 </span>
      <code translate="no">{id.slice(0, 8)}</code>
      {/* `clipboard` is missing on http pages, where a long press selects the code */}
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
  /** One sentence: what this is and what to do. */
  text: ReactNode;
  drawing?: Drawing;
  /** A button or link. */
  action?: ReactNode;
}

/** Empty or unavailable content: an ink drawing, a sentence and an action. */
export function EmptyState({ text, drawing = 'lantern', action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <InkDrawing name={drawing} />
      <p className={styles.emptyStateText}>{text}</p>
      {action}
    </div>
  );
}

/** Delays for a server that restarts or is busy. */
const RETRIES: Pace = { firstMs: 3_000, longestMs: 60_000, spread: 0.2 };
const temporaryKinds = new Set(['offline', 'timeout', 'server', 'tooOften']);

/** Retries temporary errors after growing delays while the page is visible, since no event signals a server's recovery. */
function useAutoRetry({ error, isFetching = false, refetch }: Query<unknown>, hasFailed: boolean) {
  const retryCount = useRef(0);
  const retry = useEffectEvent(() => {
    retryCount.current += 1;
    refetch();
  });
  const shouldRetry = hasFailed && !isFetching && isApiError(error) && temporaryKinds.has(error.kind);
  const hasSucceeded = !hasFailed && !isFetching;
  const wait = isApiError(error) ? waitOf(error) : undefined;
  useEffect(() => {
    if (hasSucceeded) retryCount.current = 0;
    const pause = pauseMs(retryCount.current, RETRIES, wait);
    if (!shouldRetry || pause === null) return;
    let isDue = false;
    const retryIfVisible = () => isDue && document.visibilityState === 'visible' && retry();
    const timer = setTimeout(() => {
      isDue = true;
      retryIfVisible();
    }, pause);
    return stopAll(() => clearTimeout(timer), listenTo(document, ['visibilitychange'], retryIfVisible));
  }, [hasSucceeded, shouldRetry, wait]);
}

function useRetryOnline(onRetry: (() => unknown) | undefined) {
  const retry = useEffectEvent(() => void onRetry?.());
  useEffect(() => listenTo(window, ['online'], () => retry()), []);
}
