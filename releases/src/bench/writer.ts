import { readFile, rename, writeFile } from 'node:fs/promises';
import { Catalog } from '../channel/catalog.ts';
import { activate } from '../operations/activate.ts';
import { requirePublicKey } from '../operations/init.ts';
import { openStore, requireKey } from '../store/openStore.ts';

/** What a process of the writers' bench is to do. */
export interface WriterTask {
  store: string;
  /** The unguarded file of the baseline. */
  naive: string;
  mode: 'ours' | 'naive';
  /** Per writer: two builds that it makes live in turn. */
  writers: [string, string][];
  changes: number;
}

async function writeOurs({ store: url, writers, changes }: WriterTask): Promise<void> {
  const opened = await openStore(url);
  const { store } = opened;
  await requirePublicKey(store);
  const key = await requireKey(opened);
  const catalog = new Catalog(store);
  const work = writers.map(async (builds, n) => {
    const writer = { store, catalog, key, channel: 'production', who: `${process.pid}-${n}`, now: () => new Date() };
    for (let change = 1; change <= changes; change += 1)
      await activate(writer, [builds[change % 2] ?? ''], { gate: async () => [], why: `${change}` });
  });
  await Promise.all(work);
}

/** Read, change, rename: atomic for readers, yet the last writer wins. */
async function writeNaive({ naive, writers, changes }: WriterTask): Promise<void> {
  const work = writers.map(async ([name], n) => {
    for (let change = 1; change <= changes; change += 1) {
      const state: { log: string[] } = JSON.parse(await readFile(naive, 'utf8'));
      state.log.push(`${name} ${change}`);
      const aside = `${naive}.${process.pid}.${n}`;
      await writeFile(aside, JSON.stringify(state));
      await rename(aside, naive);
    }
  });
  await Promise.all(work);
}

const task: WriterTask = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8'));
await (task.mode === 'ours' ? writeOurs(task) : writeNaive(task));
