import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLog } from '../operations/look.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { type Measure, seconds } from './measure.ts';
import type { WriterTask } from './writer.ts';

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
  const script = fileURLToPath(new URL('./writer.ts', import.meta.url));
  const runs = Array.from({ length: PROCESSES }, async (_, n) => {
    const writers = builds.slice(n * WRITERS_EACH, (n + 1) * WRITERS_EACH);
    const file = join(at.folder, `task-${mode}-${n}.json`);
    await writeFile(
      file,
      JSON.stringify({ store: at.url, naive, mode, writers, changes: CHANGES } satisfies WriterTask),
    );
    const child = spawn(process.execPath, ['--import', 'tsx', script, file], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`a writer ended with ${code}`);
  });
  await Promise.all(runs);
}

async function lostByOurs(at: TestStore): Promise<{ lost: number; gaps: number }> {
  const current = await at.current();
  const log = await readLog(at.store, current, at.key.publicKey, 100_000);
  const done = new Set(log.filter(({ verb }) => verb === 'activate').map(({ who, why }) => `${who} ${why}`));
  const gaps = log.filter((entry, n) => entry.seq !== current.seq - n).length;
  return { lost: TOTAL + 1 - done.size, gaps };
}

/** Fifty writers in five processes, a thousand changes: what is lost, against read-change-rename of one file. */
export async function writers(): Promise<Measure[]> {
  const at = await openTestStore();
  const naive = join(at.folder, 'naive.json');
  await writeFile(naive, JSON.stringify({ log: [] }));
  await at.activate(await at.host());
  const builds: [string, string][] = [];
  for (let n = 0; n < PROCESSES * WRITERS_EACH; n += 1)
    builds.push([await at.remote(`r${n}`, '1.0.0'), await at.remote(`r${n}`, '1.1.0')]);
  await runProcesses(at, 'naive', builds, naive);
  const kept: { log: string[] } = JSON.parse(await readFile(naive, 'utf8'));
  const took = await seconds(() => runProcesses(at, 'ours', builds, naive));
  const { lost, gaps } = await lostByOurs(at);
  await at.remove();
  return [
    {
      what: `lost of ${TOTAL} changes by ${PROCESSES * WRITERS_EACH} writers at once`,
      baseline: `${TOTAL - kept.log.length} (one file, last write wins)`,
      ours: `${lost}, in ${took.toFixed(0)} s`,
      goal: '0',
      met: lost === 0,
    },
    { what: 'gaps or breaks in the audit', baseline: 'no audit', ours: `${gaps}`, goal: '0', met: gaps === 0 },
  ];
}
