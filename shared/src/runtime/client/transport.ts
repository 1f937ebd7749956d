import axios, {
  type AxiosAdapter,
  AxiosError,
  AxiosHeaders,
  type AxiosInstance,
  type AxiosResponse,
  CanceledError,
  type CreateAxiosDefaults,
  getAdapter,
  type InternalAxiosRequestConfig,
} from 'axios';
import { fieldErrors, noteServerTime, parseJson, statedFailure } from '../../contract';
import { type EarlyRequest, takeEarly } from './earlyRequest';
import { isFilledIn } from './errors';

/** `replaced` names what carries requests instead of the network, in tests; `around` sees all of them. */
export const createAxios = (
  settings: CreateAxiosDefaults,
  replaced: () => AxiosAdapter | undefined,
  around = (send: AxiosAdapter) => send,
): AxiosInstance => {
  const client = axios.create({
    ...settings,
    transformResponse(raw: unknown, _headers, status) {
      return withFields(parse(raw), status, this);
    },
    adapter: (config) => {
      const send = replaced() ?? getAdapter(axios.defaults.adapter, config);
      return around(withClock(withEarlyRequest(send)))(config);
    },
  });
  client.interceptors.response.use(asMeant);
  return client;
};

/** JSON that could not be read stays text: a captive portal's page, or a body cut short. OK is an answer, but to no read. */
const isCut = ({ data, status, config }: AxiosResponse): boolean =>
  typeof data === 'string' && (!/^\w*$/.test(data) || (status === 200 && config.method === 'get'));

/** What came by halves counts as a lost connection. A failure that was sent with 200 is one with the status that it means. */
function asMeant(response: AxiosResponse): AxiosResponse {
  const { data, config, request } = response;
  if (isCut(response)) throw new AxiosError('no JSON', AxiosError.ERR_NETWORK, config, request);
  const status = statedFailure(data);
  if (status === undefined) return response;
  const stated = { ...response, status, data: withFields(data, status, config) };
  throw new AxiosError(`status ${status} in the body`, undefined, config, request, stated);
}

/** Each answer says what time it is at the server's. */
const withClock =
  (next: AxiosAdapter): AxiosAdapter =>
  async (config) => {
    const askedAt = Date.now();
    const note = (answer?: AxiosResponse) => answer && noteServerTime(answer.headers, askedAt);
    try {
      const answer = await next(config);
      note(answer);
      return answer;
    } catch (cause) {
      if (cause instanceof AxiosError) note(cause.response);
      throw cause;
    }
  };

/** What is wrong with which field is read here, since only a few pages ever meet it. */
const withFields = (data: unknown, status: number | undefined, config: InternalAxiosRequestConfig): unknown =>
  typeof data === 'object' && data !== null && (status === 422 || (status === 400 && 'errors' in data))
    ? { ...data, errors: fieldErrors('errors' in data ? data.errors : undefined, isFilledIn(config)) }
    : data;

const parse = (text: unknown): unknown => {
  if (typeof text !== 'string') return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
};

async function toAxiosResponse(response: Response, config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
  const { status, statusText } = response;
  const headers = new AxiosHeaders(Object.fromEntries(response.headers));
  return { data: parse(await response.text()), status, statusText, headers, config };
}

/** Rejects when the request's own time or signal ends it, as a started adapter would. */
function ended(config: InternalAxiosRequestConfig): { promise: Promise<never>; forget: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const { signal, timeout } = config;
  let onAbort = () => {};
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CanceledError(undefined, undefined, config));
    if (signal?.aborted) onAbort();
    signal?.addEventListener?.('abort', onAbort);
    if (timeout) timer = setTimeout(() => reject(new AxiosError('timeout', AxiosError.ECONNABORTED, config)), timeout);
  });
  const forget = () => {
    clearTimeout(timer);
    signal?.removeEventListener?.('abort', onAbort);
  };
  return { promise, forget };
}

async function adopt(early: EarlyRequest, config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
  const end = ended(config);
  try {
    const answer = early.response
      .then((response) => toAxiosResponse(response, config))
      .catch((cause: unknown) => {
        throw new AxiosError(String(cause), AxiosError.ERR_NETWORK, config);
      });
    const response = await Promise.race([answer, end.promise]);
    if (config.validateStatus?.(response.status) ?? true) return response;
    throw new AxiosError(`status ${response.status}`, undefined, config, undefined, response);
  } finally {
    end.forget();
  }
}

/** Lets the first matching GET use the early request; everything else goes to `next`. */
const withEarlyRequest =
  (next: AxiosAdapter): AxiosAdapter =>
  (config) => {
    const early = takeEarly(config);
    return early ? adopt(early, config) : next(config);
  };
