import { type ApiError, isCallMissing } from '../contract/failures';
import { formatNumber, formatWait } from './numbers';

/** Whether the device has a network. With one, a request without an answer means that the service is out of reach. */
export const hasNetwork = (): boolean => globalThis.navigator?.onLine !== false;

/** What a failed request means to its reader and what can be done, by kind. */
export function errorText(error: ApiError): string {
  switch (error.kind) {
    case 'offline':
      return hasNetwork() ? '连不上服务，请检查网络或稍后再试' : '当前没有网络，请联网后重试';
    case 'timeout':
      return '等得太久了，请重试';
    case 'unauthenticated':
      return '请先登录';
    case 'forbidden':
      return '没有权限这样做';
    case 'minorMode':
      return '未成年人模式现在不允许这样做';
    case 'notFound':
      return '内容不存在或已被删除';
    case 'gone':
      return '已经过期，请重新获取';
    case 'invalid':
      return fieldWords(error) ?? '填写的内容有误，请检查';
    case 'tooOften':
      return error.retryAfterSeconds === null
        ? '操作太频繁，请过一会儿再试'
        : `操作太频繁，请 ${formatWait(error.retryAfterSeconds)}后再试`;
    case 'insufficientBalance':
      if (error.required === 0) return '余额不足';
      return `余额不足：需要 ${formatNumber(error.required)} 点，现有 ${formatNumber(error.balance)} 点`;
    case 'conflict':
      return '内容已有变化，请刷新后再试';
    case 'server':
      if (error.status === 419) return '页面已过期，请刷新后再试';
      if (error.status === 413) return '内容太大了，请减少一些';
      return isCallMissing(error) ? '服务器还没有这项功能' : '服务暂时不可用，请稍后再试';
  }
}

/**
 * The text of a toast: the server's words, if it sent any. A request without an answer gets the words of its kind; all others
 * get `fallback` first.
 */
export const toastText = (error: ApiError, fallback?: string): string =>
  error.message || fieldWords(error) || (error.kind !== 'offline' && fallback) || errorText(error);

const fieldWords = (error: ApiError): string | undefined =>
  error.kind === 'invalid' ? Object.values(error.fields).flat()[0] : undefined;

/** Looser than the runtime's: a kind that only a newer host knows still brings the server's words. */
const isApiError = (error: unknown): error is ApiError =>
  typeof error === 'object' && error !== null && 'kind' in error && typeof error.kind === 'string';

/** Words for an error of unknown origin, as `QueryView` meets it. */
export const anyErrorText = (error: unknown): string =>
  isApiError(error) ? error.message || errorText(error) : '出了点问题，请重试';

/** By which an operator finds what a server failed at in its logs; undefined for what was to be expected. */
export const problemId = (error: unknown): string | undefined =>
  isApiError(error) && error.kind === 'server' && !isCallMissing(error) ? error.requestId : undefined;

const isAborted = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';

/**
 * The toast for something that could not be done: the server's words, else `fallback`, else those of the kind.
 * Undefined where nothing is to be said: a 401 is answered by the sign-in popup, and what was broken off has no reader.
 */
export function failureText(error: unknown, fallback?: string): string | undefined {
  if (isAborted(error) || (isApiError(error) && error.kind === 'unauthenticated')) return undefined;
  return isApiError(error) ? toastText(error, fallback) : anyErrorText(error);
}
