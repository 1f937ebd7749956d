import type { AxiosError, AxiosRequestConfig, AxiosResponse } from 'axios';
import {
  type ApiError,
  endpoints,
  isApiError,
  isBusy,
  isRouteMissing,
  MINOR_MODE,
  pointsOf,
  priceOf,
  readersWords,
  retryAfterSeconds,
  statedMessage,
} from '../../contract';
import { createCell } from '../signal';

const MAX_PROBLEMS = 5;
const problems = createCell<readonly string[]>([]);

/** Request ids of the latest failures in this page, as servers log them, newest first. */
export const recentProblems = problems.current;

/** Adds a request id to the diagnostics for support. */
export const problemNoted = (id: string): void =>
  problems.set([id, ...problems.current().filter((each) => each !== id)].slice(0, MAX_PROBLEMS));

export const isFailedRequest = (cause: unknown): cause is AxiosError =>
  typeof cause === 'object' && cause !== null && 'isAxiosError' in cause && !('__CANCEL__' in cause);

const isTimeout = (code: string | undefined) => code === 'ECONNABORTED' || code === 'ETIMEDOUT';

/** Converts a failed request to `ApiError`. Throws any other cause, an aborted request included. */
export function toApiError(cause: unknown): ApiError {
  if (isApiError(cause)) return cause;
  if (!isFailedRequest(cause)) throw cause;
  // a network that requires a sign-in answers 511 in the server's place
  if (!cause.response || cause.response.status === 511) return { kind: isTimeout(cause.code) ? 'timeout' : 'offline' };
  const { data, status } = cause.response;
  const requestId = cause.response.headers['x-request-id'] ?? cause.config?.requestId;
  const wait = readWait(cause.response);
  const details = {
    ...(typeof requestId === 'string' && { requestId }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  };
  // an HTML page with status 404 comes from a proxy and must not count as a deleted entity
  if (typeof data === 'string' && data !== '' && status !== 401) return { kind: 'server', status, ...details };
  const body: Body = typeof data === 'object' && data !== null ? (data as Body) : {};
  const plainError = errorByStatus(cause.response, body);
  const error = plainError.kind === 'server' ? { ...plainError, ...details } : plainError;
  const message = isRouteMissing(status, body) ? undefined : readersWords(statedMessage(body));
  return message === undefined ? error : { ...error, message };
}

type Body = Record<string, unknown>;

/** For a 429 without `Retry-After`. */
const DEFAULT_WAIT_SECONDS = 60;

const readWait = ({ headers }: AxiosResponse) => retryAfterSeconds(headers['retry-after'], headers.date);

/** A text field in a request body, ids excepted. */
const textField = /"(?!\w*id")\w+":"/i;

/** Whether the request contains text of the user: only then can a 422 concern their input. Ids and numbers come from the page. */
export const isFilledIn = ({ data, params }: Pick<AxiosRequestConfig, 'data' | 'params'>): boolean =>
  Boolean(params?.q) || (typeof data === 'string' ? textField.test(data) : Boolean(data));

const kindByStatus = { 401: 'unauthenticated', 404: 'notFound', 408: 'timeout', 410: 'gone' } as const;

function errorByStatus(response: AxiosResponse, body: Body): ApiError {
  const { config } = response;
  const fields = (body.errors ?? {}) as Record<string, string[]>;
  const status = response.status === 400 && body.errors ? 422 : response.status;
  const isPageFault =
    // a read costs nothing, and an order is paid with money
    (status === 402 && (config.method === 'get' || config.url === endpoints.orders)) ||
    (status === 422 && !isFilledIn(config) && Object.keys(fields).length === 0);
  // must not count as a deleted entity
  if (isRouteMissing(status, body) || isPageFault) return { kind: 'server', status };
  switch (status) {
    case 401:
    case 404:
    case 408:
    case 410:
      return { kind: kindByStatus[status] };
    case 402:
      return { kind: 'insufficientBalance', ...pointsOf(body) };
    case 403:
      return { kind: body.code === MINOR_MODE ? 'minorMode' : 'forbidden' };
    case 409: {
      const conflict: ApiError = { kind: 'conflict', code: typeof body.code === 'string' ? body.code : '' };
      const price = isBusy(conflict) ? 0 : (priceOf(body) ?? 0);
      return price > 0 ? { ...conflict, price } : conflict;
    }
    case 422:
      return { kind: 'invalid', fields };
    case 429: {
      const wait = readWait(response);
      return { kind: 'tooOften', retryAfterSeconds: wait === undefined ? DEFAULT_WAIT_SECONDS : wait };
    }
    default:
      return { kind: 'server', status };
  }
}
