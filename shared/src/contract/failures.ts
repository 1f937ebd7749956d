/** Why a request failed, by what can be done about it; `message` is the server's own. Serialisable. */
export type ApiError = { message?: string } & (
  | { kind: 'offline' }
  | { kind: 'timeout' }
  | { kind: 'unauthenticated' }
  | { kind: 'forbidden' }
  | { kind: 'notFound' }
  | { kind: 'gone' }
  | { kind: 'invalid'; fields: Record<string, string[]> }
  | { kind: 'tooOften'; retryAfterSeconds: number }
  | { kind: 'insufficientBalance'; required: number; balance: number }
  | { kind: 'conflict'; code: string }
  | { kind: 'server'; status: number }
);

const apiErrorKinds: Record<ApiError['kind'], true> = {
  offline: true,
  timeout: true,
  unauthenticated: true,
  forbidden: true,
  notFound: true,
  gone: true,
  invalid: true,
  tooOften: true,
  insufficientBalance: true,
  conflict: true,
  server: true,
};

export const isApiError = (value: unknown): value is ApiError =>
  typeof value === 'object' && value !== null && 'kind' in value && Object.hasOwn(apiErrorKinds, String(value.kind));

const busyCodes = ['conversation_busy', 'busy'];

/** Whether a conversation refused because its reply is still being written: it is to be tried again soon. */
export const isBusy = (error: ApiError): boolean => error.kind === 'conflict' && busyCodes.includes(error.code);

/** How a remote failed to show, as the page tells apart and the release system counts. */
export const remoteFailures = [
  /** 404, 5xx or no network */
  'unreachable',
  'hang',
  'integrity',
  'entry-threw',
  'init-threw',
  'module-missing',
  'chunk-lost',
  'render-threw',
  'contract',
] as const;

export type RemoteFailure = (typeof remoteFailures)[number];
