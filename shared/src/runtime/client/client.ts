import axios, { type AxiosError, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios';
import { toApiError } from '../errors';
import { emitUnauthenticated } from '../unauthenticated';
import { earlyAdapter } from './earlyResponse';
import { socketId } from './socketId';

type Config = InternalAxiosRequestConfig & { attempts?: number; replayed?: boolean };

const timeoutMs = 10_000;
const retries = 2;
const retryable = new Set([502, 503, 504]);

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The page's only HTTP client: base `/api`, 10 s, cookies and CSRF sent, body handed on, failures as ApiError. */
export const client: AxiosInstance = axios.create({
  baseURL: '/api',
  timeout: timeoutMs,
  withCredentials: true,
  withXSRFToken: true,
  adapter: earlyAdapter,
  headers: { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest' },
});

client.interceptors.request.use((config) => {
  const id = socketId();
  if (id) config.headers.set('X-Socket-ID', id);
  return config;
});

const wasTransient = ({ response, code }: AxiosError) =>
  response
    ? retryable.has(response.status)
    : code !== 'ERR_CANCELED' && code !== 'ECONNABORTED' && code !== 'ETIMEDOUT';

/** 419: the CSRF cookie is stale. It is fetched anew (an API without that call answers 404) and the request replayed once. */
async function replayWithToken(config: Config) {
  await axios.get('/sanctum/csrf-cookie', { withCredentials: true, timeout: timeoutMs }).catch(() => undefined);
  config.replayed = true;
  return client.request(config);
}

async function retryGet(config: Config) {
  config.attempts = (config.attempts ?? 0) + 1;
  await pause(200 * 2 ** config.attempts * (0.5 + Math.random()));
  return client.request(config);
}

client.interceptors.response.use(
  (response) => response.data,
  async (cause: unknown) => {
    if (axios.isAxiosError(cause) && cause.config) {
      const config = cause.config as Config;
      if (cause.response?.status === 419 && !config.replayed) return replayWithToken(config);
      // a POST is never sent again by itself: it may have been done
      if (config.method === 'get' && (config.attempts ?? 0) < retries && wasTransient(cause)) return retryGet(config);
    }
    const error = toApiError(cause);
    if (error.kind === 'unauthenticated') emitUnauthenticated();
    return Promise.reject(error);
  },
);

export interface RequestOptions {
  url: string;
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  params?: Record<string, unknown>;
  body?: unknown;
  /** sent as `Idempotency-Key`: the same key and body is done once */
  idempotencyKey?: string;
  signal?: AbortSignal;
  baseURL?: string;
  timeoutMs?: number;
}

/** Asks the API and resolves to the response's body. Rejects with ApiError. */
export async function request<T>({
  url,
  method = 'GET',
  params,
  body,
  idempotencyKey,
  signal,
  baseURL,
  timeoutMs: timeout,
}: RequestOptions): Promise<T> {
  // the interceptor hands on the body, which axios' types do not know
  const answer: unknown = await client.request({
    url,
    method,
    params,
    data: body,
    signal,
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
  });
  return answer as T;
}
