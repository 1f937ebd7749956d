import { type ComponentType, lazy } from 'react';
import { activeBuild, fallBack, loadRemote, RemoteError, startAnew, warm } from '../federation';
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
  /** there once it is loaded */
  component?: PartComponent;
  /** stands in for the component until then */
  Pending: PartComponent;
  /** the build it came from; unknown until the remote's module is there */
  build?: string;
}

const entries = new Map<string, Entry>();

async function load(source: PartSource, entry: Pick<Entry, 'build'>): Promise<PartComponent> {
  if (!source.remote) return source.load();
  await loadRemote(source.remote, () => void warm(source.preload));
  const build = activeBuild(source.remote)?.id ?? '';
  entry.build = build;
  try {
    return await source.load();
  } catch (cause) {
    const failure = cause instanceof RemoteError ? cause : new RemoteError(source.remote, 'chunk-lost', cause);
    if (fallBack(source.remote, build, failure)) return load(source, entry);
    throw failure;
  }
}

function start(source: PartSource): Entry {
  const begun: Pick<Entry, 'build'> = {};
  const loading = load(source, begun);
  const Pending = lazy(async () => ({ default: await loading }));
  const entry: Entry = Object.assign(begun, { loading, Pending });
  loading.then(
    (component) => Object.assign(entry, { component }),
    // the pane's boundary meets the failure through `Pending`
    () => undefined,
  );
  return entry;
}

function entryOf(source: PartSource): Entry {
  const entry = entries.get(source.key) ?? start(source);
  entries.set(source.key, entry);
  return entry;
}

/** Starts loading a part, or joins the load under way; a failed one is remembered until `forgetPart`. */
export const loadPart = (source: PartSource): Promise<PartComponent> => entryOf(source).loading;

/** The part as a component: itself once loaded, since a lazy one would show its fallback for a moment even then. */
export function partComponent(source: PartSource): PartComponent {
  const { component, Pending } = entryOf(source);
  return component ?? Pending;
}

const forget = (source: PartSource) => void entries.delete(source.key);

/** For a retry by hand: the next load asks for everything again. */
export function forgetPart(source: PartSource) {
  forget(source);
  if (source.remote) startAnew(source.remote);
}

/**
 * After a part failed: whether another build can take its place. One that could not be loaded has been through
 * every build already; one that threw in rendering has not.
 */
export function canRecover(source: PartSource, cause: unknown): boolean {
  const build = entries.get(source.key)?.build;
  forget(source);
  if (source.remote === null || build === undefined || cause instanceof RemoteError) return false;
  return fallBack(source.remote, build, new RemoteError(source.remote, 'render-threw', cause));
}
