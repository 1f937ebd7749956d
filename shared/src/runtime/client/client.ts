import type {
  AxiosAdapter,
  AxiosError,
  AxiosInstance,
  AxiosRequestConfig,
  AxiosResponse,
  InternalAxiosRequestConfig,
} from 'axios';
import { type GenericSchema, type InferOutput, safeParse } from 'valibot';
import {
  API_BASE,
  type ApiError,
  edgeEndpoints,
  endpoints,
  isApiError,
  isFrameworkText,
  isRouteMissing,
  MINOR_MODE,
} from '../../contract';
import { createCell, createSignal } from '../signal';
import { takeEarlyBody } from './earlyRequest';
import { createNetwork } from './network';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** sign-in in which the request was made */
    signInEpoch?: number;
    /** how often it was sent again for want of an answer */
    retries?: number;
    /** names it in the logs of server and backend; the same however often it is sent */
    requestId?: string;
    /** it was sent again with a fresh CSRF token */
    hasFreshToken?: boolean;
  }
}

const TIMEOUT_MS = 10_000;
const ASK_TIMEOUT_MS = 5_000;
const GET_RETRIES = 2;
const RETRY_BASE_MS = 300;

const atEdge: { adapter?: AxiosAdapter } = {};

/** Replaces what carries requests, for tests. Returns the way to undo it. */
export function replaceAdapter(adapter: AxiosAdapter): () => void {
  const former = atEdge.adapter;
  atEdge.adapter = adapter;
  return () => {
    atEdge.adapter = former;
  };
}

const settings = {
  baseURL: API_BASE,
  timeout: TIMEOUT_MS,
  withCredentials: true,
  headers: { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest' },
};

async function describe(config: InternalAxiosRequestConfig) {
  config.signInEpoch ??= signInEpoch.current();
  config.requestId ??= newClientId();
  config.headers.set('X-Request-Id', config.requestId);
  const trace = pageTrace();
  if (trace) config.headers.set('traceparent', trace);
  const socket = socketId.current();
  if (socket) config.headers.set('X-Socket-ID', socket);
  if (config.method !== 'get') await csrfToken.prepare();
  return config;
}

function bodyOf({ data }: AxiosResponse) {
  if (isOurs(data)) {
    network.answered();
    return data;
  }
  return noAnswer();
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
  let arrived: AxiosInstance | null = null;
  const instance = () => arrived;
  const interceptors = {
    request: lateInterceptors(() => arrived?.interceptors.request as LateManager | undefined),
    response: lateInterceptors(() => arrived?.interceptors.response),
  };
  const load = async () => {
    const { createAxios } = await import(/* webpackChunkName: "client" */ './transport');
    const made = createAxios(settings, () => atEdge.adapter);
    made.interceptors.request.use(describe);
    made.interceptors.response.use(bodyOf, recover);
    arrived = made;
    interceptors.request.join();
    interceptors.response.join();
    return { client: made, plain: createAxios({}, () => atEdge.adapter) };
  };
  const get = () => {
    underWay ??= load().catch(() => {
      // a file that did not come is asked for again by the next request
      underWay = null;
      return noAnswer();
    });
    return underWay;
  };
  /** Whether a request may do without it: it has not come yet, and no interceptor is to see the answer. */
  const isDispensable = () => !arrived && Object.values(interceptors).every((each) => each.isEmpty());
  return { get, instance, interceptors, isDispensable };
}

type LateManager = AxiosInstance['interceptors']['response'];
type Handlers = Parameters<LateManager['use']>;

/** Interceptors of an instance that is not there yet: they join it, in their order, once it is. */
function lateInterceptors(manager: () => LateManager | undefined) {
  const known = new Map<number, { handlers: Handlers; id?: number }>();
  const add = (each: { handlers: Handlers; id?: number }) => {
    each.id = manager()?.use(...each.handlers);
  };
  const eject = (number: number) => {
    const { id } = known.get(number) ?? {};
    if (id !== undefined) manager()?.eject(id);
    known.delete(number);
  };
  return {
    use(...handlers: Handlers): number {
      const number = Math.max(-1, ...known.keys()) + 1;
      const each = { handlers };
      known.set(number, each);
      add(each);
      return number;
    },
    eject,
    clear: () => [...known.keys()].forEach(eject),
    join: () => known.forEach(add),
    isEmpty: () => known.size === 0,
  };
}

const transport = createTransport();

/** Fetches what carries requests, for a page that is about to make one. Never rejects. */
export const prepareClient = (): Promise<void> =>
  transport.get().then(
    () => undefined,
    () => undefined,
  );

const calls = [
  'request',
  'get',
  'delete',
  'head',
  'options',
  'post',
  'put',
  'patch',
  'postForm',
  'putForm',
  'patchForm',
] as const;

type Call = (...words: unknown[]) => Promise<unknown>;

const callOf =
  (name: (typeof calls)[number]): Call =>
  async (...words) =>
    ((await transport.get()).client[name] as Call)(...words);

/** The one way to the server. Resolves to the response body, rejects with `ApiError`. */
export const client = Object.assign(callOf('request'), Object.fromEntries(calls.map((name) => [name, callOf(name)])), {
  interceptors: transport.interceptors,
  getUri: ({ baseURL = API_BASE, url = '', params }: AxiosRequestConfig = {}) => {
    const query = new URLSearchParams(params).toString();
    return `${baseURL}${url}${query && `?${query}`}`;
  },
}) as unknown as AxiosInstance;
Object.defineProperty(client, 'defaults', { get: () => transport.instance()?.defaults ?? settings });

/** Calls of a page that stays open longer are traces of their own. */
const tracedMs = 600_000;

/** The trace of the page's document, which a server with tracing tells: calls are spans below the document's. */
function pageTrace(): string | undefined {
  if (performance.now() > tracedMs) return undefined;
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return page?.serverTiming?.find(({ name }) => name === 'traceparent')?.description;
}

const minorModeRefusals = createSignal();
/** Hears that the server has refused a call since 未成年人模式 allows no more. */
export const onMinorModeRefusal = minorModeRefusals.on;

/** JSON that could not be read stays text: a captive portal's page, or a body cut short. */
const isOurs = (data: unknown) => typeof data !== 'string' || data === '';

const isFailedRequest = (cause: unknown): cause is AxiosError =>
  typeof cause === 'object' && cause !== null && 'isAxiosError' in cause && !('__CANCEL__' in cause);

async function recover(cause: unknown): Promise<unknown> {
  const config = isFailedRequest(cause) ? cause.config : undefined;
  if (!config || !isFailedRequest(cause)) throw cause;
  const status = cause.response?.status;
  if (status === 419 && !config.hasFreshToken) {
    await csrfToken.refresh();
    return client.request({ ...config, hasFreshToken: true });
  }
  if (mayRetry(config, status, cause.code)) {
    await pauseBeforeRetry(config);
    return client.request({ ...config, retries: (config.retries ?? 0) + 1 });
  }
  const error = toApiError(cause);
  if (error.kind === 'server') {
    // where to look it up, for whoever is asked for help
    console.warn(`${config.method?.toUpperCase()} ${config.url}: ${status}, request ${error.requestId}`);
    if (error.requestId) problemNoted(error.requestId);
  }
  if (error.kind === 'offline' || error.kind === 'timeout') network.doubted();
  // a gateway may speak for a server that is away
  else if (error.kind !== 'server') network.answered();
  if (error.kind === 'unauthenticated' && config.url !== endpoints.logout)
    unauthenticated.report(config.signInEpoch ?? 0);
  if (error.kind === 'minorMode') minorModeRefusals.emit();
  throw error;
}

/** Any JSON is the server's word; the user is small, and every backend has it. Past the interceptors, which would act upon a 401. */
const isServerThere = (): Promise<boolean> =>
  transport
    .get()
    .then(({ plain }) =>
      plain.get(`${API_BASE}${endpoints.user}`, {
        timeout: ASK_TIMEOUT_MS,
        headers: { Accept: 'application/json' },
        withCredentials: true,
        validateStatus: (status) => status < 500,
      }),
    )
    .then(
      ({ data }) => typeof data === 'object',
      () => false,
    );

/** Whether the server can be reached, by how requests fare. */
export const network = createNetwork(isServerThere);

const hasToken = () => /(?:^|; )XSRF-TOKEN=/.test(document.cookie);

function createCsrfToken() {
  let underWay: Promise<void> | null = null;
  /** Asked for once in vain: this server sets none, or cannot be reached and will say so itself. */
  let isTokenless = false;

  /** Laravel sets the token's cookie here; where the route is missing the answer to the replay says what is wrong. */
  function refresh(): Promise<void> {
    underWay ??= atEdgeGet(edgeEndpoints.csrfCookie).finally(() => {
      underWay = null;
    });
    return underWay;
  }

  return {
    refresh,
    /** Fetches the token where the page has none, which saves the first change a refusal and a replay. Never rejects. */
    async prepare(): Promise<void> {
      if (hasToken() || isTokenless) return;
      await refresh();
      isTokenless = !hasToken();
    },
  };
}

export const csrfToken = createCsrfToken();

const atEdgeGet = (url: string): Promise<void> =>
  transport
    .get()
    .then(({ plain }) => plain.get(url, { timeout: TIMEOUT_MS, withCredentials: true }))
    .then(
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

export interface RequestOptions {
  /** below `/api`, unless `baseURL` says otherwise */
  url: string;
  method?: string;
  params?: object;
  body?: unknown;
  /** what the answer must be; anything else is no answer of the server's */
  schema?: GenericSchema;
  /** one per thing done; the server answers a repeated one with its first answer */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** '' for addresses outside `/api` */
  baseURL?: string;
  timeoutMs?: number;
}

type Answer<Options extends RequestOptions> = Options extends { schema: infer Schema extends GenericSchema }
  ? InferOutput<Schema>
  : unknown;

/**
 * One request; resolves to the response body as `schema` reads it. Rejects with `ApiError`, or with a `CanceledError` if
 * `signal` ended it. A body of another shape (a captive portal's page, one cut short) is a failed network: `offline`.
 */
export async function request<const Options extends RequestOptions>(options: Options): Promise<Answer<Options>> {
  const { url, method = 'GET', params, body, schema, idempotencyKey, signal, baseURL, timeoutMs } = options;
  const config: AxiosRequestConfig = {
    url,
    method,
    params,
    data: body,
    signal,
    ...(baseURL !== undefined && { baseURL }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
  };
  // the interceptor hands on the body, which axios' types do not know
  const answer: unknown = (await earlyAnswer(config)) ?? (await client.request(config));
  if (!schema) return answer as Answer<Options>;
  const parsed = safeParse(schema, answer);
  if (parsed.success) return parsed.output as Answer<Options>;
  return noAnswer();
}

/** The answer that the page's loader has for this request, for which a screen need not wait until axios has come. */
async function earlyAnswer(config: AxiosRequestConfig): Promise<unknown> {
  if (!transport.isDispensable()) return undefined;
  const answer = await takeEarlyBody({ baseURL: API_BASE, ...config }, transport.get());
  if (answer) network.answered();
  return answer;
}

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
  // must not pass for a thing that is gone
  if (isRouteMissing(status, body)) return { kind: 'server', status };
  switch (status) {
    case 401:
      return { kind: 'unauthenticated' };
    case 402:
      return { kind: 'insufficientBalance', required: toNumber(body.required), balance: toNumber(body.balance) };
    case 403:
      return { kind: body.code === MINOR_MODE ? 'minorMode' : 'forbidden' };
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

const KEPT_PROBLEMS = 5;
const problems = createCell<readonly string[]>([]);

/** Ids of what failed in this page last, as servers log them, newest first. */
export const recentProblems = problems.current;

/** Has an id stand in what the reader sends to support. */
export const problemNoted = (id: string): void =>
  problems.set([id, ...problems.current().filter((each) => each !== id)].slice(0, KEPT_PROBLEMS));

const isTimeout = (code: string | undefined) => code === 'ECONNABORTED' || code === 'ETIMEDOUT';

/** Names what went wrong with a request. Throws whatever was no failed request, an aborted one included. */
export function toApiError(cause: unknown): ApiError {
  if (isApiError(cause)) return cause;
  if (!isFailedRequest(cause)) throw cause;
  if (!cause.response) return { kind: isTimeout(cause.code) ? 'timeout' : 'offline' };
  const { data, status } = cause.response;
  // a page that says 404 is somebody else's: it must not pass for an entity that is gone
  const requestId = cause.response.headers['x-request-id'] ?? cause.config?.requestId;
  const named = typeof requestId === 'string' ? { requestId } : {};
  if (typeof data === 'string' && data !== '' && status !== 401) return { kind: 'server', status, ...named };
  const body: Body = typeof data === 'object' && data !== null ? (data as Body) : {};
  const plain = ofStatus(cause.response, body);
  const error = plain.kind === 'server' ? { ...plain, ...named } : plain;
  if (isFrameworkText(status, body)) return error;
  return typeof body.message === 'string' && body.message !== '' ? { ...error, message: body.message } : error;
}

/** A UUID v4. `crypto.randomUUID` is missing on http pages, `getRandomValues` is not. */
export function newClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The live socket's id: the server leaves it out when it tells of what this page did itself. */
export const socketId = createCell<string | undefined>(undefined);

/** The subscribers to 401 answers. */
function createUnauthenticated() {
  const heard = createSignal();
  let epoch = 0;
  let diversion: { epoch: number; hear: () => void } | null = null;
  return {
    /** Subscribes to every 401, except to a log-out and while they are diverted; ten at once are ten calls. Returns the way to stop. */
    on: heard.on,
    /** Counts sign-ins: a 401 to a request of an earlier sign-in does not concern this one. */
    signInEpoch: {
      current: () => epoch,
      next: () => {
        epoch += 1;
      },
    },
    /** Until the next sign-in a 401 is told to `hear` alone; null ends that. */
    divert(hear: (() => void) | null) {
      diversion = hear && { epoch, hear };
    },
    /** Tells of a 401 to a request that was made in `requestEpoch`. */
    report(requestEpoch: number) {
      if (requestEpoch !== epoch) return;
      if (diversion?.epoch === epoch) diversion.hear();
      else heard.emit();
    },
  };
}

const unauthenticated = createUnauthenticated();

export const { on: onUnauthenticated, divert: divertUnauthenticated, signInEpoch } = unauthenticated;
