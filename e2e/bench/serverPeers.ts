import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { repoRoot } from '../federation/site/repoRoot.ts';
import { freePort } from '../product.ts';
import type { FixedAnswer } from './barePeers.ts';

/** A server of the bench, with all its processes. */
export interface RunningServer {
  origin: string;
  pids: number[];
  stop(): Promise<void>;
}

/** CPU time of these processes so far, including all threads, in microseconds; only on Linux. */
export function cpuOf({ pids }: RunningServer): number {
  const threads = pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`));
  const cpuTimes = threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]));
  return cpuTimes.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1000;
}

/** Resident memory of these processes in MB, without file pages, which the kernel can reclaim. */
const residentOf = ({ pids }: RunningServer): number =>
  pids
    .map((pid) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
    .reduce((sum, megabytes) => sum + megabytes, 0);

async function stopProcess(child: ChildProcess) {
  if ((child.exitCode ?? child.signalCode) !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}

const READY_MS = 60_000;

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(url).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await wait(100);
  }
  throw new Error(`${url} did not answer: see what was printed above`);
}

/** Makes a process collect its garbage on SIGUSR2. */
const gcFlags = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGUSR2",()=>{gc();process.send(0)})'];
const COLLECTED_MS = 1_000;

/** Resident memory after a garbage collection of the front server, in MB. */
export async function memoryAfterCollecting(front: Front): Promise<number> {
  const collection = once(front.child, 'message');
  front.child.kill('SIGUSR2');
  await collection;
  // pages of the heap are released some time after the collection
  await wait(COLLECTED_MS);
  return residentOf(front);
}

export interface Front extends RunningServer {
  child: ChildProcess;
}

/** Starts the front server as in production (`--serve`), with its access log in a file. */
export async function serveFront(data: string, store: string, backend: string): Promise<Front> {
  const port = await freePort();
  const log = openSync(join(data, 'access.log'), 'a');
  const child = spawn(process.execPath, [...gcFlags, 'host/server/run.mjs', 'host/server/main.ts', '--serve'], {
    cwd: repoRoot,
    env: { ...process.env, PORT: String(port), DATA_DIR: data, RELEASES_STORE: store, BACKEND_URL: backend },
    stdio: ['ignore', log, 'inherit', 'ipc'],
  });
  closeSync(log);
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(`${origin}/readyz`, child);
  return { origin, child, pids: [child.pid ?? 0], stop: () => stopProcess(child) };
}

/** Starts bare Hono or Node's HTTP server, with recorded responses of the front server. */
export async function serveBare(kind: 'hono' | 'node', answers: FixedAnswer[]): Promise<RunningServer> {
  const child = fork(join(repoRoot, 'host/server/run.mjs'), [join(import.meta.dirname, 'barePeers.ts')], {
    execArgv: [],
  });
  child.send({ kind, answers });
  const [origin] = (await once(child, 'message')) as [string];
  return { origin, pids: [child.pid ?? 0], stop: () => stopProcess(child) };
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Loads a response without decompressing it. */
export const fetchRaw = (url: string, headers: Record<string, string> = {}) =>
  new Promise<Answer>((resolve, reject) => {
    get(url, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const pairs = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(pairs), body: Buffer.concat(chunks) });
    }).once('error', reject);
  });
