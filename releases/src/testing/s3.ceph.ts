import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Catalog } from '../builds/catalog.ts';
import { readPackage } from '../builds/package.ts';
import { publish } from '../builds/publish.ts';
import { readAgenda } from '../channel/changeAgenda.ts';
import { createChannel } from '../channel/changeChannel.ts';
import { readLog, requireChannel } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { messageOf, ReleaseError, refused } from '../errors.ts';
import { personNamed } from '../model/agenda.ts';
import { rollback } from '../operations/goingBack.ts';
import { activate } from '../operations/switching.ts';
import { approve, submit } from '../policies/approval.ts';
import { openReleases } from '../serve/openReleases.ts';
import { openStore, prepareStore, probeStore } from '../store/store.ts';
import { CONFORMANCE } from './conformance.ts';
import { temporaryFolder, writeHost, writeRemote } from './openTestStore.ts';

const PROGRAMS = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'monmaptool', 'ceph'];
const READY_MS = 60_000;
const run = promisify(execFile);

/** A one-node object store in memory, on loopback. */
interface CephCluster {
  environment: { AWS_ENDPOINT_URL_S3: string; AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };
  stop: () => Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return address instanceof Object ? address.port : 0;
}

/** Settings that keep a single node from waiting for other daemons. */
const configuration = (folder: string, fsid: string, monitor: number, gateway: number): string => `[global]
fsid = ${fsid}
mon host = v1:127.0.0.1:${monitor}
mon initial members = a
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
public addr = 127.0.0.1
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
pid file =
mon data = ${folder}/mon
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 1073741824
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
mon allow pool size one = true
mon warn on pool no redundancy = false
paxos propose interval = 0.05
paxos min wait = 0.01
[client.rgw]
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${gateway} tcp_nodelay=1
`;

async function until(what: string, isReady: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    try {
      await isReady();
      return;
    } catch (cause) {
      if (Date.now() > deadline) throw new Error(`${what} was not ready in time`, { cause });
      await pause(100);
    }
  }
}

async function stopAll(children: readonly ChildProcess[], folder: string): Promise<void> {
  for (const child of [...children].reverse()) {
    if (child.exitCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
}

async function startDaemons(
  folder: string,
  children: ChildProcess[],
  ports: { monitor: number; gateway: number },
): Promise<void> {
  const conf = ['-c', join(folder, 'ceph.conf')];
  const fsid = randomUUID();
  const osd = randomUUID();
  const start = (program: string, ...words: string[]) =>
    children.push(spawn(program, [...conf, ...words, '-f'], { stdio: 'ignore' }));
  await writeFile(join(folder, 'ceph.conf'), configuration(folder, fsid, ports.monitor, ports.gateway));
  for (const name of ['mon', 'osd', 'rgw']) await mkdir(join(folder, name));
  const map = join(folder, 'monmap');
  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', `[v1:127.0.0.1:${ports.monitor}]`, map]);
  await run('ceph-mon', [...conf, '--mkfs', '-i', 'a', '--monmap', map]);
  start('ceph-mon', '-i', 'a');
  await until('the monitor', () => run('ceph', [...conf, '--connect-timeout', '2', 'osd', 'new', osd, '0']));
  await writeFile(join(folder, 'osd/fsid'), `${osd}\n`);
  await run('ceph-osd', [...conf, '--mkfs', '-i', '0', '--osd-uuid', osd]);
  start('ceph-osd', '-i', '0');
  await until('the storage', async () => {
    const { stdout } = await run('ceph', [...conf, 'osd', 'stat', '-f', 'json']);
    if (JSON.parse(stdout).num_up_osds !== 1) throw new Error(stdout);
  });
  start('radosgw', '-n', 'client.rgw');
  await until('the gateway', () => fetch(`http://127.0.0.1:${ports.gateway}/`));
}

/** Starts Ceph's monitor, storage and S3 gateway. Throws refused with the packages to install, if any is missing. */
async function startCeph(): Promise<CephCluster> {
  const folders = (process.env.PATH ?? '').split(':');
  const missing = PROGRAMS.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  if (missing.length > 0)
    throw refused(
      `not installed: ${missing.join(', ')}`,
      'On Debian: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw ceph-common',
    );
  const folder = await mkdtemp(join(tmpdir(), 'ceph-'));
  const children: ChildProcess[] = [];
  try {
    const ports = { monitor: await freePort(), gateway: await freePort() };
    await startDaemons(folder, children, ports);
    const [id, secret] = [randomBytes(10).toString('hex'), randomBytes(20).toString('hex')];
    const user = [
      'user',
      'create',
      '--uid',
      'tester',
      '--display-name',
      'tester',
      '--access-key',
      id,
      '--secret-key',
      secret,
    ];
    await run('radosgw-admin', ['-c', join(folder, 'ceph.conf'), '-n', 'client.rgw', ...user]);
    const endpoint = `http://127.0.0.1:${ports.gateway}`;
    const environment = { AWS_ENDPOINT_URL_S3: endpoint, AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
    return { environment, stop: () => stopAll(children, folder) };
  } catch (cause) {
    await stopAll(children, folder);
    throw cause;
  }
}

const BUCKET = 'releases';
const WRITERS = 10;
const CHANGES = 5;

function assert(isMet: boolean, what: string): void {
  if (!isMet) throw new Error(what);
}

const gate = async () => [];

/** Opens a store with an empty channel, its writer and a function to publish. */
async function openPreparedStore(url: string, folder: string) {
  const opened = await openStore(url, { ...process.env, RELEASES_KEYS: `${folder}/keys` });
  const { store } = opened;
  const key = await prepareStore(opened);
  const writer: Writer = {
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
  return { key, writer, put };
}

const MANAGERS = 6;

/**
 * Tests the approval rule: several managers propose concurrently, and all others approve the same proposal concurrently. One of them
 * wins, and the other proposals are outdated.
 */
async function approval(url: string, folder: string): Promise<void> {
  const { writer, put } = await openPreparedStore(url, folder);
  const first = await put(await writeRemote(`${folder}/approved-1`, 'stories', '1'), '1.0.0');
  await activate(writer, [await put(await writeHost(`${folder}/approved-host`, 'a'), '1.0.0'), first], { gate });
  await submit(writer, { verb: 'approval', hours: 24 }, { gate });
  const as = async (who: string): Promise<Writer> => ({
    ...writer,
    store: (await openStore(url, { ...process.env, RELEASES_KEYS: `${folder}/keys` })).store,
    who,
    actor: { person: personNamed([who]), token: null, isManager: true },
  });
  const managers = await Promise.all(Array.from({ length: MANAGERS }, (_, n) => as(`manager ${n}`)));
  const builds: string[] = [];
  for (let n = 0; n < MANAGERS; n += 1)
    builds.push(await put(await writeRemote(`${folder}/approved-1.${n}`, 'stories', `1.${n}`), `1.1.${n}`));
  const refusals = await Promise.allSettled(managers.map((each, n) => activate(each, [builds[n] ?? ''], { gate })));
  assert(
    refusals.every(({ status }) => status === 'rejected'),
    'a change went past the second person',
  );
  const outcomes = await Promise.all(
    managers.map((each, n) => submit(each, { verb: 'activate', builds: [builds[n] ?? ''] }, { gate })),
  );
  const readProposals = async () => (await readAgenda(writer)).proposals;
  assert(
    (await readProposals()).length === MANAGERS,
    `of ${MANAGERS} proposals ${(await readProposals()).length} wait`,
  );
  const live = async () => (await requireChannel(writer)).document;
  assert((await live()).stable?.builds.includes(first) === true, 'a proposal went live automatically');
  const id = outcomes[0]?.proposal?.id ?? '';
  const approvals = await Promise.allSettled(managers.map((each) => approve(each, { id }, gate)));
  const [ownStatus, ...otherStatuses] = approvals.map(({ status }) => status);
  assert(ownStatus === 'rejected', 'a proposer approved the own proposal');
  assert(
    otherStatuses.filter((status) => status === 'fulfilled').length === 1,
    `${otherStatuses.filter((status) => status === 'fulfilled').length} persons approved the same proposal`,
  );
  assert((await live()).stable?.builds.includes(builds[0] ?? '') === true, 'what was approved is not live');
  const lateApproval = await approve(managers[0] ?? writer, { id: outcomes[1]?.proposal?.id ?? '' }, gate).catch(
    messageOf,
  );
  assert(
    typeof lateApproval === 'string' && lateApproval.includes('was changed since'),
    'a proposal of an older state was approved',
  );
  assert((await readProposals()).length === MANAGERS - 1, 'a proposal was lost, or stays after its approval');
  const { document } = await requireChannel(writer);
  const log = await readLog(writer, document, 1000);
  assert(log.length === document.seq, 'the audit has gaps');
  const approvalEvidence = log.flatMap(({ action }) => action.evidence).filter(({ kind }) => kind === 'approved');
  assert(approvalEvidence.length === 1, `the log has ${approvalEvidence.length} approvals`);
}

/** Tests publishing, switching by ten concurrent writers, rollback and serving, all on the object store. */
async function journey(url: string, folder: string): Promise<void> {
  const { key, writer, put } = await openPreparedStore(url, folder);
  await activate(writer, [await put(await writeHost(`${folder}/host`, 'a'), '1.0.0')], { gate });
  const names = Array.from({ length: WRITERS }, (_, n) => `r${n}`);
  await Promise.all(
    names.map(async (name) => {
      const builds: string[] = [];
      for (const version of ['1.0.0', '1.1.0'])
        builds.push(await put(await writeRemote(`${folder}/${name}-${version}`, name, version), version));
      const ownWriter = {
        ...writer,
        store: (await openStore(url, { ...process.env, RELEASES_KEYS: `${folder}/keys` })).store,
        who: name,
      };
      for (let change = 0; change < CHANGES; change += 1)
        await activate(ownWriter, [builds[change % 2] ?? ''], { gate });
    }),
  );
  await rollback(writer, { name: 'r0' });
  const { document } = await requireChannel(writer);
  const log = await readLog(writer, document, 1000);
  assert(document.seq === 2 + WRITERS * CHANGES + 1, `expected ${3 + WRITERS * CHANGES} states, found ${document.seq}`);
  assert(log.length === document.seq, 'the audit has gaps');
  const releases = await openReleases({ store: url, publicKey: key.publicKey });
  const { pageSet } = await releases.pageFor({ id: 'v' });
  const file = await releases.file(pageSet.remotes.r0?.entry ?? '', 'br');
  assert(file?.headers['content-encoding'] === 'br' && file.body.length > 0, 'the entry is not served');
}

async function runStep(name: string, work: () => Promise<unknown>): Promise<boolean> {
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
    for (const check of CONFORMANCE) results.push(await runStep(check.name, () => check.run(store)));
    results.push(await runStep('init proves that the store refuses conflicting writes', () => probeStore(store)));
    results.push(
      await runStep('ten writers publish and switch in parallel, then one rolls back', () =>
        journey(`s3://${BUCKET}/journey`, folder.path),
      ),
    );
    results.push(
      await runStep('two persons decide: six propose in parallel, five approve one of them in parallel', () =>
        approval(`s3://${BUCKET}/approval`, folder.path),
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
