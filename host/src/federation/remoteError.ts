import type { RemoteFailure } from '@liaozhai/shared/contract';
import { type AssetFailure, assetFailureOf } from './assetLoader';

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

/** A file that the set does not list, or whose bytes differ, says more than that something is missing. */
const integrityFailures: Partial<Record<AssetFailure, RemoteFailure>> = {
  timeout: 'hang',
  corrupt: 'integrity',
  unlisted: 'integrity',
};

export function entryError(remote: string, cause: unknown): RemoteError {
  const kind = assetFailureOf(cause);
  return new RemoteError(remote, (kind && integrityFailures[kind]) ?? 'unreachable', cause);
}

/** The kind of what the federation runtime rejected with as it opened a module. */
export function moduleError(remote: string, cause: unknown): RemoteError {
  if (cause instanceof RemoteError) return cause;
  // the container has no `init`, or its `init` threw: the runtime passes only the text on
  if (cause instanceof Error && /RUNTIME-0(02|15)/.test(cause.message))
    return new RemoteError(remote, 'init-threw', cause);
  // a container looks its module up and loads the chunk that has it, no more
  const kind = assetFailureOf(cause);
  return new RemoteError(remote, kind ? (integrityFailures[kind] ?? 'chunk-lost') : 'module-missing', cause);
}
