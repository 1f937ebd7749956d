import { AxiosError } from 'axios';

/** Every way a request can fail, by what the user can do about it. Serialisable; `message` is the server's own. */
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

const kinds = new Set<string>([
  'offline',
  'timeout',
  'unauthenticated',
  'forbidden',
  'notFound',
  'gone',
  'invalid',
  'tooOften',
  'insufficientBalance',
  'conflict',
  'server',
]);

export const isApiError = (value: unknown): value is ApiError =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  kinds.has(String((value as { kind: unknown }).kind));

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const number = (value: unknown, fallback: number) =>
  typeof value === 'number' && Number.isFinite(value) ? value : fallback;

function fieldsOf(errors: unknown): Record<string, string[]> {
  const lists = Object.entries(record(errors)).map(([field, texts]) => [field, [texts].flat().map(String)] as const);
  return Object.fromEntries(lists);
}

/** Seconds of a `Retry-After` header, which may also be a date. */
function retryAfter(header: unknown): number {
  const seconds = Number(header);
  if (Number.isFinite(seconds) && header !== '' && header !== undefined) return Math.max(1, Math.ceil(seconds));
  const until = Date.parse(String(header));
  return Number.isNaN(until) ? 60 : Math.max(1, Math.ceil((until - Date.now()) / 1000));
}

function fromStatus(status: number, data: unknown, headers: Record<string, unknown>): ApiError {
  const body = record(data);
  const message = typeof body.message === 'string' && body.message !== '' ? body.message : undefined;
  switch (status) {
    case 401:
      return { kind: 'unauthenticated', message };
    case 402:
      return {
        kind: 'insufficientBalance',
        message,
        required: number(body.required, 0),
        balance: number(body.balance, 0),
      };
    case 403:
      return { kind: 'forbidden', message };
    case 404:
      return { kind: 'notFound', message };
    case 409:
      return { kind: 'conflict', message, code: String(body.code ?? '') };
    case 410:
      return { kind: 'gone', message };
    case 422:
      return { kind: 'invalid', message, fields: fieldsOf(body.errors) };
    case 429:
      return { kind: 'tooOften', message, retryAfterSeconds: retryAfter(headers['retry-after']) };
    default:
      return { kind: 'server', message, status };
  }
}

/** The failure as an ApiError. Rethrows what is no failed request: that is a defect, not a case to handle. */
export function toApiError(cause: unknown): ApiError {
  if (isApiError(cause)) return cause;
  if (!(cause instanceof AxiosError)) throw cause;
  if (cause.response) return fromStatus(cause.response.status, cause.response.data, { ...cause.response.headers });
  if (cause.code === AxiosError.ECONNABORTED || cause.code === AxiosError.ETIMEDOUT) return { kind: 'timeout' };
  return { kind: 'offline' };
}
