import type { ComponentType } from 'react';
import { activeBuild, fallBack, loadRemote, RemoteError, warm } from '../federation';
import type { Preload } from '../federation/pageSet';

export type PartProps = Record<string, string>;
export type PartComponent = ComponentType<PartProps>;

/** What a pane shows: a page or a slot's part of a remote, or a page of the host itself. */
export interface PartSource {
  key: string;
  remote: string | null;
  preload: Preload;
  load: () => Promise<PartComponent>;
}

interface Entry {
  loading: Promise<PartComponent>;
  /** the build it came from; unknown until the remote's module is there */
  build: string | undefined;
}

const entries = new Map<string, Entry>();

/** Notes the outcome on the promise in the form that React's `use` reads without waiting a turn. */
function tracked(loading: Promise<PartComponent>) {
  loading.then(
    (value) => Object.assign(loading, { status: 'fulfilled', value }),
    (reason) => Object.assign(loading, { status: 'rejected', reason }),
  );
  return Object.assign(loading, { status: 'pending' });
}

async function loadFrom(source: PartSource, entry: { build: string | undefined }): Promise<PartComponent> {
  if (!source.remote) return source.load();
  warm(source.preload);
  await loadRemote(source.remote);
  entry.build = activeBuild(source.remote)?.id;
  try {
    return await source.load();
  } catch (cause) {
    throw cause instanceof RemoteError ? cause : new RemoteError(source.remote, 'chunk-lost', cause);
  }
}

/** Starts loading a part, or joins the load under way; a failed one is remembered until `forgetPart`. */
export function loadPart(source: PartSource): Promise<PartComponent> {
  const known = entries.get(source.key);
  if (known) return known.loading;
  const origin: { build: string | undefined } = { build: undefined };
  const loading = tracked(loadFrom(source, origin));
  entries.set(source.key, {
    loading,
    get build() {
      return origin.build;
    },
  });
  return loading;
}

export const forgetPart = (source: PartSource) => void entries.delete(source.key);

/**
 * After a part failed to load or to render: whether another build can take its place.
 * A remote that could not be loaded at all has already been through its last good build.
 */
export function canRecover(source: PartSource, cause: unknown): boolean {
  const build = entries.get(source.key)?.build;
  forgetPart(source);
  return source.remote !== null && build !== undefined && fallBack(source.remote, build, cause);
}
