import type { AxiosRequestConfig } from 'axios';
import { parseJson } from '../../contract';

/** A GET that the page's inline loader started before this code was loaded. */
export interface EarlyRequest {
  url: string;
  response: Promise<Response>;
}

type Loader = { early?: EarlyRequest | false | null };
type RequestedCall = Pick<AxiosRequestConfig, 'method' | 'baseURL' | 'url' | 'params' | 'signal'>;

const getLoader = () => (globalThis as { __liaozhai?: Loader }).__liaozhai;

function findEarlyRequest({ method, baseURL = '', url = '', params }: RequestedCall): EarlyRequest | null {
  const earlyRequest = getLoader()?.early;
  if (!earlyRequest || method?.toLowerCase() !== 'get' || earlyRequest.url !== baseURL + url) return null;
  return params && Object.keys(params).length > 0 ? null : earlyRequest;
}

/** Returns the early request if it matches; it can be used once. */
export function claimEarlyRequest(call: RequestedCall): EarlyRequest | null {
  const earlyRequest = findEarlyRequest(call);
  const loaderState = getLoader();
  if (earlyRequest && loaderState) loaderState.early = null;
  return earlyRequest;
}

/**
 * Returns the body of a matching early request if all of it arrived before `fallback` settled. Otherwise returns undefined and leaves
 * it to `fallback`, which handles failures, timeouts and aborts.
 */
export async function claimEarlyBody(call: RequestedCall, fallback: Promise<unknown>): Promise<unknown> {
  const earlyRequest = findEarlyRequest(call);
  if (!earlyRequest) return undefined;
  const toNull = () => null;
  const readBody = async (response: Response) => {
    const text = response.ok && (await response.clone().text());
    // `fallback` decodes what is not UTF-8
    return text && !text.includes('\ufffd') && parseJson(text);
  };
  const reading = earlyRequest.response.then(readBody).catch(toNull);
  const body: unknown = await Promise.race([reading, fallback.then(toNull, toNull)]);
  const isUsable = typeof body === 'object' && body !== null && !isEnvelope(body) && !call.signal?.aborted;
  return isUsable && claimEarlyRequest(call) ? body : undefined;
}

/** A body that may contain a failure of its own: left to `fallback`. */
const isEnvelope = (body: object): boolean =>
  Object.keys(body).some((name) => /^(success|ok|code|status|err\w*|message|msg|detail)$/.test(name));
