import type { RemoteFailure } from '@liaozhai/shared/contract';
import { type AssetFailure, assetFailureOf } from './assetLoader';

/** Failure of a remote; `cause` is the original error. */
export class RemoteError extends Error {
  constructor(
    readonly remote: string,
    /** `unchecked`: the browser cannot check the build's hashes, which is not the build's fault */
    readonly failure: RemoteFailure | 'unchecked',
    cause?: unknown,
  ) {
    super(`remote ${remote}: ${failure}`, { cause });
    this.name = 'RemoteError';
  }
}

/** Asset failures that are more specific than an unreachable file. */
const integrityFailures: Partial<Record<AssetFailure, RemoteFailure>> = {
  timeout: 'hang',
  corrupt: 'integrity',
  unlisted: 'integrity',
};

export function entryError(remote: string, cause: unknown): RemoteError {
  const kind = assetFailureOf(cause);
  return new RemoteError(remote, (kind && integrityFailures[kind]) ?? 'unreachable', cause);
}

/** Classifies a rejection of the federation runtime when it opened a module. */
export function moduleError(remote: string, cause: unknown): RemoteError {
  if (cause instanceof RemoteError) return cause;
  // the container has no `init`, or its `init` threw; the runtime passes on only the message
  if (cause instanceof Error && /RUNTIME-0(02|15)/.test(cause.message))
    return new RemoteError(remote, /RemoteError: .*: hang/.test(cause.message) ? 'hang' : 'init-threw', cause);
  // a container only looks up the module and loads its chunk, so any other error means that it has no such module
  const kind = assetFailureOf(cause);
  return new RemoteError(remote, kind ? (integrityFailures[kind] ?? 'chunk-lost') : 'module-missing', cause);
}

/** Messages of browsers and Vite for an ES module or its stylesheet that could not be loaded. */
const LOST_IMPORT = /dynamically imported module|Importing a module script|preload CSS/;

/** Classifies a rejection of a page's or slot's module: one of its files is lost, or its own code threw. */
export function pageError(remote: string, cause: unknown): RemoteError {
  if (cause instanceof RemoteError) return cause;
  const isLost = assetFailureOf(cause) !== undefined || LOST_IMPORT.test(String(cause));
  return new RemoteError(remote, isLost ? 'chunk-lost' : 'module-threw', cause);
}

/** Limit for code that awaits at top level; files have their own timeouts. */
const EVALUATION_TIMEOUT_MS = 15_000;

/** Resolves with the module. Rejects with RemoteError (`hang`) if it is not evaluated within the limit. */
export async function withTimeout<Module>(
  remote: string,
  module: Module | Promise<Module>,
  timeoutMs = EVALUATION_TIMEOUT_MS,
): Promise<Module> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RemoteError(remote, 'hang')), timeoutMs);
  });
  return Promise.race([module, timeout]).finally(() => clearTimeout(timer));
}
