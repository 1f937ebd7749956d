import { flag, isEmptyValue, readAs } from './decode.ts';

/** Statuses and codes of failures, with the HTTP status at their start. */
const failureCode = /^(?:([45]\d\d)(?:\d\d)?|-\d+|false)$|fail|error|exception|失败|错误|异常/i;
/** Codes of success in C and PHP, HTTP, and common admin kits. */
const successCode = /^(?:[01]|2\d\d|[12]0000)$/;

/**
 * Returns the HTTP status of a failure that was sent with 200. Examples: `false`, `{ code: 500, message }`, `{ success: false }`, `{
 * status: 'error' }`, `{ error: '…' }`. Undefined for all other bodies.
 */
export function statedFailure(body: unknown): number | undefined {
  // a value or a message alone
  if (typeof body !== 'object' || body === null) return failureCode.test(String(body)) ? 500 : undefined;
  if (Object.keys(body).join() === 'message') return statedFailure(Object.values(body)[0]);
  // an entity has an id or a name, and may have its own status, code or error
  if ('id' in body || 'name' in body) return undefined;
  const { success, ok, status, code, errcode, errno, error, errors, exception, data } = body as Record<string, unknown>;
  // an invitation has a code, too
  const isEnvelope = ['message', 'msg', 'data'].some((key) => key in body);
  const codes = [isEnvelope ? code : undefined, status, errcode, errno]
    .filter((each) => each !== undefined)
    .map(String);
  const isFailed =
    [success, ok].some((each) => readAs(flag, each) === false) ||
    codes.some((each) => failureCode.test(each)) ||
    // a body with data has not failed completely
    (isEmptyValue(data ?? null) &&
      (![error, errors, exception].every((each) => isEmptyValue(each ?? null)) ||
        codes.some((each) => /^\d+$/.test(each) && !successCode.test(each))));
  if (!isFailed) return undefined;
  const statedStatus = codes.map((each) => failureCode.exec(each)?.[1]).find(Boolean);
  return statedStatus ? Number(statedStatus) : isEmptyValue(errors ?? null) ? 500 : 422;
}
