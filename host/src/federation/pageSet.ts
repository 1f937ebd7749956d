import { CONTRACT_VERSION, PAGE_ELEMENTS, type PageBuild, type PageSet } from '@liaozhai/shared/contract';
import { bundledRemotes } from './bundledRemotes';

/** What the page's inline script (`loader.ts`) leaves behind for the host. */
interface PageLoader {
  policy: { createScriptURL(url: string): unknown } | null;
  /** Integrity of a listed file of this origin, none for one of a dev server of this page; throws for anything else. */
  hashOf(url: string): string;
  /** Set by the host's script as it begins to run. */
  started: boolean;
  /** Says on the page that the app could not be opened. */
  failed(): void;
  /** What a reader did before the app could answer, each to a control that the server drew. */
  taps: {
    /** The button tapped last. */
    last: HTMLElement | null;
    focused: HTMLElement | null;
    /** A link was tapped: another document is on its way. */
    isLeaving: boolean;
    /** The control itself, or the app's own in its place. */
    heirOf(control: HTMLElement): HTMLElement | undefined;
  };
}

declare global {
  var __liaozhai: PageLoader | undefined;
}

/** The set of a development server or a monolith: its remotes are compiled in. */
export const BUNDLED = 'bundled';

/** The set this page runs, inlined in its HTML. Throws where the page carries none. */
export function readPageSet(): PageSet {
  const text = document.getElementById(PAGE_ELEMENTS.set)?.textContent;
  const inlined = text ? (JSON.parse(text) as PageSet) : null;
  if (bundledRemotes) return bundledSet(inlined);
  if (!inlined) throw new Error('the page carries no set: serve it through host/server or release export');
  return inlined;
}

const nothing = { js: [], css: [] };

/** What the compiled-in remotes declare, with nothing to load from elsewhere. */
function bundledSet(inlined: PageSet | null): PageSet {
  const remotes = Object.entries(bundledRemotes ?? {}).map(([name, { label, module }]) => {
    const routes = module.routes.map(({ page: _, ...route }) => ({
      requiresAuth: false,
      keepAlive: false,
      outsideShell: false,
      ...route,
      preload: nothing,
    }));
    const slots = module.slots.map(({ component: _, ...slot }) => ({ ...slot, preload: nothing }));
    const build: PageBuild = {
      id: `${name}@${BUNDLED}`,
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
    channel: BUNDLED,
    seq: 0,
    set: BUNDLED,
    candidate: false,
    override: null,
    publicKey: '',
    host: { id: `host@${BUNDLED}`, entry: '', contract: CONTRACT_VERSION, css: [] },
    hashes: {},
    killed: [],
    ...inlined,
    remotes: Object.fromEntries(remotes),
  };
}
