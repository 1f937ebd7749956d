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
import { newClientId } from '../clientId';
import { retryPolicy } from '../retryPolicy';
import { createCell, createSignal } from '../signal';
import { createCsrfToken } from './csrf';
import { decode } from './decode';
import { takeEarlyBody } from './earlyRequest';
import { isFailedRequest, problemNoted, toApiError } from './errors';
import { createNetwork } from './network';
import { signInEpoch, unauthenticated } from './unauthenticated';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** sign-in in which the request was made */
    signInEpoch?: number;
    /** how often it was sent again for want of an answer */
    retries?: number;
    /** names it in the logs of server and backend; the same however often it is sent */
    requestId?: string;
    /** by the page's clock */
    begunAt?: number;
    /** how often the server has refused its CSRF token */
    refusedTokens?: number;
    /** the page does without it: a 401 asks nobody to sign in */
    isOptional?: boolean;
  }
}

export interface RequestOptions {
  /** below `/api`, unless `baseURL` says otherwise */
  url: string;
  method?: string;
  /** `cursor` may be the query of the next page, as `cursorPageSchema` reads it off a link */
  params?: { cursor?: string; [name: string]: unknown };
  body?: unknown;
  /** the answer's shape; another one did not come from the server */
  schema?: GenericSchema;
  /** one per thing done; the server answers a repeated one with its first answer */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** '' for addresses outside `/api` */
  baseURL?: string;
  timeoutMs?: number;
  /** The page does without it: a 401 asks nobody to sign in. */
  isOptional?: boolean;
}

type AnswerOf<Options extends RequestOptions> = Options extends { schema: infer Schema extends GenericSchema }
  ? InferOutput<Schema>
  : unknown;

/**
 * One request; resolves to the response body as `schema` reads it. Rejects with `ApiError`, or with a `CanceledError` if
 * `signal` ended it. A body of another shape (a captive portal's page, one cut short) counts as a failed network: `offline`;
 * a list without a readable row is the server's failure.
 */
export async function request<const Options extends RequestOptions>(options: Options): Promise<AnswerOf<Options>> {
  const { url, method = 'GET', params, body, schema, idempotencyKey, signal, baseURL, timeoutMs, isOptional } = options;
  const config: AxiosRequestConfig = {
    url,
    method,
    params: paramsOf(params),
    data: body,
    signal,
    ...(isOptional && { isOptional }),
    ...(baseURL !== undefined && { baseURL }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
  };
  // the interceptor hands on the body, which axios' types do not know
  const answer: unknown = (await earlyAnswer(config)) ?? (await send(config));
  if (!schema) return answer as AnswerOf<Options>;
  const decoded = decode(schema, answer, `${method} ${url}`);
  if (decoded !== undefined && !(method === 'GET' && hasWordsAlone(answer))) return decoded as AnswerOf<Options>;
  if (!hasRows(answer)) return noAnswer();
  const error: ApiError = { kind: 'server', status: 200 };
  throw error;
}

/** A server that names the next page by its query reads that, and no cursor. */
const paramsOf = (params: RequestOptions['params']) =>
  params?.cursor?.[0] === '?'
    ? { ...params, cursor: undefined, ...Object.fromEntries(new URLSearchParams(params.cursor)) }
    : params;

/** Nothing of what was asked for is there, which a thing that may lack every field would not show. */
const hasWordsAlone = (answer: unknown): boolean => Object.keys(Object(answer)).join() === 'message';

/** Rows come from the server, however odd they are. */
function hasRows(answer: unknown): boolean {
  const page = flatPage(answer);
  const list = (page as { data?: unknown } | null)?.data ?? page;
  return Array.isArray(list) && list.length > 0;
}

/** The answer that the page's loader has for this request, for which a screen need not wait until axios has come. */
async function earlyAnswer(config: AxiosRequestConfig): Promise<unknown> {
  if (!transport.isDispensable()) return undefined;
  const answer = await takeEarlyBody({ baseURL: API_BASE, ...config }, transport.get());
  if (answer) network.answered(0);
  return answer;
}

const TIMEOUT_MS = 10_000;
const ASK_TIMEOUT_MS = 5_000;
const GET_RETRIES = 2;
/** A lost connection is often one of its kind. */
const QUICK: Pace = { firstMs: 600, longestMs: 1_200, spread: 1 };
/** A server that wants longer than this is not waited for: the caller gets its answer. */
const LONGEST_WAIT_HERE_SECONDS = 3;

type Around = (next: AxiosAdapter) => AxiosAdapter;

/** What carries requests, below the interceptors. */
const edge: { adapter?: AxiosAdapter; around?: Around } = {};

/** Replaces the network, for tests. Returns the way to undo it. */
export function replaceAdapter(adapter: AxiosAdapter): () => void {
  const former = edge.adapter;
  edge.adapter = adapter;
  return () => {
    edge.adapter = former;
  };
}

/** Puts `around` between all requests and the network, each one that is sent again included. Returns the way to undo it. */
export function aroundRequests(around: Around): () => void {
  edge.around = around;
  return () => {
    if (edge.around === around) edge.around = undefined;
  };
}

const CSRF_HEADER = 'X-XSRF-TOKEN';

const settings = {
  baseURL: API_BASE,
  timeout: TIMEOUT_MS,
  withCredentials: true,
  // axios knows the first of several tokens only
  withXSRFToken: false,
  headers: { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest' },
};

async function describe(config: InternalAxiosRequestConfig) {
  config.signInEpoch ??= signInEpoch.current();
  config.requestId ??= newClientId();
  config.begunAt = performance.now();
  config.headers.set('X-Request-Id', config.requestId);
  const trace = pageTrace();
  if (trace) config.headers.set('traceparent', trace);
  const socket = socketId.current();
  if (socket) config.headers.set('X-Socket-ID', socket);
  if (config.method !== 'get') {
    await csrfToken.prepare();
    const token = csrfToken.current();
    if (token !== undefined) config.headers.set(CSRF_HEADER, token);
  }
  return config;
}

function bodyOf({ data, config }: AxiosResponse) {
  retryPolicy.answered(callOf(config));
  network.answered(config.begunAt);
  return data;
}

function noAnswer(): never {
  network.doubted();
  const error: ApiError = { kind: 'offline' };
  throw error;
}

interface Transport {
  /** with the app's settings and interceptors */
  client: AxiosInstance;
  /** without them */
  plain: AxiosInstance;
}

/** axios comes in a file of its own with the first request: most pages show their first screen without one. */
function createTransport() {
  let underWay: Promise<Transport> | null = null;
  let hasArrived = false;
  const load = async () => {
    const { createAxios } = await import(/* webpackChunkName: "client" */ './transport');
    const adapter = () => edge.adapter;
    const client = createAxios(settings, adapter, (send) => edge.around?.(send) ?? send);
    client.interceptors.request.use(describe);
    client.interceptors.response.use(bodyOf, recover);
    hasArrived = true;
    return { client, plain: createAxios({}, adapter) };
  };
  return {
    get() {
      underWay ??= load().catch(() => {
        // the next request fetches the file again
        underWay = null;
        return noAnswer();
      });
      return underWay;
    },
    /** Whether a request may do without it: it has not come yet, and nothing else must see the answer. */
    isDispensable: () => !hasArrived && !edge.around,
  };
}

const transport = createTransport();

/** Fetches what carries requests, for a page that is about to make one. Never rejects. */
export const prepareClient = (): Promise<void> =>
  transport.get().then(
    () => undefined,
    () => undefined,
  );

/** By which the server's waits are known: one of a list holds for each page of it. */
const callOf = ({ method = 'get', url = '' }: AxiosRequestConfig) => `${method.toUpperCase()} ${url.split('?')[0]}`;

async function send(config: AxiosRequestConfig): Promise<unknown> {
  await retryPolicy.pass(callOf(config), config.signal);
  return (await transport.get()).client.request(config);
}

/** The address of a call, for the few that cannot go by `request`. */
export const apiUrl = (path: string): string => new URL(API_BASE + path, location.href).href;

/** Calls of a page that stays open longer are traces of their own. */
const TRACED_MS = 600_000;

/** The trace of the page's document, which a server with tracing names: calls are spans below the document's. */
function pageTrace(): string | undefined {
  if (performance.now() > TRACED_MS) return undefined;
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return page?.serverTiming?.find(({ name }) => name === 'traceparent')?.description;
}

const minorModeRefusals = createSignal();
/** Subscribes to calls that the server refused because 未成年人模式 allows no more. Returns the way to stop. */
export const onMinorModeRefusal = minorModeRefusals.on;

const priceRises = createSignal<[answer: unknown]>();
/** Subscribes to calls that the server refused because they cost more than the reader was shown. Returns the way to stop. */
export const onPriceRise = priceRises.on;

async function recover(cause: unknown): Promise<unknown> {
  const config = isFailedRequest(cause) ? cause.config : undefined;
  if (!config || !isFailedRequest(cause)) throw cause;
  const status = cause.response?.status;
  if (status === 419) {
    const refusedTokens = (config.refusedTokens ?? 0) + 1;
    if (await csrfToken.renew(config.headers.get(CSRF_HEADER)?.toString(), refusedTokens))
      return send({ ...config, refusedTokens });
  }
  const error = toApiError(cause);
  retryPolicy.answered(callOf(config), error);
  if (mayRetry(config, status, cause.code) && isSoon(error)) {
    await pauseBeforeRetry(config, error);
    return send({ ...config, retries: (config.retries ?? 0) + 1 });
  }
  if (error.kind === 'server') {
    // support finds it in the server's logs by this line
    console.warn(`${config.method?.toUpperCase()} ${config.url}: ${status}, request ${error.requestId}`);
    if (error.requestId) problemNoted(error.requestId);
  }
  if (error.kind === 'offline' || error.kind === 'timeout') network.doubted();
  // a gateway may speak for a server that is away
  else if (error.kind !== 'server') network.answered(config.begunAt);
  if (error.kind === 'unauthenticated' && config.url !== endpoints.logout && !config.isOptional)
    unauthenticated.report(config.signInEpoch ?? 0);
  if (error.kind === 'minorMode') minorModeRefusals.emit();
  if (error.kind === 'conflict' && error.price !== undefined) priceRises.emit(cause.response?.data);
  throw error;
}

const PROBE = 'probe';

/** Any JSON comes from the server; the user is small, and every backend has it. Without the interceptors, which would act upon a 401. */
async function isServerThere(): Promise<boolean> {
  const ask = async () => {
    const { plain } = await transport.get();
    return plain.get(`${API_BASE}${endpoints.user}`, {
      timeout: ASK_TIMEOUT_MS,
      headers: { Accept: 'application/json' },
      withCredentials: true,
      validateStatus: (status) => status < 500,
    });
  };
  const isFree = await retryPolicy.pass(PROBE).then(
    () => true,
    () => false,
  );
  if (!isFree) return false;
  return ask().then(
    ({ data }) => {
      retryPolicy.answered(PROBE);
      return typeof data === 'object';
    },
    (cause: unknown) => {
      retryPolicy.answered(PROBE, toApiError(cause));
      return false;
    },
  );
}

/** Whether the server can be reached, by how requests fare. */
export const network = createNetwork(isServerThere);

/** Laravel sets the cookie here. Where the route is missing, the answer to the replay says what is wrong. */
const fetchCsrfCookie = (): Promise<void> =>
  transport
    .get()
    .then(({ plain }) => plain.get(edgeEndpoints.csrfCookie, { timeout: TIMEOUT_MS, withCredentials: true }))
    .then(
      () => undefined,
      (cause: unknown) => void toApiError(cause),
    );

export const csrfToken = createCsrfToken(fetchCsrfCookie);

/** Only a GET may be sent again automatically: anything else may have been done although its answer was lost. */
function mayRetry({ method, retries = 0 }: InternalAxiosRequestConfig, status: number | undefined, code?: string) {
  if (method !== 'get' || retries >= GET_RETRIES) return false;
  if (status !== undefined) return status >= 502 && status <= 504;
  return code === 'ERR_NETWORK' && navigator.onLine;
}

const isSoon = (error: ApiError) => (waitOf(error) ?? 0) <= LONGEST_WAIT_HERE_SECONDS && waitOf(error) !== null;

const pauseBeforeRetry = ({ retries = 0, signal }: InternalAxiosRequestConfig, error: ApiError) =>
  new Promise<void>((resolve) => {
    const cancel = retryPolicy.after(pauseMs(retries, QUICK, waitOf(error)) ?? 0, resolve);
    signal?.addEventListener?.('abort', () => {
      cancel();
      resolve();
    });
  });

/** The live socket's id: the server leaves it out of what it broadcasts about this page's own changes. */
export const socketId = createCell<string | undefined>(undefined);
