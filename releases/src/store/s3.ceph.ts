import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Catalog } from '../channel/catalog.ts';
import { createChannel } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import { messageOf, ReleaseError } from '../errors.ts';
import { activate } from '../operations/activate.ts';
import { prepareStore } from '../operations/init.ts';
import { readLog } from '../operations/look.ts';
import { rollback } from '../operations/rollback.ts';
import { publish } from '../publish/publish.ts';
import { readPackage } from '../publish/readPackage.ts';
import { openReleases } from '../serve/openReleases.ts';
import { temporaryFolder, writeHost, writeRemote } from '../testing/writePackage.ts';
import { startCeph } from './cephCluster.ts';
import { CONFORMANCE } from './conformance.ts';
import { openStore } from './openStore.ts';
import { probeStore } from './probe.ts';

const BUCKET = 'releases';
const WRITERS = 10;
const CHANGES = 5;

function assert(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}

/** Publishing, switching by ten writers at once, rolling back and serving, all from the object store. */
async function journey(url: string, folder: string): Promise<void> {
  const opened = await openStore(url, { ...process.env, RELEASES_KEYS: `${folder}/keys` });
  const { store } = opened;
  const key = await prepareStore(opened);
  const writer = {
    store,
    catalog: new Catalog(store),
    key,
    channel: 'production',
    who: 'tester',
    now: () => new Date(),
  };
  await createChannel(writer);
  const provenance = { commit: null, at: new Date().toISOString(), publisher: 'tester' };
  const put = async (dist: string, version: string) =>
    (await publish(store, await readPackage(dist, version), provenance)).id;
  const gate = async () => [];
  await activate(writer, [await put(await writeHost(`${folder}/host`, 'a'), '1.0.0')], { gate });
  const names = Array.from({ length: WRITERS }, (_, n) => `r${n}`);
  await Promise.all(
    names.map(async (name) => {
      const builds: string[] = [];
      for (const version of ['1.0.0', '1.1.0'])
        builds.push(await put(await writeRemote(`${folder}/${name}-${version}`, name, version), version));
      const own = {
        ...writer,
        store: (await openStore(url, { ...process.env, RELEASES_KEYS: `${folder}/keys` })).store,
        who: name,
      };
      for (let change = 0; change < CHANGES; change += 1) await activate(own, [builds[change % 2] ?? ''], { gate });
    }),
  );
  await rollback(writer, { name: 'r0' });
  const { document } = await requireChannel(store, 'production', key.publicKey);
  const log = await readLog(store, document, key.publicKey, 1000);
  assert(document.seq === 2 + WRITERS * CHANGES + 1, `expected ${3 + WRITERS * CHANGES} states, found ${document.seq}`);
  assert(log.length === document.seq, 'the audit has gaps');
  const releases = await openReleases({ store: url, publicKey: key.publicKey });
  const { pageSet } = await releases.pageFor({ id: 'v' });
  const file = await releases.file(pageSet.remotes.r0?.entry ?? '', 'br');
  assert(file?.headers['content-encoding'] === 'br' && file.body.length > 0, 'the entry is not served');
}

async function tried(name: string, work: () => Promise<unknown>): Promise<boolean> {
  const started = performance.now();
  try {
    await work();
    process.stdout.write(`passed  ${name} (${Math.round(performance.now() - started)} ms)\n`);
    return true;
  } catch (cause) {
    process.stdout.write(`FAILED  ${name}: ${messageOf(cause)}\n`);
    return false;
  }
}

async function main(): Promise<void> {
  const cluster = await startCeph();
  const folder = await temporaryFolder();
  const end = () => void cluster.stop().then(() => process.exit(130));
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  try {
    Object.assign(process.env, cluster.environment, { RELEASES_KEYS: `${folder.path}/keys` });
    const client = new S3Client({
      region: 'us-east-1',
      endpoint: cluster.environment.AWS_ENDPOINT_URL_S3,
      forcePathStyle: true,
    });
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    const { store } = await openStore(`s3://${BUCKET}/${randomUUID()}`);
    const results: boolean[] = [];
    for (const check of CONFORMANCE) results.push(await tried(check.name, () => check.run(store)));
    results.push(await tried('init proves that the store refuses conflicting writes', () => probeStore(store)));
    results.push(
      await tried('ten writers publish and switch at once, then one rolls back', () =>
        journey(`s3://${BUCKET}/journey`, folder.path),
      ),
    );
    process.exitCode = results.every(Boolean) ? 0 : 1;
  } finally {
    await folder.remove();
    await cluster.stop();
  }
}

main().catch((cause: unknown) => {
  process.stderr.write(`${messageOf(cause)}\n${cause instanceof ReleaseError ? `${cause.cure}\n` : ''}`);
  process.exitCode = 1;
});
