import type { BuildRecord } from '../model/build.ts';
import { buildFolder } from '../model/ids.ts';
import type { Store } from '../store/store.ts';
import type { GateCheck } from './gateCheck.ts';

const KIB = 1024;

/** Brotli sizes that a phone on a slow line can bear. */
export const BUDGET = { remoteEntryKib: 40, routeKib: 220, hostEntryKib: 180, hostPageKib: 40 } as const;

interface Load {
  what: string;
  paths: string[];
  limitKib: number;
}

function loadsOf({ description }: BuildRecord): Load[] {
  if (description.kind === 'host')
    return [
      { what: 'the host script', paths: [description.entry, ...description.css], limitKib: BUDGET.hostEntryKib },
      { what: 'the page template', paths: [description.template], limitKib: BUDGET.hostPageKib },
    ];
  const { entry, module } = description;
  const parts = [...description.routes, ...description.slots];
  return [
    { what: `the entry ${entry}`, paths: [entry], limitKib: BUDGET.remoteEntryKib },
    ...parts.map((part) => ({
      what: `everything "${part.name}" needs`,
      paths: [...new Set([entry, ...module.js, ...module.css, ...part.js, ...part.css])],
      limitKib: BUDGET.routeKib,
    })),
  ];
}

async function problemsOf(store: Store, record: BuildRecord): Promise<string[]> {
  const size = async (path: string) =>
    (await store.read(`${buildFolder(record.id)}/${path}.br`))?.length ?? record.files[path]?.size ?? 0;
  const lines = loadsOf(record).map(async ({ what, paths, limitKib }) => {
    const kib = (await Promise.all(paths.map(size))).reduce((sum, bytes) => sum + bytes, 0) / KIB;
    return kib > limitKib
      ? [`${record.id}: ${what} weighs ${kib.toFixed(1)} KiB br, the budget is ${limitKib}: load parts of it lazily`]
      : [];
  });
  return (await Promise.all(lines)).flat();
}

/** Entry, routes and page stay within their size budgets. */
export const budget: GateCheck = {
  name: 'size budget',
  run: async ({ store, changed }) => (await Promise.all(changed.map((record) => problemsOf(store, record)))).flat(),
};
