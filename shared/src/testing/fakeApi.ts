import { AxiosError, AxiosHeaders, type AxiosResponse, CanceledError, type InternalAxiosRequestConfig } from 'axios';
import { network, replaceAdapter } from '../runtime/client/request';

export interface RecordedRequest {
  /** upper case: `GET`, `POST` … */
  method: string;
  /** without base URL and query: `/v1/stories` */
  url: string;
  params: Record<string, unknown>;
  /** parsed JSON; undefined without a body */
  body: unknown;
  /** names in lower case */
  headers: Record<string, string>;
}

/** A complete response; any other value of a handler is the body of a 200. */
export interface FakeResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Fixed responses, or functions of the request. A handler that throws `offline()` simulates a lost connection. */
export type Handlers = Record<string, unknown>;

class NetworkLoss extends Error {}

/** Error for a handler to throw: the request gets no response. */
export const offline = (): Error => new NetworkLoss('no network');

const responseKeys = ['status', 'body', 'headers'];

const isResponse = (answer: unknown): answer is FakeResponse =>
  typeof answer === 'object' &&
  answer !== null &&
  'status' in answer &&
  typeof answer.status === 'number' &&
  Object.keys(answer).every((key) => responseKeys.includes(key));

const parse = (data: unknown): unknown => (typeof data === 'string' ? JSON.parse(data) : data);

function record({ method = 'get', url = '', params, data, headers }: InternalAxiosRequestConfig): RecordedRequest {
  const headerEntries = Object.entries(headers.toJSON()).map(
    ([name, value]) => [name.toLowerCase(), String(value)] as const,
  );
  return {
    method: method.toUpperCase(),
    url,
    params: params ?? {},
    body: parse(data),
    headers: Object.fromEntries(headerEntries),
  };
}

async function respond(handlers: Handlers, request: RecordedRequest): Promise<FakeResponse> {
  const name = `${request.method} ${request.url}`;
  if (!Object.hasOwn(handlers, name)) return { status: 404, body: { message: `no handler for ${name}` } };
  const handler = handlers[name];
  const result: unknown = await (typeof handler === 'function' ? handler(request) : handler);
  return isResponse(result) ? result : { status: 200, body: result };
}

/** Like a real adapter: an abort rejects, even while the handler continues. */
function rejectOnAbort<Result>(config: InternalAxiosRequestConfig, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new CanceledError(undefined, undefined, config));
    if (config.signal?.aborted) abort();
    config.signal?.addEventListener?.('abort', abort);
    work.then(resolve, reject);
  });
}

/** Fakes of the finished test, active until its page's pending work has ended. */
const finishedFakes: (() => void)[] = [];

/** Ends these fakes: pending and later requests get no response from them. */
export function endFakes() {
  for (const end of finishedFakes.splice(0).reverse()) end();
}

/** Replaces the network below the real client. Returns the requests in order, and the restore function. */
export function fakeApi(handlers: Handlers): { requests: RecordedRequest[]; restore: () => void } {
  const requests: RecordedRequest[] = [];
  let isOver = false;
  const restoreAdapter = replaceAdapter(async (config) => {
    const request = record(config);
    requests.push(request);
    const answer = await rejectOnAbort(config, respond(handlers, request)).catch((cause: unknown) => {
      throw cause instanceof NetworkLoss ? new AxiosError(cause.message, AxiosError.ERR_NETWORK, config) : cause;
    });
    // pending work stays in its test, so that it does not affect the next one
    if (isOver) return new Promise<never>(() => {});
    const response: AxiosResponse = {
      status: answer.status,
      statusText: '',
      data: answer.body ?? '',
      headers: new AxiosHeaders(answer.headers),
      config,
    };
    if (config.validateStatus?.(answer.status) ?? true) return response;
    throw new AxiosError(`status ${answer.status}`, undefined, config, undefined, response);
  });
  const restore = () => {
    finishedFakes.push(() => {
      isOver = true;
      restoreAdapter();
    });
  };
  return { requests, restore };
}

/** Blocks the real network: requests without a fake fail as `offline`. A failed request puts the network in doubt, not offline. */
export const refuseNetwork = () => {
  network.replaceProbe(() => new Promise(() => {}));
  replaceAdapter(async (config) => {
    throw new AxiosError(`nobody fakes ${config.method} ${config.url}`, AxiosError.ERR_NETWORK, config);
  });
};
