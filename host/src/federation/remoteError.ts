export type RemoteFailure = 'unreachable' | 'incompatible' | 'threw' | 'unknown';

/** Says which remote failed and how; `cause` keeps what really happened. */
export class RemoteError extends Error {
  constructor(
    readonly remote: string,
    readonly reason: RemoteFailure,
    cause?: unknown,
  ) {
    super(`remote ${remote} is ${reason}`, { cause });
    this.name = 'RemoteError';
  }
}
