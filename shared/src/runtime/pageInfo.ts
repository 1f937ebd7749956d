export interface PageInfo {
  channel: string;
  set: string;
  /** remote → build id */
  builds: Record<string, string>;
}

let info: PageInfo = { channel: '', set: '', builds: {} };

/** Which set and builds this page runs; told by the host, shown in diagnostics. */
export const pageInfo = () => info;
export const pageInfoKnown = (known: PageInfo) => {
  info = known;
};
