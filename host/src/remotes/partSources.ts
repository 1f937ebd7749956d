import { activeBuild, loadRemote, pageSet, RemoteError } from '../federation';
import type { ScreenRoute } from '../routes/routeTable';
import type { PartComponent, PartSource } from './parts';

const nothing = { js: [], css: [] };
const sources = new Map<string, PartSource>();

/** One object per part, so that panes and caches agree on it. */
function once(key: string, make: (key: string) => PartSource): PartSource {
  const known = sources.get(key) ?? make(key);
  sources.set(key, known);
  return known;
}

/** The page of a route. */
export function routePart({ name, source }: ScreenRoute): PartSource {
  if (source.kind === 'host') {
    const load = async () => (await source.page()).default as PartComponent;
    return once(`host ${name}`, (key) => ({ key, remote: null, preload: nothing, load }));
  }
  const { remote } = source;
  return once(`${remote} route ${name}`, (key) => ({
    key,
    remote,
    get preload() {
      return activeBuild(remote)?.routes.find((route) => route.name === name)?.preload ?? nothing;
    },
    async load() {
      const route = (await loadRemote(remote)).routes.find((candidate) => candidate.name === name);
      if (!route) throw new RemoteError(remote, 'module-missing');
      return (await route.page()).default as PartComponent;
    },
  }));
}

/** What fills a slot, or null if no remote of the set declares it. */
export function slotPart(name: string): PartSource | null {
  const owner = Object.entries(pageSet.remotes).find(([, build]) => build.slots.some((slot) => slot.name === name));
  if (!owner) return null;
  const [remote] = owner;
  return once(`${remote} slot ${name}`, (key) => ({
    key,
    remote,
    get preload() {
      return activeBuild(remote)?.slots.find((slot) => slot.name === name)?.preload ?? nothing;
    },
    async load() {
      const slot = (await loadRemote(remote)).slots.find((candidate) => candidate.name === name);
      if (!slot) throw new RemoteError(remote, 'module-missing');
      return (await slot.part()).default as unknown as PartComponent;
    },
  }));
}
