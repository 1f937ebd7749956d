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
import { refused } from '../errors.ts';

const PROGRAMS = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'monmaptool', 'ceph'];
const READY_MILLISECONDS = 60_000;
const run = promisify(execFile);

/** A one-node object store on loopback that lives in memory. */
export interface CephCluster {
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

/** Settings without which a lone daemon waits for company that never comes. */
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
  const deadline = Date.now() + READY_MILLISECONDS;
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

/** Starts Ceph's monitor, storage and S3 gateway. Throws refused, naming the packages, where they are not installed. */
export async function startCeph(): Promise<CephCluster> {
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
