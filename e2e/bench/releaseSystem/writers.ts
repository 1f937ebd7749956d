import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Catalog } from '../../../releases/src/builds/catalog.ts';
import { readLog } from '../../../releases/src/channel/readChannel.ts';
import { activate } from '../../../releases/src/operations/switching.ts';
import { openStore, requireKey, requirePublicKey } from '../../../releases/src/store/store.ts';
import { openTestStore, type TestStore } from '../../../releases/src/testing/openTestStore.ts';
import { type Row, row, seconds } from '../report.ts';

/** Task of one process of this bench. */
interface WriterTask {
  store: string;
  /** Unprotected file of the baseline. */
  naive: string;
  mode: 'ours' | 'naive';
  /** Two builds per writer, activated in turn. */
  writers: [string, string][];
  changes: number;
}

async function writeOurs({ store: url, writers, changes }: WriterTask): Promise<void> {
  const openedStore = await openStore(url);
  const { store } = openedStore;
  await requirePublicKey(store);
  const key = await requireKey(openedStore);
  const catalog = new Catalog(store);
  const work = writers.map(async (builds, n) => {
    const writer = { store, catalog, key, channel: 'production', who: `${process.pid}-${n}`, now: () => new Date() };
    for (let change = 1; change <= changes; change += 1)
      await activate(writer, [builds[change % 2] ?? ''], { gate: async () => [], why: `${change}` });
  });
  await Promise.all(work);
}

/** Reads, changes and renames: atomic for readers, but the last writer wins. */
async function writeNaive({ naive, writers, changes }: WriterTask): Promise<void> {
  const work = writers.map(async ([name], n) => {
    for (let change = 1; change <= changes; change += 1) {
      const state: { log: string[] } = JSON.parse(await readFile(naive, 'utf8'));
      state.log.push(`${name} ${change}`);
      const temporaryFile = `${naive}.${process.pid}.${n}`;
      await writeFile(temporaryFile, JSON.stringify(state));
      await rename(temporaryFile, naive);
    }
  });
  await Promise.all(work);
}

const PROCESSES = 5;
const WRITERS_EACH = 10;
const CHANGES = 20;
const TOTAL = PROCESSES * WRITERS_EACH * CHANGES;

async function runProcesses(
  at: TestStore,
  mode: WriterTask['mode'],
  builds: [string, string][],
  naive: string,
): Promise<void> {
  const script = fileURLToPath(import.meta.url);
  const runs = Array.from({ length: PROCESSES }, async (_, n) => {
    const writers = builds.slice(n * WRITERS_EACH, (n + 1) * WRITERS_EACH);
    const file = join(at.folder, `task-${mode}-${n}.json`);
    await writeFile(
      file,
      JSON.stringify({ store: at.url, naive, mode, writers, changes: CHANGES } satisfies WriterTask),
    );
    const child = spawn(process.execPath, ['host/server/run.mjs', script, file], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`a writer ended with ${code}`);
  });
  await Promise.all(runs);
}

async function countOurLosses(at: TestStore): Promise<{ lost: number; gaps: number }> {
  const current = await at.current();
  const log = await readLog(at.writer, current, 100_000);
  const recordedChanges = new Set(log.filter(({ verb }) => verb === 'activate').map(({ who, why }) => `${who} ${why}`));
  const gaps = log.filter((entry, n) => entry.seq !== current.seq - n).length;
  return { lost: TOTAL + 1 - recordedChanges.size, gaps };
}

/** Makes a thousand changes by fifty writers in five processes. Compares the losses with those of read, change and rename on one file. */
export async function writers(): Promise<Row[]> {
  const at = await openTestStore();
  const naive = join(at.folder, 'naive.json');
  await writeFile(naive, JSON.stringify({ log: [] }));
  await at.activate(await at.host());
  const builds: [string, string][] = [];
  for (let n = 0; n < PROCESSES * WRITERS_EACH; n += 1)
    builds.push([await at.remote(`r${n}`, '1.0.0'), await at.remote(`r${n}`, '1.1.0')]);
  await runProcesses(at, 'naive', builds, naive);
  const naiveState: { log: string[] } = JSON.parse(await readFile(naive, 'utf8'));
  const ourSeconds = await seconds(() => runProcesses(at, 'ours', builds, naive));
  const { lost, gaps } = await countOurLosses(at);
  await at.remove();
  return [
    row(
      `lost of ${TOTAL} changes by ${PROCESSES * WRITERS_EACH} parallel writers`,
      `${lost}, in ${ourSeconds.toFixed(0)} s`,
      '0',
      lost === 0,
      `${TOTAL - naiveState.log.length} (one file, last write wins)`,
    ),
    row('gaps or breaks in the audit', `${gaps}`, '0', gaps === 0, 'no audit'),
  ];
}

// started by `runProcesses` with the file of its task: one of the writing processes
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const task: WriterTask = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8'));
  await (task.mode === 'ours' ? writeOurs(task) : writeNaive(task));
}
