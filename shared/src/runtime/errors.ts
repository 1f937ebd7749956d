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

const kinds: Record<ApiError['kind'], true> = {
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
  typeof value === 'object' && value !== null && 'kind' in value && Object.hasOwn(kinds, String(value.kind));
