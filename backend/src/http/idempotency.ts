import { createHash } from 'node:crypto';
import { HOUR_MS } from '../clock.ts';
import { query } from '../db/database.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { type Http, invalid, userOf } from './http.ts';

/** A successful response, which is stored for repeated requests. */
export interface StoredSuccess {
  status: 200 | 201 | 202;
  body: unknown;
}

/** A response with its price in points. */
export interface PaidOutcome extends StoredSuccess {
  cost: number;
}

/**
 * Runs `work` once per key. Its effects and its response are stored in one transaction, so that a repeated request gets
 * the stored response, even after a crash. `work` is synchronous, so that two requests cannot overlap.
 */
export function runOnce(
  c: Http,
  services: Services,
  key: string | undefined,
  input: unknown,
  work: () => StoredSuccess,
): Response {
  const { db, clock } = services;
  if (key === undefined) return respond(c, db.transaction(work));
  const scope = { user_id: userOf(c).id, method: c.req.method, path: c.req.path, key };
  const request_hash = createHash('sha256').update(canonicalJson(input)).digest('hex');
  const outcome = db.transaction((): StoredSuccess => {
    db.run(query.deleteFrom('idempotency').where('created_at', '<', clock() - rules.idempotencyHours * HOUR_MS));
    const storedResponse = db.find('idempotency', scope);
    if (storedResponse && storedResponse.request_hash !== request_hash)
      throw invalid({ client_id: ['请求编号已用于另一个请求'] });
    if (storedResponse)
      return { status: storedResponse.status as StoredSuccess['status'], body: JSON.parse(storedResponse.response) };
    const result = work();
    const response = JSON.stringify(result.body);
    db.insert('idempotency', { ...scope, request_hash, status: result.status, response, created_at: clock() });
    return result;
  });
  return respond(c, outcome);
}

const respond = (c: Http, { status, body }: StoredSuccess): Response => c.json(body as object, status);

/** Serializes with sorted keys, so that the order of the fields does not matter. */
function canonicalJson(input: unknown): string {
  return JSON.stringify(input, (_key, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
      : value,
  );
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the request's `Idempotency-Key` or `client_id`. Throws 422 if they differ or are not a UUID. */
export function idempotencyKey(c: Http, input: Record<string, unknown>): string | undefined {
  const header = c.req.header('idempotency-key');
  const field = input.client_id ?? undefined;
  const key = field ?? header;
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !uuid.test(key)) throw invalid({ client_id: ['请求编号格式不正确'] });
  if (header !== undefined && header.toLowerCase() !== key.toLowerCase()) {
    throw invalid({ client_id: ['请求编号与 Idempotency-Key 不一致'] });
  }
  return key.toLowerCase();
}

/** Returns the idempotency key of a call that costs points or creates something. Throws 422 if it is missing. */
export function requiredKey(c: Http, input: Record<string, unknown>): string {
  const key = idempotencyKey(c, input);
  if (key === undefined) throw invalid({ client_id: ['请求编号不能为空'] });
  return key;
}
