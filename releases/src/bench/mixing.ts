import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openReleases } from '../serve/openReleases.ts';
import { openTestStore } from '../testing/openTestStore.ts';
import type { Measure } from './measure.ts';

const PAGES = Number(process.env.BENCH_PAGES ?? 500);
const SWITCHES = Number(process.env.BENCH_SWITCHES ?? 100);
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Reads while something else writes, until both are done. Returns how many reads were torn. */
async function torn(write: (n: number) => Promise<unknown>, read: () => Promise<boolean>): Promise<number> {
  let writing = true;
  const writes = (async () => {
    for (let n = 1; n <= SWITCHES; n += 1) await write(n);
    writing = false;
  })();
  let found = 0;
  for (let page = 0; page < PAGES || writing; page += 1) {
    if (!(await read())) found += 1;
    await tick();
  }
  await writes;
  return found;
}

/** Pages rendered while two remotes are switched together over and over: does any page get one old and one new? */
export async function mixing(): Promise<Measure[]> {
  const at = await openTestStore();
  const pairs: string[][] = [];
  for (const version of ['1.0.0', '1.1.0'])
    pairs.push([await at.remote('stories', version), await at.remote('chat', version)]);
  await at.activate(await at.host(), ...(pairs[0] ?? []));
  const releases = await openReleases({ store: at.url, recheckMilliseconds: 0 });
  const versionOf = (id = '') => id.split('+')[0]?.split('@')[1];
  const ours = await torn(
    (n) => at.activate(...(pairs[n % 2] ?? [])),
    async () => {
      const { remotes } = (await releases.pageFor({ id: 'v' })).pageSet;
      return versionOf(remotes.stories?.id) === versionOf(remotes.chat?.id);
    },
  );
  const files = ['stories', 'chat'].map((name) => join(at.folder, `${name}.latest`));
  for (const file of files) await writeFile(file, '0');
  const usual = await torn(
    async (n) => {
      for (const file of files) await writeFile(file, `${n}`);
    },
    async () => new Set([await readFile(files[0] ?? '', 'utf8'), await readFile(files[1] ?? '', 'utf8')]).size === 1,
  );
  await at.remove();
  return [
    {
      what: `pages with versions mixed, of at least ${PAGES} while ${SWITCHES} switches are under way`,
      baseline: `${usual} (one pointer per remote)`,
      ours: `${ours}`,
      goal: '0',
      met: ours === 0,
    },
  ];
}
