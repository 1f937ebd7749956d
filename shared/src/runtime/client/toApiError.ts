import { type AxiosResponse, isAxiosError, isCancel } from 'axios';
import { type ApiError, isApiError } from '../../contract';

type Body = Record<string, unknown>;

const DEFAULT_WAIT_SECONDS = 60;

const toNumber = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0);

/** Laravel's `{ field: [text, …] }`; a single text counts as a list of one. */
function toFields(errors: unknown): Record<string, string[]> {
  if (typeof errors !== 'object' || errors === null) return {};
  return Object.fromEntries(Object.entries(errors).map(([field, texts]) => [field, [texts].flat().map(String)]));
}

/** Seconds, or a date; a server that does not say means a minute. */
function toWaitSeconds(header: unknown): number {
  if (header === undefined || header === null || header === '') return DEFAULT_WAIT_SECONDS;
  const seconds = Number.isFinite(Number(header))
    ? Number(header)
    : Math.ceil((Date.parse(String(header)) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.max(1, seconds) : DEFAULT_WAIT_SECONDS;
}

function ofStatus({ status, headers }: AxiosResponse, body: Body): ApiError {
  switch (status) {
    case 401:
      return { kind: 'unauthenticated' };
    case 402:
      return { kind: 'insufficientBalance', required: toNumber(body.required), balance: toNumber(body.balance) };
    case 403:
      return { kind: 'forbidden' };
    case 404:
      return { kind: 'notFound' };
    case 410:
      return { kind: 'gone' };
    case 408:
      return { kind: 'timeout' };
    case 409:
      return { kind: 'conflict', code: typeof body.code === 'string' ? body.code : '' };
    case 422:
      return { kind: 'invalid', fields: toFields(body.errors) };
    case 429:
      return { kind: 'tooOften', retryAfterSeconds: toWaitSeconds(headers['retry-after']) };
    default:
      return { kind: 'server', status };
  }
}

const isTimeout = (code: string | undefined) => code === 'ECONNABORTED' || code === 'ETIMEDOUT';

/** Names what went wrong with a request. Throws whatever was no failed request, an aborted one included. */
export function toApiError(cause: unknown): ApiError {
  if (isApiError(cause)) return cause;
  if (!isAxiosError(cause) || isCancel(cause)) throw cause;
  if (!cause.response) return { kind: isTimeout(cause.code) ? 'timeout' : 'offline' };
  const { data, status } = cause.response;
  // a page that says 404 is somebody else's: it must not pass for an entity that is gone
  if (typeof data === 'string' && data !== '' && status !== 401) return { kind: 'server', status };
  const body: Body = typeof data === 'object' && data !== null ? (data as Body) : {};
  const error = ofStatus(cause.response, body);
  return typeof body.message === 'string' && body.message !== '' ? { ...error, message: body.message } : error;
}
