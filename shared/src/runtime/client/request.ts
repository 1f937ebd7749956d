import { client } from './client';

export interface RequestOptions {
  url: string;
  method?: string;
  params?: object;
  body?: unknown;
  /** one per thing done; the server answers a repeated one with its first answer */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** '' for addresses outside `/api` */
  baseURL?: string;
  timeoutMs?: number;
}

/** One request; resolves to the response body. Rejects with `ApiError`, or with a `CanceledError` if `signal` ended it. */
export async function request<Body>(options: RequestOptions): Promise<Body> {
  const { url, method = 'GET', params, body, idempotencyKey, signal, baseURL, timeoutMs } = options;
  // the interceptor hands on the body, which axios' types do not know
  const answer: unknown = await client.request({
    url,
    method,
    params,
    data: body,
    signal,
    ...(baseURL !== undefined && { baseURL }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
  });
  return answer as Body;
}
