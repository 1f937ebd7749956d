import type { AxiosRequestConfig } from 'axios';
import { parseJson } from '../../contract';

/** A GET that the page's inline loader started before this code had arrived. */
export interface EarlyRequest {
  url: string;
  response: Promise<Response>;
}

type Loader = { early?: EarlyRequest | false | null };
type Asked = Pick<AxiosRequestConfig, 'method' | 'baseURL' | 'url' | 'params' | 'signal'>;

const loader = () => (globalThis as { __liaozhai?: Loader }).__liaozhai;

/** The early request, if it is this one. */
function earlyFor({ method, baseURL = '', url = '', params }: Asked): EarlyRequest | null {
  const early = loader()?.early;
  if (!early || method?.toLowerCase() !== 'get' || early.url !== baseURL + url) return null;
  return params && Object.keys(params).length > 0 ? null : early;
}

/** Takes the early request if it is this one; it serves once. */
export function takeEarly(asked: Asked): EarlyRequest | null {
  const early = earlyFor(asked);
  const holder = loader();
  if (early && holder) holder.early = null;
  return early;
}

/**
 * What the early request brought, if that is this one, was answered well and is there before `others` are ready to take it; else
 * undefined, and they find it as it was. They know what failures, time limits and signals are.
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

/** What may say of itself that it failed: `others` know. */
const isEnvelope = (body: object): boolean => ['success', 'code', 'status', 'error'].some((name) => name in body);
