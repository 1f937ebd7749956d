import type { AxiosError, AxiosRequestConfig, AxiosResponse } from 'axios';
import {
  type ApiError,
  isApiError,
  isRouteMissing,
  MINOR_MODE,
  pointsOf,
  readersWords,
  retryAfterSeconds,
} from '../../contract';
import { createCell } from '../signal';

const KEPT_PROBLEMS = 5;
const problems = createCell<readonly string[]>([]);

/** Ids of what failed in this page last, as servers log them, newest first. */
export const recentProblems = problems.current;

/** Adds an id to what the reader sends to support. */
export const problemNoted = (id: string): void =>
  problems.set([id, ...problems.current().filter((each) => each !== id)].slice(0, KEPT_PROBLEMS));

export const isFailedRequest = (cause: unknown): cause is AxiosError =>
  typeof cause === 'object' && cause !== null && 'isAxiosError' in cause && !('__CANCEL__' in cause);

const isTimeout = (code: string | undefined) => code === 'ECONNABORTED' || code === 'ETIMEDOUT';

/** Names what went wrong with a request. Throws anything that was no failed request, an aborted one included. */
export function toApiError(cause: unknown): ApiError {
  if (isApiError(cause)) return cause;
  if (!isFailedRequest(cause)) throw cause;
  if (!cause.response) return { kind: isTimeout(cause.code) ? 'timeout' : 'offline' };
  const { data, status } = cause.response;
  const requestId = cause.response.headers['x-request-id'] ?? cause.config?.requestId;
  const wait = waitIn(cause.response);
  const named = {
    ...(typeof requestId === 'string' && { requestId }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  };
  // an HTML page with 404 comes from a proxy: it must not pass for an entity that is gone
  if (typeof data === 'string' && data !== '' && status !== 401) return { kind: 'server', status, ...named };
  const body: Body = typeof data === 'object' && data !== null ? (data as Body) : {};
  const plain = ofStatus(cause.response, body, isFilledIn(cause.config));
  const error = plain.kind === 'server' ? { ...plain, ...named } : plain;
  const message = isRouteMissing(status, body) ? undefined : readersWords(body.message ?? body.msg);
  return message === undefined ? error : { ...error, message };
}

type Body = Record<string, unknown>;

/** Where a 429 names none. */
const DEFAULT_WAIT_SECONDS = 60;

const waitIn = ({ headers }: AxiosResponse) => retryAfterSeconds(headers['retry-after'], headers.date);

/** Whether the reader has written something that is sent along: only then can it be wrong, or cost points. */
const isFilledIn = ({ method = 'get', params }: Partial<AxiosRequestConfig> = {}): boolean =>
  method.toLowerCase() !== 'get' || Boolean(params?.q);

function ofStatus(response: AxiosResponse, body: Body, isOfReader: boolean): ApiError {
  const { status } = response;
  // must not pass for a thing that is gone
  if (isRouteMissing(status, body) || (!isOfReader && [402, 422].includes(status))) return { kind: 'server', status };
  switch (status) {
    case 401:
      return { kind: 'unauthenticated' };
    case 402:
      return { kind: 'insufficientBalance', ...pointsOf(body) };
    case 403:
      return { kind: body.code === MINOR_MODE ? 'minorMode' : 'forbidden' };
    case 404:
      return { kind: 'notFound' };
    case 410:
      return { kind: 'gone' };
    case 408:
      return { kind: 'timeout' };
    case 409:
      return {
        kind: 'conflict',
        code: typeof body.code === 'string' ? body.code : '',
        ...(typeof body.price === 'number' && { price: body.price }),
      };
    case 422:
      return { kind: 'invalid', fields: (body.errors ?? {}) as Record<string, string[]> };
    case 429: {
      const wait = waitIn(response);
      return { kind: 'tooOften', retryAfterSeconds: wait === undefined ? DEFAULT_WAIT_SECONDS : wait };
    }
    default:
      return { kind: 'server', status };
  }
}
