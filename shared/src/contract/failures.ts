/** Why a request failed, by what can be done about it; `message` is the server's own. Serialisable. */
export type ApiError = { message?: string } & (
  | { kind: 'offline' }
  | { kind: 'timeout' }
  | { kind: 'unauthenticated' }
  | { kind: 'forbidden' }
  /** 未成年人模式 allows it not now; the user's `minor` says until when */
  | { kind: 'minorMode' }
  | { kind: 'notFound' }
  | { kind: 'gone' }
  | { kind: 'invalid'; fields: Record<string, string[]> }
  /** seconds from 1 to 900; null where the server wants longer, so that only the reader tries again */
  | { kind: 'tooOften'; retryAfterSeconds: number | null }
  | { kind: 'insufficientBalance'; required: number; balance: number }
  /** `price`: points that it costs now, where that is more than the reader was shown */
  | { kind: 'conflict'; code: string; price?: number }
  /** `requestId` finds it in the server's logs; `retryAfterSeconds` as above, where the server named a wait */
  | { kind: 'server'; status: number; requestId?: string; retryAfterSeconds?: number | null }
);

const apiErrorKinds: Record<ApiError['kind'], true> = {
  offline: true,
  timeout: true,
  unauthenticated: true,
  forbidden: true,
  minorMode: true,
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

/** `code` of a 403 by which 未成年人模式 refuses. */
export const MINOR_MODE = 'minor_mode';

/** `code` of a 404 for an address that the server does not have; Laravel says it in a sentence of its own. */
export const ROUTE_MISSING = 'route_missing';

/** How Laravel's router says it: there is no other mark of it in the answer. */
const routeMissingText = /^The route .+ could not be found\.$/;
/** Whether a refusal says that the server has no such call, rather than no such thing. */
export const isRouteMissing = (status: number, body: { code?: unknown; message?: unknown }): boolean =>
  status === 405 ||
  status === 501 ||
  (status === 404 && (body.code === ROUTE_MISSING || routeMissingText.test(String(body.message))));

const missingStatuses = [404, 405, 501];

/** Whether the server has no such call: to try again is no use. */
export const isCallMissing = (error: ApiError): boolean =>
  error.kind === 'server' && missingStatuses.includes(error.status);

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
  /** a file of a page or slot did not come */
  'chunk-lost',
  /** the module of a page or slot threw as it was evaluated */
  'module-threw',
  'render-threw',
  'contract',
] as const;

export type RemoteFailure = (typeof remoteFailures)[number];

/**
 * React meets a node that is not where it put it: a translator or a highlighter has moved it. Safari names no method: "The object can
 * not be found here.", "The operation would yield an incorrect node tree."
 */
export const isMovedNode = (cause: unknown): boolean =>
  cause instanceof Error &&
  /^(NotFoundError|HierarchyRequestError)$/.test(cause.name) &&
  /Child|Before|^The o/.test(cause.message);
