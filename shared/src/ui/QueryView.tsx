import type { ReactNode } from 'react';
import { anyErrorText } from '../format/errorText';
import { EmptyState } from './EmptyState';
import { ErrorFace } from './ErrorFace';
import { ErrorRow } from './ErrorRow';
import { Skeleton } from './Skeleton';

/** What an RTK Query hook gives; `error` may be an `ApiError` or anything thrown. */
export interface Query<Data> {
  data?: Data | undefined;
  /** Where present it wins over `data`, which may still belong to the former argument. */
  currentData?: Data | undefined;
  error?: unknown;
  isFetching?: boolean;
  refetch: () => unknown;
}

export interface QueryViewProps<Data> {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
  isEmpty?: (data: Data) => boolean;
  /** A sentence, or a whole `EmptyState` with its action. */
  empty?: ReactNode;
  skeleton?: ReactNode;
  /** Replaces the error face where a kind of error needs its own page (404). */
  renderError?: (error: unknown) => ReactNode;
}

/** The four faces of data, drawn once: waiting, failed, empty, there. */
export function QueryView<Data>(props: QueryViewProps<Data>) {
  const { query, children, isEmpty, empty, skeleton, renderError } = props;
  const data = 'currentData' in query ? query.currentData : query.data;
  const failed = query.error !== undefined && query.error !== null;
  if (data === undefined) {
    if (!failed || query.isFetching) return skeleton ?? <Skeleton shape="row" count={5} />;
    return renderError?.(query.error) ?? <ErrorFace text={anyErrorText(query.error)} onRetry={query.refetch} />;
  }
  return (
    <>
      {failed && <QueryError query={query} />}
      {isEmpty?.(data) ? <EmptyFace empty={empty} /> : children(data)}
    </>
  );
}

const QueryError = ({ query }: { query: Query<unknown> }) => (
  <ErrorRow text={anyErrorText(query.error)} onRetry={() => query.refetch()} retrying={query.isFetching ?? false} />
);

const EmptyFace = ({ empty }: { empty: ReactNode }) =>
  typeof empty === 'string' || empty === undefined ? <EmptyState text={empty ?? '这里还什么都没有'} /> : empty;
