import type { AxiosRequestConfig } from 'axios';
import { parseJson } from '../../contract';

/** A GET that the page's inline loader started before this code was loaded. */
export interface EarlyRequest {
  url: string;
  response: Promise<Response>;
}

type Loader = { early?: EarlyRequest | false | null };
type Asked = Pick<AxiosRequestConfig, 'method' | 'baseURL' | 'url' | 'params' | 'signal'>;

const loader = () => (globalThis as { __liaozhai?: Loader }).__liaozhai;

function earlyFor({ method, baseURL = '', url = '', params }: Asked): EarlyRequest | null {
  const early = loader()?.early;
  if (!early || method?.toLowerCase() !== 'get' || early.url !== baseURL + url) return null;
  return params && Object.keys(params).length > 0 ? null : early;
}

/** Returns the early request if it matches; it can be used once. */
export function takeEarly(asked: Asked): EarlyRequest | null {
  const early = earlyFor(asked);
  const holder = loader();
  if (early && holder) holder.early = null;
  return early;
}

/**
 * Returns the body of a matching early request if it succeeded before `others` settled. Otherwise returns undefined and leaves
 * it to `others`, which handle failures, timeouts and aborts.
 */
export async function takeEarlyBody(asked: Asked, others: Promise<unknown>): Promise<unknown> {
  const early = earlyFor(asked);
  if (!early) return undefined;
  const nothing = () => null;
  const answer = await Promise.race([early.response.catch(nothing), others.then(nothing, nothing)]);
  const body: unknown = answer?.ok && (await answer.clone().text().then(parseJson).catch(nothing));
  const isGood = typeof body === 'object' && body !== null && !isEnvelope(body) && !asked.signal?.aborted;
  return isGood && takeEarly(asked) ? body : undefined;
}

/** A body that may contain a failure of its own: left to `others`. */
const isEnvelope = (body: object): boolean => ['success', 'code', 'status', 'error'].some((name) => name in body);
