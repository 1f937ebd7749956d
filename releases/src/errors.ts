import { say } from './sentences.ts';

export type FailureKind = 'refused' | 'usage' | 'unreachable' | 'conflict' | 'forbidden';

/** The kinds as HTTP has them. */
export const STATUSES = { refused: 422, usage: 400, conflict: 409, unreachable: 503, forbidden: 403 } as const;

/**
 * Which answers of the HTTP API a program knows, told by console and caller in this header; none = 1. 2: a change may be answered by
 * the proposal that waits in its place.
 */
export const API_HEADER = 'x-releases-api';
export const API_LEVEL = 2;

/** The level that headers tell of. */
export const apiLevelOf = (headers: Headers): number => Number(headers.get(API_HEADER)) || 1;

/** What a refusal is about as data, for callers that phrase it themselves. */
export type RefusalReason =
  /** Builds that nobody tried in the channel whose set was to replace them. */
  | { kind: 'takenBack'; from: string; builds: readonly { build: string; to: string | null }[] }
  /** A way back to builds that were killed. */
  | { kind: 'killed'; builds: readonly string[] }
  /** A way back to builds that do not fit what runs now; `to` is the state that goes back with all that belongs together. */
  | { kind: 'unfit'; builds: readonly string[]; to: number | null };

/** A failure a person can act on: what happened, and what cures it. */
export class ReleaseError extends Error {
  readonly kind: FailureKind;
  readonly cure: string;
  readonly details: readonly string[];
  readonly reason: RefusalReason | undefined;

  constructor(kind: FailureKind, message: string, cure = '', details: readonly string[] = [], reason?: RefusalReason) {
    super(message);
    this.name = 'ReleaseError';
    this.kind = kind;
    this.cure = cure;
    this.details = details;
    this.reason = reason;
  }
}

/** The release rules say no: nothing was changed. */
export const refused = (message: string, cure = '', details: readonly string[] = [], reason?: RefusalReason) =>
  new ReleaseError('refused', message, cure, details, reason);

/** A document of this store's own key that this version does not understand: nothing is wrong with it. */
export const newer = (what: string, details: readonly string[]) =>
  refused(say('documentNewer', { what }), say('documentNewerCure'), details);

/** The command or request itself is wrong. */
export const usage = (message: string, cure = '') => new ReleaseError('usage', message, cure);

/** The store cannot be reached or does not let us in. */
export const unreachable = (message: string, cure = '') => new ReleaseError('unreachable', message, cure);

/** The caller lacks the permission. */
export const forbidden = (message: string, cure = '') => new ReleaseError('forbidden', message, cure);

/** Someone else changed the channel since the caller looked. */
export const conflict = (message: string, cure = '') => new ReleaseError('conflict', message, cure);

/** True for errors of the operating system with this code, e.g. ENOENT. */
export const hasCode = (cause: unknown, ...codes: string[]): boolean =>
  cause instanceof Error && 'code' in cause && codes.includes(String(cause.code));

/** One line for a person, of any thrown value. */
export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** One line for a log, of any thrown value: what happened, where, and what cures it. */
export function lineOf(cause: unknown): string {
  if (!(cause instanceof ReleaseError)) return messageOf(cause);
  const what = [cause.message, ...cause.details].join('; ');
  return cause.cure ? `${what}. ${cause.cure}` : what;
}

/** So long without a problem is its end, also where a round waited for the gate or a receiver. */
const OVER_MS = 90_000;

/** Reports a problem when it begins and not in each round that meets it: a full disk would be filled with its own lines. */
export function whenItBegins(tell: (cause: unknown) => void, now = () => performance.now()): (cause: unknown) => void {
  const metAt = new Map<string, number>();
  return (cause) => {
    for (const [line, at] of metAt) if (now() - at > OVER_MS) metAt.delete(line);
    const line = messageOf(cause);
    const isKnown = metAt.has(line);
    metAt.set(line, now());
    if (!isKnown) tell(cause);
  };
}
