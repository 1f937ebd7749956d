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
import { attempt } from '../../format/browser';
import { claimEarlyRequest, type EarlyRequest } from './earlyRequest';
import { isFilledIn } from './errors';

/** `getReplacement` returns the adapter that replaces the network in tests; `around` wraps every adapter. */
export const createAxios = (
  settings: CreateAxiosDefaults,
  getReplacement: () => AxiosAdapter | undefined,
  around = (send: AxiosAdapter) => send,
): AxiosInstance => {
  const client = axios.create({
    ...settings,
    // as text it would be decoded by the declared charset
    responseType: 'arraybuffer',
    transformResponse(raw: unknown, _headers, status) {
      return withFields(parse(raw), status, this);
    },
    adapter: (config) => {
      const send = getReplacement() ?? getAdapter(axios.defaults.adapter, config);
      return around(withReading(withEarlyRequest(send)))(config);
    },
  });
  client.interceptors.response.use(applyStatedStatus);
  return client;
};

/** A word or sentence, such as `OK`, without signs of a page, of JSON or of code. */
const sentence = /^[^<>{}[\]"]{0,200}$/;

/** Text that is no JSON: a captive portal's page or a truncated body. A sentence confirms a change, but answers no GET. */
const isTruncated = ({ data, status, config }: AxiosResponse): boolean =>
  typeof data === 'string' &&
  (!sentence.test(data) || printedAround.test(data) || (status === 200 && config.method === 'get'));

/** JSON with something printed around it, such as a PHP notice, but no whole page. */
const printedAround = /^\s*[{[].*[}\]]\s*<[^"]*$|^(?!\s*<(?:!|html|head|meta|script|body)).* on line /is;

/** A truncated body counts as a lost connection, and one printed around as a failure of the server. A failure sent with status 200 gets the status stated in its body. */
function applyStatedStatus(response: AxiosResponse): AxiosResponse {
  const { data, config, request } = response;
  if (isTruncated(response)) {
    const answer = printedAround.test(String(data)) ? response : undefined;
    throw new AxiosError('no JSON', AxiosError.ERR_NETWORK, config, request, answer);
  }
  const status = statedFailure(data);
  if (status === undefined) return response;
  const statedResponse = { ...response, status, data: withFields(data, status, config) };
  throw new AxiosError(`status ${status} in the body`, undefined, config, request, statedResponse);
}

/** JSON is UTF-8, although some proxies declare another charset. The declared one applies to a body that is not UTF-8. */
function decodeText(bytes: ArrayBuffer, { 'content-type': type }: AxiosResponse['headers']): string {
  const [, charset] = /charset="?(gbk|gb2312|gb18030|big5|utf-16)/i.exec(String(type)) ?? [];
  const utf8Text = attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  return utf8Text ?? new TextDecoder(charset).decode(bytes);
}

/** Some servers redirect guests to their sign-in page instead of answering 401. */
const isSentToSignIn = ({ request, config }: AxiosResponse): boolean =>
  /\/(login|sign-?in)\/?(\?.*)?$/.test(request?.responseURL) && !config.url?.endsWith('/login');

/** Decodes the body of each response, and estimates the server's clock from its headers. */
const withReading =
  (next: AxiosAdapter): AxiosAdapter =>
  async (config) => {
    const requestedAt = Date.now();
    const read = (answer?: AxiosResponse) => {
      if (!answer) return;
      noteServerTime(answer.headers, requestedAt);
      // not `instanceof`: the buffer may come from another realm
      if (Object.prototype.toString.call(answer.data) === '[object ArrayBuffer]')
        answer.data = decodeText(answer.data as ArrayBuffer, answer.headers);
      if (isSentToSignIn(answer))
        throw new AxiosError('sent to sign-in', undefined, config, undefined, { ...answer, status: 401 });
    };
    try {
      const answer = await next(config);
      read(answer);
      return answer;
    } catch (cause) {
      if (cause instanceof AxiosError) read(cause.response);
      throw cause;
    }
  };

/** Parses field errors here, in the lazily loaded file, since few pages need them. */
const withFields = (data: unknown, status: number | undefined, config: InternalAxiosRequestConfig): unknown =>
  typeof data === 'object' && data !== null && (status === 422 || (status === 400 && 'errors' in data))
    ? { ...data, errors: fieldErrors('errors' in data ? data.errors : undefined, isFilledIn(config)) }
    : data;

/** Text is left as it is if it is no JSON. A JSON string is a message, so that it differs from such text. */
const parse = (text: unknown): unknown => {
  if (typeof text !== 'string') return text;
  try {
    const json = parseJson(text);
    return typeof json === 'string' ? { message: json } : json;
  } catch {
    return text;
  }
};

async function toAxiosResponse(response: Response, config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
  const { status, statusText } = response;
  const headers = new AxiosHeaders(Object.fromEntries(response.headers));
  const data = parse(decodeText(await response.arrayBuffer(), headers));
  return { data, status, statusText, headers, config, request: { responseURL: response.url } };
}

/** Rejects when the request's timeout or signal ends it, as a started adapter would. */
function createEnding(config: InternalAxiosRequestConfig): { promise: Promise<never>; cleanUp: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const { signal, timeout } = config;
  let onAbort = () => {};
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CanceledError(undefined, undefined, config));
    if (signal?.aborted) onAbort();
    signal?.addEventListener?.('abort', onAbort);
    if (timeout) timer = setTimeout(() => reject(new AxiosError('timeout', AxiosError.ECONNABORTED, config)), timeout);
  });
  const cleanUp = () => {
    clearTimeout(timer);
    signal?.removeEventListener?.('abort', onAbort);
  };
  return { promise, cleanUp };
}

async function awaitEarlyRequest(early: EarlyRequest, config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
  const ending = createEnding(config);
  try {
    const answer = early.response
      .then((response) => toAxiosResponse(response, config))
      .catch((cause: unknown) => {
        throw new AxiosError(String(cause), AxiosError.ERR_NETWORK, config);
      });
    const response = await Promise.race([answer, ending.promise]);
    if (config.validateStatus?.(response.status) ?? true) return response;
    throw new AxiosError(`status ${response.status}`, undefined, config, undefined, response);
  } finally {
    ending.cleanUp();
  }
}

/** Uses the early request for the first matching GET; passes all others to `next`. */
const withEarlyRequest =
  (next: AxiosAdapter): AxiosAdapter =>
  (config) => {
    const earlyRequest = claimEarlyRequest(config);
    return earlyRequest ? awaitEarlyRequest(earlyRequest, config) : next(config);
  };
