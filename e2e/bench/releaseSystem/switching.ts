import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rollback } from '../../../releases/src/operations/goingBack.ts';
import { activate } from '../../../releases/src/operations/switching.ts';
import { openReleases } from '../../../releases/src/serve/openReleases.ts';
import { openGate, openTestStore, writeRemote } from '../../../releases/src/testing/openTestStore.ts';
import { quantile, type Row, row, seconds } from '../report.ts';

const PAGES = Number(process.env.BENCH_PAGES ?? 500);
const SWITCHES = Number(process.env.BENCH_SWITCHES ?? 100);
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Reads during the writes, until both are done. Returns the number of torn reads. */
async function countTornReads(write: (n: number) => Promise<unknown>, read: () => Promise<boolean>): Promise<number> {
  let isWriting = true;
  const writes = (async () => {
    for (let n = 1; n <= SWITCHES; n += 1) await write(n);
    isWriting = false;
  })();
  let tornCount = 0;
  for (let page = 0; page < PAGES || isWriting; page += 1) {
    if (!(await read())) tornCount += 1;
    await tick();
  }
  await writes;
  return tornCount;
}

/** Renders pages while two remotes are switched together, and counts pages with one old and one new remote. */
export async function mixing(): Promise<Row[]> {
  const at = await openTestStore();
  const pairs: string[][] = [];
  for (const version of ['1.0.0', '1.1.0'])
    pairs.push([await at.remote('stories', version), await at.remote('chat', version)]);
  await at.activate(await at.host(), ...(pairs[0] ?? []));
  const releases = await openReleases({ store: at.url, recheckMilliseconds: 0 });
  const versionOf = (id = '') => id.split('+')[0]?.split('@')[1];
  const ours = await countTornReads(
    (n) => at.activate(...(pairs[n % 2] ?? [])),
    async () => {
      const { remotes } = (await releases.pageFor({ id: 'v' })).pageSet;
      return versionOf(remotes.stories?.id) === versionOf(remotes.chat?.id);
    },
  );
  const files = ['stories', 'chat'].map((name) => join(at.folder, `${name}.latest`));
  for (const file of files) await writeFile(file, '0');
  const usual = await countTornReads(
    async (n) => {
      for (const file of files) await writeFile(file, `${n}`);
    },
    async () => new Set([await readFile(files[0] ?? '', 'utf8'), await readFile(files[1] ?? '', 'utf8')]).size === 1,
  );
  await at.remove();
  return [
    row(
      `pages with versions mixed, of at least ${PAGES} while ${SWITCHES} switches are under way`,
      `${ours}`,
      '0',
      ours === 0,
      `${usual} (one pointer per remote)`,
    ),
  ];
}

const ROUNDS = 20;

/** Time from a rollback to the first page that shows it, rendered by a separate reader of the store. */
export async function rollbackTime(): Promise<Row[]> {
  const at = await openTestStore();
  const bulky = { 'static/js/async/page.js': `/* ${'liaozhai '.repeat(20_000)} */` };
  const [first, second] = [
    await at.remote('stories', '1.0.0', { files: bulky }),
    await at.remote('stories', '1.1.0', { files: bulky }),
  ];
  await at.activate(await at.host(), first);
  const releases = await openReleases({ store: at.url });
  const waitUntilShown = async (id: string) => {
    while ((await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id !== id)
      await new Promise((resolve) => setImmediate(resolve));
  };
  const durations: Record<'ours' | 'again', number[]> = { ours: [], again: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await at.activate(second);
    await releases.pageFor({ id: 'v' });
    const goBack = async () => {
      await rollback(at.writer, { name: 'stories' });
      await waitUntilShown(first);
    };
    durations.ours.push(await seconds(goBack));
    const dist = await writeRemote(at.place(), 'stories', `again ${round}`, { files: bulky });
    const publishAgain = async () => {
      const id = await at.publishFrom(dist, `1.0.${round + 1}`);
      await activate(at.writer, [id], { gate: openGate });
      await waitUntilShown(id);
    };
    durations.again.push(await seconds(publishAgain));
    await at.activate(first);
  }
  await at.remove();
  const [ours, again] = [quantile(durations.ours, 0.95), quantile(durations.again, 0.95)];
  const usual = `${again.toFixed(2)} s (publishing the former build again, build time not counted)`;
  const what = `rollback to the first new page that shows it, p95 of ${ROUNDS}`;
  return [row(what, `${ours.toFixed(3)} s`, '≤ 10 s', ours <= 10, usual)];
}
