import { CONTRACT_VERSION, PAGE_ELEMENTS, type PageBuild, type PageSet, type Preload } from '@liaozhai/shared/contract';
import { bundledRemotes } from './bundledRemotes';

type CreateScriptUrl<Trusted> = { createScriptURL(url: string): Trusted };

/** What the page's inline script (`loader.ts`) provides to the host. */
interface PageLoader {
  policy: CreateScriptUrl<unknown> | null;
  /** Returns the integrity hash of a listed file of this origin, '' for a permitted dev server. Throws for any other URL. */
  hashOf(url: string): string;
  /** Set by the host's script when it starts. */
  started: boolean;
  /** Shows the notice that the app could not be opened. */
  failed(): void;
  /** Taps and focus on server-rendered controls before the app was ready. */
  taps: {
    last: HTMLElement | null;
    focused: HTMLElement | null;
    /** A link was tapped, so another document is loading. */
    isLeaving: boolean;
    /** Returns the control, or the app's control that replaced it. */
    heirOf(control: HTMLElement): HTMLElement | undefined;
  };
}

declare global {
  var __liaozhai: PageLoader | undefined;
  interface Window {
    /** Not supported by every browser. */
    trustedTypes?: { createPolicy(name: string, rules: CreateScriptUrl<string>): CreateScriptUrl<unknown> };
  }
}

/** The set of a development server or a monolith: its remotes are compiled in. */
export const BUNDLED = 'bundled';

/** Reads the set inlined in the page's HTML. Throws if there is no set. */
export function readPageSet(): PageSet {
  const text = document.getElementById(PAGE_ELEMENTS.set)?.textContent;
  const inlined = text ? (JSON.parse(text) as PageSet) : null;
  if (bundledRemotes) return bundledSet(inlined);
  if (!inlined) throw new Error('the page carries no set: serve it through host/server or release export');
  return inlined;
}

/** Absolute URL of a file's folder, with a trailing slash. */
export const folderOf = (file: string): string => new URL('.', new URL(file, location.href)).href;

export const noFiles: Preload = { js: [], css: [] };

/** Returns a set of the compiled-in remotes, with no files to load. */
function bundledSet(inlined: PageSet | null): PageSet {
  const remotes = Object.entries(bundledRemotes ?? {}).map(([name, { label, module }]) => {
    const routes = module.routes.map(({ page: _, ...route }) => ({
      requiresAuth: false,
      keepAlive: false,
      outsideShell: false,
      ...route,
      preload: noFiles,
    }));
    const slots = module.slots.map(({ component: _, ...slot }) => ({ ...slot, preload: noFiles }));
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
