import type { RemoteFailure } from '@liaozhai/shared/contract';
import { type AssetFailure, assetFailureOf } from './assetLoader';

/** Says which remote failed and how; `cause` keeps what really happened. */
export class RemoteError extends Error {
  constructor(
    readonly remote: string,
    /** `unchecked`: the browser would not check the build's hashes, which is no fault of the build */
    readonly failure: RemoteFailure | 'unchecked',
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
    return new RemoteError(remote, /RemoteError: .*: hang/.test(cause.message) ? 'hang' : 'init-threw', cause);
  // a container looks its module up and loads the chunk that has it, no more
  const kind = assetFailureOf(cause);
  return new RemoteError(remote, kind ? (integrityFailures[kind] ?? 'chunk-lost') : 'module-missing', cause);
}

/** How browsers and Vite say that a file of ES modules or its stylesheet did not come. */
const LOST_IMPORT = /dynamically imported module|Importing a module script|preload CSS/;

/** The kind of what the module of a page or slot rejected with: a file of it is lost, or its own code threw. */
export function pageError(remote: string, cause: unknown): RemoteError {
  if (cause instanceof RemoteError) return cause;
  const isLost = assetFailureOf(cause) !== undefined || LOST_IMPORT.test(String(cause));
  return new RemoteError(remote, isLost ? 'chunk-lost' : 'module-threw', cause);
}

/** Files have limits of their own; code that awaits at top level has this one. */
const EVALUATION_TIMEOUT_MS = 15_000;

/** The module's value. Rejects with RemoteError where the module waits for ever as it is evaluated. */
export async function inTime<Module>(
  remote: string,
  module: Module | Promise<Module>,
  timeoutMs = EVALUATION_TIMEOUT_MS,
): Promise<Module> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RemoteError(remote, 'hang')), timeoutMs);
  });
  return Promise.race([module, late]).finally(() => clearTimeout(timer));
}
