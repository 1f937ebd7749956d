import { type ApiError, isCallMissing } from '../contract/failures';
import { formatNumber, formatWait } from './numbers';

/** Whether the device has a network. If so, a request without a response means that the service is unreachable. */
export const hasNetwork = (): boolean => globalThis.navigator?.onLine !== false;

/** User-facing text of a failed request, by kind. */
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
      return firstFieldError(error) ?? '填写的内容有误，请检查';
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

/** Kinds whose own text says more than that the action failed, or that a retry makes no sense now. */
const tellingKinds: readonly ApiError['kind'][] = [
  'offline',
  'tooOften',
  'forbidden',
  'minorMode',
  'insufficientBalance',
];

const isTelling = (error: ApiError): boolean =>
  tellingKinds.includes(error.kind) ||
  (error.kind === 'server' && [413, 419].includes(error.status)) ||
  isCallMissing(error);

/** Text of a toast: the server's message if it sent one, else the text of a telling kind, else `fallback`. */
export const toastText = (error: ApiError, fallback?: string): string =>
  error.message || firstFieldError(error) || (!isTelling(error) && fallback) || errorText(error);

const firstFieldError = (error: ApiError): string | undefined =>
  error.kind === 'invalid' ? Object.values(error.fields).flat()[0] : undefined;

/** Looser than the contract's `isApiError`, so that unknown kinds of a newer host show the server's message. */
const looksLikeApiError = (error: unknown): error is ApiError =>
  typeof error === 'object' && error !== null && 'kind' in error && typeof error.kind === 'string';

/** Text for an error of unknown origin, e.g. in `QueryView`. */
export const anyErrorText = (error: unknown): string =>
  looksLikeApiError(error) ? error.message || errorText(error) : '出了点问题，请重试';

/** Request id of a server failure, for its logs; undefined for expected errors. */
export const problemId = (error: unknown): string | undefined =>
  looksLikeApiError(error) && error.kind === 'server' && !isCallMissing(error) ? error.requestId : undefined;

const isAborted = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';

/**
 * Toast for a failed action: the server's message, else `fallback`, else the text of its kind. Undefined for a 401, which opens
 * the sign-in popup, and for an aborted request.
 */
export function failureText(error: unknown, fallback?: string): string | undefined {
  if (isAborted(error) || (looksLikeApiError(error) && error.kind === 'unauthenticated')) return undefined;
  return looksLikeApiError(error) ? toastText(error, fallback) : anyErrorText(error);
}
