import axios, {
  type AxiosAdapter,
  type AxiosInstance,
  getAdapter,
  type InternalAxiosRequestConfig,
  isAxiosError,
} from 'axios';
import { API_BASE, type ApiError, edgeEndpoints, endpoints } from '../../contract';
import { withEarlyRequest } from './earlyRequest';
import { socketId } from './socketId';
import { toApiError } from './toApiError';
import { reportUnauthenticated, signInEpoch } from './unauthenticated';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** sign-in in which the request was made */
    signInEpoch?: number;
    /** how often it was sent again for want of an answer */
    retries?: number;
    /** it was sent again with a fresh CSRF token */
    hasFreshToken?: boolean;
  }
}

const TIMEOUT_MS = 10_000;
const GET_RETRIES = 2;
const RETRY_BASE_MS = 300;

const atEdge: { adapter: AxiosAdapter } = { adapter: (config) => getAdapter(axios.defaults.adapter, config)(config) };

/** Replaces what carries requests, for tests. Returns the way to undo it. */
export function replaceAdapter(adapter: AxiosAdapter): () => void {
  const former = atEdge.adapter;
  atEdge.adapter = adapter;
  return () => {
    atEdge.adapter = former;
  };
}

/** The one way to the server. Resolves to the response body, rejects with `ApiError`. */
export const client: AxiosInstance = axios.create({
  baseURL: API_BASE,
  timeout: TIMEOUT_MS,
  withCredentials: true,
  headers: { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest' },
  adapter: withEarlyRequest((config) => atEdge.adapter(config)),
});

client.interceptors.request.use(async (config) => {
  config.signInEpoch ??= signInEpoch.current();
  const socket = socketId.current();
  if (socket) config.headers.set('X-Socket-ID', socket);
  if (config.method !== 'get') await prepareToken();
  return config;
});

client.interceptors.response.use(({ data }) => {
  // JSON that could not be read stays text: a captive portal's page, or a body cut short
  if (typeof data !== 'string' || data === '') return data;
  const noAnswer: ApiError = { kind: 'offline' };
  throw noAnswer;
}, recover);

async function recover(cause: unknown): Promise<unknown> {
  const config = isAxiosError(cause) ? cause.config : undefined;
  if (!config || !isAxiosError(cause) || axios.isCancel(cause)) throw cause;
  const status = cause.response?.status;
  if (status === 419 && !config.hasFreshToken) {
    await refreshToken();
    return client.request({ ...config, hasFreshToken: true });
  }
  if (mayRetry(config, status, cause.code)) {
    await pauseBeforeRetry(config);
    return client.request({ ...config, retries: (config.retries ?? 0) + 1 });
  }
  const error = toApiError(cause);
  if (error.kind === 'unauthenticated' && config.url !== endpoints.logout)
    reportUnauthenticated(config.signInEpoch ?? 0);
  throw error;
}

let tokenUnderWay: Promise<void> | null = null;

const hasToken = () => /(?:^|; )XSRF-TOKEN=/.test(document.cookie);
/** Asked for once in vain: this server sets none, or cannot be reached and will say so itself. */
let isTokenless = false;

/** Fetches the CSRF token where the page has none, which saves the first change a refusal and a replay. Never rejects. */
export async function prepareToken(): Promise<void> {
  if (hasToken() || isTokenless) return;
  await refreshToken();
  isTokenless = !hasToken();
}

/** Laravel sets the token's cookie here; where the route is missing the answer to the replay says what is wrong. */
function refreshToken(): Promise<void> {
  tokenUnderWay ??= atEdgeGet(edgeEndpoints.csrfCookie).finally(() => {
    tokenUnderWay = null;
  });
  return tokenUnderWay;
}

const atEdgeGet = (url: string): Promise<void> =>
  axios.get(url, { adapter: (config) => atEdge.adapter(config), timeout: TIMEOUT_MS, withCredentials: true }).then(
    () => undefined,
    (cause: unknown) => void toApiError(cause),
  );

/** Only a GET may be sent again by itself: anything else may have been done although its answer was lost. */
function mayRetry({ method, retries = 0 }: InternalAxiosRequestConfig, status: number | undefined, code?: string) {
  if (method !== 'get' || retries >= GET_RETRIES) return false;
  if (status !== undefined) return status >= 502 && status <= 504;
  return code === 'ERR_NETWORK' && navigator.onLine;
}

const pauseBeforeRetry = ({ retries = 0, signal }: InternalAxiosRequestConfig) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, Math.random() * RETRY_BASE_MS * 2 ** (retries + 1));
    signal?.addEventListener?.('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
