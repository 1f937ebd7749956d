import type { Failure } from './answers.ts';
import { say } from './sentences.ts';

export type FailureKind = 'refused' | 'usage' | 'unreachable' | 'conflict' | 'forbidden';

export const STATUSES = { refused: 422, usage: 400, conflict: 409, unreachable: 503, forbidden: 403 } as const;

/**
 * Header with the HTTP API level that a console or caller supports; 1 if absent. From level 2 on, the response to a change may be the
 * proposal that waits in its place.
 */
export const API_HEADER = 'x-releases-api';
export const API_LEVEL = 2;

export const apiLevelOf = (headers: Headers): number => Number(headers.get(API_HEADER)) || 1;

/**
 * Reason for a refusal as data, for callers that phrase it themselves. `takenBack`: a promotion would replace builds that were never live
 * in the channel `from`. `killed` and `unfit`: of a rollback; `to` is the number of a state that fits as a whole. `gone`: what the request
 * names was removed, has ended or was decided. `partly`: something was changed, but not all.
 */
export type RefusalReason = NonNullable<Failure['reason']>;

/** A failure a person can act on: what happened, and what cures it. */
export class ReleaseError extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly cure = '',
    readonly details: readonly string[] = [],
    readonly reason?: RefusalReason,
  ) {
    super(message);
    this.name = 'ReleaseError';
  }
}

/** The release rules forbid the change; nothing was changed. */
export const refused = (message: string, cure = '', details: readonly string[] = [], reason?: RefusalReason) =>
  new ReleaseError('refused', message, cure, details, reason);

/** What the request names was removed, has ended or was decided before. */
export const gone = (what: Extract<RefusalReason, { kind: 'gone' }>['what'], message: string, cure: string) =>
  refused(message, cure, [], { kind: 'gone', what });

/** A document with a valid signature in a form that only newer versions understand. */
export const newer = (what: string, details: readonly string[]) =>
  refused(say('documentNewer', { what }), say('documentNewerCure'), details);

export const usage = (message: string, cure = '') => new ReleaseError('usage', message, cure);

/** The store cannot be reached or denies access. */
export const unreachable = (message: string, cure = '') => new ReleaseError('unreachable', message, cure);

export const forbidden = (message: string, cure = '') => new ReleaseError('forbidden', message, cure);

/** Someone else changed the channel since the caller looked. */
export const conflict = (message: string, cure = '') => new ReleaseError('conflict', message, cure);

/** For `catch`: null for a document that is missing or damaged. Throws what a later attempt may not meet, such as unreachable. */
export function nullIfRefused(cause: unknown): null {
  if (cause instanceof ReleaseError && cause.kind === 'refused') return null;
  throw cause;
}

/** True for errors of the operating system with this code, e.g. ENOENT. */
export const hasCode = (cause: unknown, ...codes: string[]): boolean =>
  cause instanceof Error && 'code' in cause && codes.includes(String(cause.code));

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** Message of an error and its causes. `fetch` puts the reason in `cause`, sometimes as a code without a message. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const message = cause.message || ('code' in cause ? String(cause.code) : cause.name);
  return cause.cause instanceof Error ? `${message} (${reasonOf(cause.cause)})` : message;
}

/** One line for a log, of any thrown value: what happened, where, and what cures it. */
export function lineOf(cause: unknown): string {
  if (!(cause instanceof ReleaseError)) return messageOf(cause);
  const what = [cause.message, ...cause.details].join('; ');
  return cause.cure ? `${what}. ${cause.cure}` : what;
}

/**
 * For `catch` of what follows a change. The change has taken effect, so a store that fails then is reported on stderr and not thrown.
 */
export const reportUnreachable =
  (missing: string) =>
  (cause: unknown): null => {
    if (!(cause instanceof ReleaseError && cause.kind === 'unreachable')) throw cause;
    console.error(`the change is made, but ${missing} could not follow: ${lineOf(cause)}`);
    return null;
  };

/** A problem not reported for this long is over. Longer than a round that waits for the gate or a receiver. */
const PROBLEM_LIFETIME_MS = 90_000;

/** Reports a problem when it begins, not in every round: repeated lines could fill the disk. */
export function reportNewProblems(
  report: (cause: unknown) => void,
  now = () => performance.now(),
): (cause: unknown) => void {
  const lastSeenAt = new Map<string, number>();
  return (cause) => {
    for (const [line, at] of lastSeenAt) if (now() - at > PROBLEM_LIFETIME_MS) lastSeenAt.delete(line);
    const line = messageOf(cause);
    const isOngoing = lastSeenAt.has(line);
    lastSeenAt.set(line, now());
    if (!isOngoing) report(cause);
  };
}
