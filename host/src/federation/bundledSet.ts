import { bundledRemotes } from './bundledRemotes';
import type { PageBuild, PageSet } from './pageSet';

const nothing = { js: [], css: [] };

/** The set of a monolith build: what its remotes declare, with nothing to load from elsewhere. */
export function bundledSet(inlined: PageSet | null): PageSet {
  const remotes = Object.entries(bundledRemotes ?? {}).map(([name, { label, module }]) => {
    const routes = module.routes.map(({ page: _, ...route }) => ({
      requiresAuth: false,
      keepAlive: false,
      outsideShell: false,
      ...route,
      preload: nothing,
    }));
    const slots = module.slots.map((slot) => ({ name: slot.name, preload: nothing }));
    const build: PageBuild = {
      id: `${name}@bundled`,
      label,
      entry: '',
      global: '',
      contract: module.contract,
      routes,
      slots,
    };
    return [name, { ...build, lastGood: null }] as const;
  });
  return {
    channel: 'bundled',
    seq: 0,
    set: 'bundled',
    candidate: false,
    override: null,
    publicKey: '',
    host: { id: 'host@bundled', entry: '', contract: '1.0.0', css: [] },
    hashes: {},
    killed: [],
    ...inlined,
    remotes: Object.fromEntries(remotes),
  };
}
