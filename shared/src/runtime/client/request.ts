import type { AxiosAdapter, AxiosInstance, AxiosRequestConfig, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { GenericSchema, InferOutput } from 'valibot';
import {
  API_BASE,
  type ApiError,
  edgeEndpoints,
  endpoints,
  flatPage,
  type Pace,
  pauseMs,
  waitOf,
} from '../../contract';
import { retryPolicy } from '../retryPolicy';
import { createCell, createSignal } from '../signal';
import { ANONYMOUS, currentOwner } from '../storage/owner';
import { createCsrfToken } from './csrf';
import { decode } from './decode';
import { claimEarlyBody } from './earlyRequest';
import { isFailedRequest, problemNoted, toApiError } from './errors';
import { createNetwork } from './network';
import { signInEpoch, unauthenticated } from './unauthenticated';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** number of the sign-in during which the request was made */
    signInEpoch?: number;
    /** retries after a missing response */
    retries?: number;
    /** identifies the request in the logs of server and backend; the same for all retries */
    requestId?: string;
    /** start of the latest attempt, by the page's clock */
    begunAt?: number;
    /** number of CSRF tokens that the server has refused for it */
    refusedTokens?: number;
    /** the page works without it, so that a 401 does not end the session */
    isOptional?: boolean;
  }
}

export interface RequestOptions {
  /** path below `/api`, unless `baseURL` is set */
  url: string;
  method?: string;
  /** `cursor` may be the whole query of the next page, as `cursorPageSchema` reads it from a link */
  params?: { cursor?: string; [name: string]: unknown };
  body?: unknown;
  /** shape of the response; a body of another shape is rejected */
  schema?: GenericSchema;
  /** one per user action; the server answers a repeated key with its first response */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** '' for paths outside `/api` */
  baseURL?: string;
  timeoutMs?: number;
  /** The page works without it, so that a 401 does not end the session. */
  isOptional?: boolean;
}

type ResponseOf<Options extends RequestOptions> = Options extends { schema: infer Schema extends GenericSchema }
  ? InferOutput<Schema>
  : unknown;

/**
 * Sends one request; resolves to the response body as parsed by `schema`. Rejects with `ApiError`, or with a `CanceledError` if
 * `signal` ended it. A body of another shape (a captive portal's page, a truncated one) rejects as `offline`; a list without a
 * readable row rejects as `server`. If its user has signed out or given way to another meanwhile, it rejects as `unauthenticated`.
 */
export async function request<const Options extends RequestOptions>(options: Options): Promise<ResponseOf<Options>> {
  const { url, method = 'GET', params, body, schema, idempotencyKey, signal, baseURL, timeoutMs, isOptional } = options;
  const config: AxiosRequestConfig = {
    url,
    method,
    params: toQueryParams(params),
    data: body,
    signal,
    signInEpoch: signInEpoch.current(),
    ...(isOptional && { isOptional }),
    ...(baseURL !== undefined && { baseURL }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
  };
  const owner = currentOwner();
  const responseBody: unknown = await fetchBody(config).finally(() => {
    // neither data nor failures of a user who has left may reach their successor
    if (!isOptional && owner !== ANONYMOUS && owner !== currentOwner())
      throw { kind: 'unauthenticated' } satisfies ApiError;
  });
  if (!schema) return responseBody as ResponseOf<Options>;
  // a change that is confirmed by nothing, `null` or a word reads like one confirmed by an empty object
  const isBare = method !== 'GET' && Object(responseBody) !== responseBody;
  const decoded = decode(schema, isBare ? {} : responseBody, `${method} ${url}`);
  if (decoded !== undefined && !(method === 'GET' && hasOnlyMessage(responseBody)))
    return decoded as ResponseOf<Options>;
  if (!hasRows(responseBody)) return failOffline();
  const error: ApiError = { kind: 'server', status: 200 };
  throw error;
}

/** A server that names the next page by a query string expects those parameters instead of `cursor`. */
const toQueryParams = (params: RequestOptions['params']) =>
  params?.cursor?.[0] === '?'
    ? { ...params, cursor: undefined, ...Object.fromEntries(new URLSearchParams(params.cursor)) }
    : params;

/** A body with only a message has no data; a schema of optional fields alone would accept it. */
const hasOnlyMessage = (answer: unknown): boolean => /^(message|msg|detail)$/.test(Object.keys(Object(answer)).join());

/** A list with rows comes from the server, even if no row is readable. */
function hasRows(answer: unknown): boolean {
  const page = flatPage(answer);
  const list = (page as { data?: unknown } | null)?.data ?? page;
  return Array.isArray(list) && list.length > 0;
}

/** The interceptor returns the body, which axios' types do not know. */
const fetchBody = async (config: AxiosRequestConfig): Promise<unknown> =>
  (await fetchEarlyBody(config)) ?? send(config);

/** The response of the loader's early request, so that the first screen need not wait for axios. */
async function fetchEarlyBody(config: AxiosRequestConfig): Promise<unknown> {
  if (!transport.isDispensable()) return undefined;
  const earlyBody = await claimEarlyBody({ baseURL: API_BASE, ...config }, transport.get());
  if (earlyBody) network.recordResponse(0);
  return earlyBody;
}

const TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;
const GET_RETRIES = 2;
/** Delays for a lost connection, which is often a single event. */
const QUICK: Pace = { firstMs: 600, longestMs: 1_200, spread: 1 };
/** A longer `Retry-After` is not waited for: the caller gets the error. */
const MAX_RETRY_WAIT_SECONDS = 3;

type AdapterWrapper = (next: AxiosAdapter) => AxiosAdapter;

/** The adapter below the interceptors. */
const networkEdge: { adapter?: AxiosAdapter; around?: AdapterWrapper } = {};

/** Replaces the network, for tests. Returns the function that restores it. */
export function replaceAdapter(adapter: AxiosAdapter): () => void {
  const previousAdapter = networkEdge.adapter;
  networkEdge.adapter = adapter;
  return () => {
    networkEdge.adapter = previousAdapter;
  };
}

/** Wraps all requests, retries included. Returns the function that removes the wrapper. */
export function aroundRequests(around: AdapterWrapper): () => void {
  networkEdge.around = around;
  return () => {
    if (networkEdge.around === around) networkEdge.around = undefined;
  };
}

/** Returns a UUID v4. `crypto.randomUUID` is missing on http pages; `getRandomValues` is available there. */
export function newClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => {
    const maskedByte = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return maskedByte.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const CSRF_HEADER = 'X-XSRF-TOKEN';

const settings = {
  baseURL: API_BASE,
  timeout: TIMEOUT_MS,
  withCredentials: true,
  // axios reads only the first of several tokens
  withXSRFToken: false,
  headers: { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest' },
};

async function addRequestHeaders(config: InternalAxiosRequestConfig) {
  config.requestId ??= newClientId();
  config.begunAt = performance.now();
  config.headers.set('X-Request-Id', config.requestId);
  const trace = pageTrace();
  if (trace) config.headers.set('traceparent', trace);
  const socket = socketId.current();
  if (socket) config.headers.set('X-Socket-ID', socket);
  if (config.method !== 'get') {
    await csrfToken.prepare();
    // the wait for a turn or a token may outlast the session: another user would make the change
    if (config.signInEpoch !== signInEpoch.current()) throw { kind: 'unauthenticated' } satisfies ApiError;
    const token = csrfToken.current();
    if (token !== undefined) config.headers.set(CSRF_HEADER, token);
  }
  return config;
}

function unwrapBody({ data, config }: AxiosResponse) {
  retryPolicy.answered(callKey(config));
  network.recordResponse(config.begunAt);
  return data;
}

function failOffline(): never {
  network.recordFailure();
  const error: ApiError = { kind: 'offline' };
  throw error;
}

/**
 * Loads axios in a separate file with the first request: most pages render their first screen without it. `plain` has neither the
 * app's settings nor its interceptors.
 */
function createTransport() {
  let pendingTransport: Promise<Record<'client' | 'plain', AxiosInstance>> | null = null;
  let isLoaded = false;
  const load = async () => {
    const { createAxios } = await import(/* webpackChunkName: "client" */ './transport');
    const adapter = () => networkEdge.adapter;
    const client = createAxios(settings, adapter, (send) => networkEdge.around?.(send) ?? send);
    client.interceptors.request.use(addRequestHeaders);
    client.interceptors.response.use(unwrapBody, handleFailure);
    isLoaded = true;
    return { client, plain: createAxios({}, adapter) };
  };
  return {
    get() {
      pendingTransport ??= load().catch(() => {
        // the next request loads the file again
        pendingTransport = null;
        return failOffline();
      });
      return pendingTransport;
    },
    /** Whether a request may skip axios: it is not loaded, and no wrapper needs to see the response. */
    isDispensable: () => !isLoaded && !networkEdge.around,
  };
}

const transport = createTransport();

/** Loads axios for a page that is about to send a request. Never rejects. */
export const prepareClient = async (): Promise<void> => void (await transport.get().catch(() => null));

/** Key of the server's waits, without the query: one wait applies to all pages of a list. */
const callKey = ({ method = 'get', url = '' }: AxiosRequestConfig) => `${method.toUpperCase()} ${url.split('?')[0]}`;

async function send(config: AxiosRequestConfig): Promise<unknown> {
  await retryPolicy.pass(callKey(config), config.signal);
  return (await transport.get()).client.request(config);
}

/** Absolute URL of a call, for callers that cannot use `request`. */
export const apiUrl = (path: string): string => new URL(API_BASE + path, location.href).href;

/** After this time a call starts a trace of its own. */
const PAGE_TRACE_MS = 600_000;

/** `traceparent` of the document, if the server sent one: calls become spans below the document's. */
function pageTrace(): string | undefined {
  if (performance.now() > PAGE_TRACE_MS) return undefined;
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return page?.serverTiming?.find(({ name }) => name === 'traceparent')?.description;
}

const minorModeRefusals = createSignal();
/** Subscribes to calls refused because 未成年人模式 allows no more. Returns the unsubscribe function. */
export const onMinorModeRefusal = minorModeRefusals.on;

const priceRises = createSignal<[answer: unknown]>();
/** Subscribes to calls refused because their price differs from the one that the user saw. Returns the unsubscribe function. */
export const onPriceRise = priceRises.on;

async function handleFailure(cause: unknown): Promise<unknown> {
  const config = isFailedRequest(cause) ? cause.config : undefined;
  if (!config || !isFailedRequest(cause)) throw cause;
  const status = cause.response?.status;
  if (status === 419) {
    const refusedTokens = (config.refusedTokens ?? 0) + 1;
    if (await csrfToken.renew(config.headers.get(CSRF_HEADER)?.toString(), refusedTokens))
      return send({ ...config, refusedTokens });
  }
  const error = toApiError(cause);
  retryPolicy.answered(callKey(config), error);
  if (mayRetry(config, status, cause.code) && isShortWait(error)) {
    await pauseBeforeRetry(config, error);
    return send({ ...config, retries: (config.retries ?? 0) + 1 });
  }
  if (error.kind === 'server') {
    // support finds the request in the server's logs by this id
    console.warn(`${config.method?.toUpperCase()} ${config.url}: ${status}, request ${error.requestId}`);
    if (error.requestId) problemNoted(error.requestId);
  }
  if (error.kind === 'offline' || error.kind === 'timeout') network.recordFailure();
  // a gateway may answer with 5xx for a server that is down
  else if (error.kind !== 'server') network.recordResponse(config.begunAt);
  if (error.kind === 'unauthenticated' && config.url !== endpoints.logout && !config.isOptional)
    unauthenticated.report(config.signInEpoch ?? 0);
  // what is gone already need not be deleted
  if (config.method === 'delete' && (error.kind === 'notFound' || error.kind === 'gone')) return undefined;
  if (error.kind === 'minorMode') minorModeRefusals.emit();
  if (error.kind === 'conflict' && error.price !== undefined) priceRises.emit(cause.response?.data);
  throw error;
}

const PROBE = 'probe';

/** Probes `GET /v1/user`, which every backend has; any JSON counts. Without the interceptors, which would act on a 401. */
async function isServerReachable(): Promise<boolean> {
  try {
    await retryPolicy.pass(PROBE);
  } catch {
    return false;
  }
  try {
    const { plain } = await transport.get();
    const { data } = await plain.get(`${API_BASE}${endpoints.user}`, {
      timeout: PROBE_TIMEOUT_MS,
      headers: { Accept: 'application/json' },
      withCredentials: true,
      validateStatus: (status) => status < 500,
    });
    retryPolicy.answered(PROBE);
    return typeof data === 'object';
  } catch (cause) {
    retryPolicy.answered(PROBE, toApiError(cause));
    return false;
  }
}

export const network = createNetwork(isServerReachable);

/** Laravel sets the cookie at this address. If the route is missing, the response to the retried change shows the error. */
async function fetchCsrfCookie(): Promise<void> {
  try {
    const { plain } = await transport.get();
    await plain.get(edgeEndpoints.csrfCookie, { timeout: TIMEOUT_MS, withCredentials: true });
  } catch (cause) {
    toApiError(cause);
  }
}

export const csrfToken = createCsrfToken(fetchCsrfCookie);

/** Only a GET is safe to retry automatically: the server may have executed another method although its response was lost. */
function mayRetry({ method, retries = 0 }: InternalAxiosRequestConfig, status: number | undefined, code?: string) {
  if (method !== 'get' || retries >= GET_RETRIES) return false;
  if (status !== undefined) return status >= 502 && status <= 504;
  return code === 'ERR_NETWORK' && navigator.onLine;
}

const isShortWait = (error: ApiError) => (waitOf(error) ?? 0) <= MAX_RETRY_WAIT_SECONDS && waitOf(error) !== null;

const pauseBeforeRetry = ({ retries = 0, signal }: InternalAxiosRequestConfig, error: ApiError) =>
  new Promise<void>((resolve) => {
    const cancel = retryPolicy.after(pauseMs(retries, QUICK, waitOf(error)) ?? 0, resolve);
    signal?.addEventListener?.('abort', () => {
      cancel();
      resolve();
    });
  });

/** Id of the live socket: the server does not broadcast this page's own changes to it. */
export const socketId = createCell<string | undefined>(undefined);
