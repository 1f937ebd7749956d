import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Catalog, claimKey, readRecord } from '../../../releases/src/builds/catalog.ts';
import { requireChannel } from '../../../releases/src/channel/readChannel.ts';
import { buildFolder, makeRecord } from '../../../releases/src/model/build.ts';
import { canonicalJson } from '../../../releases/src/model/signing.ts';
import { localClient } from '../../../releases/src/releaseClient.ts';
import { openTestStore, type TestStore } from '../../../releases/src/testing/openTestStore.ts';
import { type Row, row, seconds } from '../report.ts';

const REMOTES = Number(process.env.BENCH_REMOTES ?? 200);
const BUILDS = Number(process.env.BENCH_BUILDS ?? 500);
const STATES = 300;

/** Adds earlier builds without syncing each to disk, because only their number matters. */
async function addFormerBuilds(at: TestStore, live: string): Promise<void> {
  const { description, files, provenance } = await readRecord(at.store, live);
  for (let n = 1; n < BUILDS; n += 1) {
    const record = makeRecord({ ...description, version: `0.${n}.0`, label: `${n}` }, files, provenance);
    const claim = canonicalJson({ id: record.id, at: provenance.at, publisher: provenance.publisher });
    for (const [key, text] of [
      [claimKey(description.name, `0.${n}.0`), claim],
      [`${buildFolder(record.id)}/build.json`, canonicalJson(record)],
    ] as const) {
      const file = join(at.folder, 'store', key);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  }
}

/** Measures `check`, `log` and the channel's size with very many remotes and builds, without caches. */
export async function scale(): Promise<Row[]> {
  const at = await openTestStore();
  const live = [await at.host()];
  for (let n = 0; n < REMOTES; n += 1) live.push(await at.remote(`remote-${n}`, '1.0.0'));
  await at.activate(...live);
  const nextBuilds: string[] = [];
  for (let n = 0; n < REMOTES; n += 1) nextBuilds.push(await at.remote(`remote-${n}`, '1.1.0'));
  await at.activate(...nextBuilds);
  for (const id of live.slice(1)) await addFormerBuilds(at, id);
  const alternatingBuilds = [await at.remote('remote-0', '1.2.0'), nextBuilds[0] ?? ''];
  for (let n = 0; n < STATES; n += 1) await at.activate(alternatingBuilds[n % 2] ?? '');
  const provenance = () => ({ commit: null, at: new Date().toISOString(), publisher: 'bench' });
  const coldClient = () => localClient({ ...at.writer, catalog: new Catalog(at.store) }, { smoke: null, provenance });
  const checkSeconds = await seconds(() => coldClient().check({ builds: [alternatingBuilds[0] ?? ''] }));
  const logSeconds = await seconds(() => coldClient().log(200));
  const { source } = await requireChannel(at.writer);
  const kib = (await promisify(gzip)(source)).length / 1024;
  await at.remove();
  const size = `${REMOTES} remotes × ${BUILDS} builds`;
  return [
    row(`check of ${size}`, `${checkSeconds.toFixed(1)} s`, '≤ 30 s', checkSeconds <= 30),
    row('log of 200 states', `${logSeconds.toFixed(2)} s`, '≤ 1 s', logSeconds <= 1),
    row('channel document, every remote with a last good build', `${kib.toFixed(1)} KiB gz`, '≤ 32 KiB gz', kib <= 32),
  ];
}
