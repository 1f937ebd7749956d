/** How a remote failed to show; the release system counts these classes. */
export type RemoteFailure =
  | 'unreachable'
  | 'hang'
  | 'integrity'
  | 'entry-threw'
  | 'init-threw'
  | 'module-missing'
  | 'chunk-lost'
  | 'render-threw'
  | 'contract';

/** Says which remote failed and how; `cause` keeps what really happened. */
export class RemoteError extends Error {
  constructor(
    readonly remote: string,
    readonly failure: RemoteFailure,
    cause?: unknown,
  ) {
    super(`remote ${remote}: ${failure}`, { cause });
    this.name = 'RemoteError';
  }
}

/** Names the failure by what the door, the container or the module said. */
export function failureOf(cause: unknown): RemoteFailure {
  if (cause instanceof RemoteError) return cause.failure;
  const text = cause instanceof Error ? `${cause.name} ${cause.message}` : String(cause);
  if (text.includes('timeout')) return 'hang';
  if (/unlisted|corrupt/.test(text)) return 'integrity';
  if (text.includes('left no container')) return 'entry-threw';
  if (text.includes('ChunkLoadError') || text.includes('Loading CSS')) return 'chunk-lost';
  if (text.includes('DoorError')) return 'unreachable';
  if (text.includes('RUNTIME-001') || text.includes('does not exist in container')) return 'module-missing';
  return 'init-threw';
}
