import { flag, readAs, saysNothing } from './decode.ts';

/** A status or a code that names a failure, with the HTTP status that it begins with. */
const failing = /^(?:([45]\d\d)(?:\d\d)?|-\d+|false)$|fail|error|exception/i;
/** Codes of success: of C and PHP, of HTTP, and of common admin kits. */
const succeeding = /^(?:[01]|2\d\d|[12]0000)$/;

/**
 * The HTTP status that a body means which was sent with 200 and says of itself that the call failed: `{ code: 500, message }`,
 * `{ success: false }`, `{ status: 'error' }`, `{ error: '…' }`. Undefined for every other body.
 */
export function statedFailure(body: unknown): number | undefined {
  // things have an id or a name, and a status, a code or an error of their own
  if (typeof body !== 'object' || body === null || 'id' in body || 'name' in body) return undefined;
  const { success, ok, status, code, errcode, errno, error, errors, exception, data } = body as Record<string, unknown>;
  // an invitation has a code, too
  const isEnvelope = ['message', 'msg', 'data'].some((key) => key in body);
  const codes = [isEnvelope ? code : undefined, status, errcode, errno]
    .filter((each) => each !== undefined)
    .map(String);
  const isFailed =
    [success, ok].some((each) => readAs(flag, each) === false) ||
    codes.some((each) => failing.test(each)) ||
    // what has brought something has not failed altogether
    (saysNothing(data ?? null) &&
      (![error, errors, exception].every((each) => saysNothing(each ?? null)) ||
        codes.some((each) => /^\d+$/.test(each) && !succeeding.test(each))));
  if (!isFailed) return undefined;
  const named = codes.map((each) => failing.exec(each)?.[1]).find(Boolean);
  return named ? Number(named) : saysNothing(errors ?? null) ? 500 : 422;
}
