import { type GenericSchema, type InferOutput, safeParse } from 'valibot';
import type { ApiError } from '../../contract';
import { client } from './client';

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
  if (!schema) return answer as Answer<Options>;
  const parsed = safeParse(schema, answer);
  if (parsed.success) return parsed.output as Answer<Options>;
  const noAnswer: ApiError = { kind: 'offline' };
  throw noAnswer;
}
