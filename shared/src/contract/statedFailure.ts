import { flag, isEmptyValue, readAs } from './decode.ts';
import { statedMessage } from './refusals.ts';

/** Statuses and codes of failures, with the HTTP status at their start. */
const failureCode = /^(?:([45]\d\d)(?:\d\d)?|-\d+|false)$|fail|error|exception|失败|错误|异常/i;
/** Codes of success in C and PHP, HTTP, and common admin kits. */
const successCode = /^(?:[01]|2\d\d|[12]0000)$/;
/** HTTP's codes of success, which mean success in every framework. */
const certainCode = /^2\d\d(?:00)?$/;
/** A clause such as `如有异常请联系客服`. */
const condition = /[如若][^，。；,;]*/g;
/** Fields of an envelope. Next to any other field, the message says nothing about the request. */
const envelopeField =
  /^(?:code|status|success|ok|message|msg|detail|data|err(?:code|msg|no|or|ors)|time(?:stamp)?|path|url|wait|(?:request|trace)_?id)$/i;

const isFailureText = (text: string): boolean => failureCode.test(text.replace(condition, ''));

/**
 * Returns the HTTP status of a failure that was sent with 200. Examples: `false`, `{ code: 500, message }`, `{ success: false }`, `{
 * status: 'error' }`, `{ error: '…' }`, `{ msg: '操作失败' }`. Undefined for all other bodies.
 */
export function statedFailure(body: unknown): number | undefined {
  // a value or a message alone
  if (typeof body !== 'object' || body === null) return isFailureText(String(body)) ? 500 : undefined;
  // an entity has an id or a name, and may have its own status, code or error
  if ('id' in body || 'name' in body) return undefined;
  const fields = body as Record<string, unknown>;
  const { success, ok, status, code, errcode, errno, error, errors, exception, data } = fields;
  // an invitation has a code, too
  const isEnvelope = ['message', 'msg', 'data'].some((key) => key in body);
  const codes = [isEnvelope ? code : undefined, status, errcode, errno]
    .filter((each) => each !== undefined)
    .map(String);
  const flags = [success, ok].map((each) => readAs(flag, each));
  const isUnmarked = !flags.includes(true) && !codes.some((each) => certainCode.test(each));
  const words = isUnmarked && Object.keys(fields).every((key) => envelopeField.test(key)) ? statedMessage(fields) : '';
  const isFailed =
    flags.includes(false) ||
    codes.some((each) => failureCode.test(each)) ||
    // a body with data has not failed completely
    (isEmptyValue(data ?? null) &&
      ((typeof words === 'string' && isFailureText(words)) ||
        ![error, errors, exception].every((each) => isEmptyValue(each ?? null)) ||
        codes.some((each) => /^\d+$/.test(each) && !successCode.test(each))));
  if (!isFailed) return undefined;
  const statedStatus = codes.map((each) => failureCode.exec(each)?.[1]).find(Boolean);
  return statedStatus ? Number(statedStatus) : isEmptyValue(errors ?? null) ? 500 : 422;
}
