/** Why a request failed, by the possible reaction; `message` is the server's own text. Serialisable. */
export type ApiError = { message?: string } & (
  | { kind: 'offline' | 'timeout' | 'unauthenticated' | 'forbidden' | 'notFound' | 'gone' }
  /** 未成年人模式 forbids it now; the user's `minor` contains until when */
  | { kind: 'minorMode' }
  | { kind: 'invalid'; fields: Record<string, string[]> }
  /** seconds from 1 to 900; null if the server wants longer, so that only the user may retry */
  | { kind: 'tooOften'; retryAfterSeconds: number | null }
  | { kind: 'insufficientBalance'; required: number; balance: number }
  /** `price`: the present price in points, if higher than the one that the user saw */
  | { kind: 'conflict'; code: string; price?: number }
  /** `requestId` identifies it in the server's logs; `retryAfterSeconds` as above, if the server sent one */
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

/** `code` of a 403 from 未成年人模式. */
export const MINOR_MODE = 'minor_mode';

/** `code` of a 404 for an unknown route; Laravel only sends a sentence of its own. */
export const ROUTE_MISSING = 'route_missing';

/** Laravel's router marks a missing route only by this sentence. */
const routeMissingText = /^The route .+ could not be found\.$/;
/** Whether a refusal means that the server lacks the endpoint, as opposed to the entity. */
export const isRouteMissing = (status: number, body: { code?: unknown; message?: unknown }): boolean =>
  status === 405 ||
  status === 501 ||
  (status === 404 && (body.code === ROUTE_MISSING || routeMissingText.test(String(body.message))));

/** Whether the server lacks the endpoint, so that a retry makes no sense. */
export const isCallMissing = (error: ApiError): boolean =>
  error.kind === 'server' && [404, 405, 501].includes(error.status);

/** Whether the conversation refused because its reply is still being written; retry soon. */
export const isBusy = (error: ApiError): boolean =>
  error.kind === 'conflict' && ['conversation_busy', 'busy'].includes(error.code);

/** How a remote failed, as pages report it and the release system counts it. */
export const remoteFailures = [
  /** 404, 5xx or no network */
  'unreachable',
  'hang',
  'integrity',
  'entry-threw',
  'init-threw',
  'module-missing',
  /** a file of a page or slot did not load */
  'chunk-lost',
  /** the module of a page or slot threw during evaluation */
  'module-threw',
  'render-threw',
  'contract',
] as const;

export type RemoteFailure = (typeof remoteFailures)[number];

/**
 * Whether React found a node moved, e.g. by a translator or highlighter. Safari's messages name no method: "The object can not be
 * found here.", "The operation would yield an incorrect node tree."
 */
export const isMovedNode = (cause: unknown): boolean =>
  cause instanceof Error &&
  /^(NotFoundError|HierarchyRequestError)$/.test(cause.name) &&
  /Child|Before|^The o/.test(cause.message);
