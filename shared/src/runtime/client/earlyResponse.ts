import {
  type AxiosAdapter,
  AxiosHeaders,
  type AxiosResponse,
  getAdapter,
  type InternalAxiosRequestConfig,
} from 'axios';

interface Early {
  url: string;
  response: Promise<Response>;
}

/** The request that the page's inline loader may have started before any script of ours ran. */
function takeEarly(config: InternalAxiosRequestConfig): Early | null {
  const holder = (globalThis as { __liaozhai?: { early?: Early | null } }).__liaozhai;
  const early = holder?.early;
  const isSame = early && config.method === 'get' && `${config.baseURL ?? ''}${config.url ?? ''}` === early.url;
  const hasQuery = Object.values((config.params as Record<string, unknown> | undefined) ?? {}).some(
    (value) => value !== undefined && value !== null,
  );
  if (!holder || !isSame || hasQuery) return null;
  holder.early = null;
  return early;
}

async function adopt(early: Early, config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
  const response = await early.response;
  if (!response.ok) throw new Error(`early request answered ${response.status}`);
  const headers = new AxiosHeaders(Object.fromEntries(response.headers.entries()));
  return {
    data: await response.json(),
    status: response.status,
    statusText: response.statusText,
    headers,
    config,
    request: null,
  };
}

/** Uses the early response once; whatever is wrong with it, the ordinary request is made. */
export const earlyAdapter: AxiosAdapter = async (config) => {
  const send = getAdapter(['xhr', 'fetch', 'http']);
  const early = takeEarly(config);
  if (!early) return send(config);
  const late = new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error('early request took too long')), config.timeout || 10_000),
  );
  return Promise.race([adopt(early, config), late]).catch(() => send(config));
};
