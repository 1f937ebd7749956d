/** One build of one remote, as the page carries it. Paths are absolute from the origin's root. */
export interface PageBuild {
  /** e.g. `stories@1.4.2+3f9c1a` */
  id: string;
  label: string;
  entry: string;
  /** the container's global variable, unique per build */
  global: string;
  contract: string;
  routes: PageRoute[];
  slots: { name: string; preload: Preload }[];
}

export interface PageRoute {
  name: string;
  path: string;
  title: string;
  requiresAuth: boolean;
  keepAlive: boolean;
  outsideShell: boolean;
  preload: Preload;
}

export interface Preload {
  js: string[];
  css: string[];
}

/** The set this page runs, inlined in its HTML and pinned for the life of the page. */
export interface PageSet {
  channel: string;
  seq: number;
  set: string;
  candidate: boolean;
  override: { id: string; expires: string } | null;
  publicKey: string;
  host: { id: string; entry: string; contract: string; css: string[] };
  remotes: Record<string, PageBuild & { lastGood: PageBuild | null }>;
  /** absolute path → integrity; a file that is not listed never runs */
  hashes: Record<string, string>;
  killed: string[];
}
