import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import WebSocket from 'ws';
import { Client } from '../../backend/test/client.ts';
import type { UserDto } from '../../backend/test/wire.ts';
import { repoRoot } from '../federation/site/repoRoot.ts';
import { percentile } from './experienceReport.ts';
import { table } from './statistics.ts';

const sockets = Number(process.env.BENCH_SOCKETS ?? 500);
const concurrent = 50;
const loadMs = 10_000;
const outageMs = 3_000;

interface Served {
  url: string;
  child: ChildProcess;
  bootMs: number;
}

/** Runs the backend on a data folder, with limits that a bench does not meet. */
export async function serve(data: string, port = '0', settings: Record<string, string> = {}): Promise<Served> {
  const startedAt = performance.now();
  const env = {
    ...process.env,
    PORT: port,
    DATA_DIR: data,
    RATE_LIMIT_WRITES: '100000',
    RATE_LIMIT_REGISTER: '1000',
    ...settings,
  };
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: join(repoRoot, 'backend'),
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, null>;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (http:\S+)/.exec(line)?.[1];
    if (url) return { url, child, bootMs: performance.now() - startedAt };
  }
  throw new Error('the backend ended before it listened');
}

export async function end(child: ChildProcess, signal: NodeJS.Signals) {
  if ((child.exitCode ?? child.signalCode) !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

const residentMb = (pid = 0) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;

interface Listener {
  socket: WebSocket;
  heard(event: string): Promise<number>;
}

/** One socket on the user's channel; resolves when the subscription is confirmed. */
async function listener(url: string, reader: Client, user: UserDto): Promise<Listener> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/app/%7Bkey%7D?protocol=7`);
  const waiting = new Map<string, (at: number, data: string) => void>();
  socket.on('message', (raw) => {
    const { event, data } = JSON.parse(raw.toString()) as { event: string; data: string };
    waiting.get(event)?.(performance.now(), data);
  });
  const next = (event: string) =>
    new Promise<{ at: number; data: string }>((resolve) => waiting.set(event, (at, data) => resolve({ at, data })));
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error as Error));
  const { data } = await Promise.race([next('pusher:connection_established'), failed]);
  const { socket_id } = JSON.parse(data) as { socket_id: string };
  const channel = `private-App.Models.User.${user.id}`;
  const { body } = await reader.post<{ auth: string }>('//broadcasting/auth', { socket_id, channel_name: channel });
  const joined = next('pusher_internal:subscription_succeeded');
  socket.send(JSON.stringify({ event: 'pusher:subscribe', data: { channel, auth: body.auth } }));
  await joined;
  return { socket, heard: async (event) => (await next(event)).at };
}

async function herd(url: string, reader: Client, user: UserDto) {
  const startedAt = performance.now();
  const all = await Promise.all(Array.from({ length: sockets }, () => listener(url, reader, user)));
  return { all, connectMs: performance.now() - startedAt };
}

/** From the change being asked for to each socket hearing of it, ms. Several rounds, so that p99 means something. */
async function fanOut(all: readonly Listener[], reader: Client): Promise<number[]> {
  const waits: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const heard = all.map((one) => one.heard('user.updated'));
    const askedAt = performance.now();
    await reader.put('/user', { persona: `第 ${round} 回` });
    waits.push(...(await Promise.all(heard)).map((at) => at - askedAt));
  }
  return waits;
}

/** Everyone comes back as the app's supervisor does: full jitter, 0.5 s doubling to 5 s. */
async function comeBack(url: string, reader: Client, user: UserDto) {
  let attempts = 0;
  const perSecond = new Map<number, number>();
  const back = async (): Promise<number> => {
    for (let limitMs = 500; ; limitMs = Math.min(limitMs * 2, 5_000)) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * limitMs));
      attempts += 1;
      const second = Math.floor(performance.now() / 1000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
      const one = await listener(url, reader, user).catch(() => null);
      if (!one) continue;
      one.socket.terminate();
      return performance.now();
    }
  };
  return {
    done: Promise.all(Array.from({ length: sockets }, back)),
    attempts: () => attempts,
    peak: () => Math.max(...perSecond.values()),
  };
}

async function storiesUnderLoad(url: string) {
  const waits: number[] = [];
  let failed = 0;
  const until = performance.now() + loadMs;
  const client = async () => {
    while (performance.now() < until) {
      const askedAt = performance.now();
      const answer = await fetch(`${url}/api/v1/stories`, { headers: { Accept: 'application/json' } });
      await answer.arrayBuffer();
      if (!answer.ok) failed += 1;
      waits.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, client));
  return { waits, failed };
}

const ms = (value: number) => `${value.toFixed(0)} ms`;
const megabytes = (value: number) => `${value.toFixed(0)} MB`;

/** boot.fresh (the backend's part), ws.herd and http.load at full size, on loopback. */
export async function run() {
  const data = mkdtempSync(join(tmpdir(), 'liaozhai-bench-'));
  const load = [loadavg()[0]];
  let served = await serve(data);
  const { url } = served;
  const rows: string[][] = [];
  const add = (what: string, most: number, figure: number, say: (value: number) => string) =>
    rows.push([what, `≤ ${say(most)}`, say(figure), figure <= most ? 'pass' : '**miss**']);
  try {
    add('boot.fresh: empty folder → listening', 1500, served.bootMs, ms);
    add('boot.fresh: resident', 200, residentMb(served.child.pid), megabytes);
    const { waits, failed } = await storiesUnderLoad(url);
    const asked = `http.load: stories at ${concurrent}, p95 of ${waits.length} (${failed} failed)`;
    add(asked, 50, percentile(waits, 0.95), ms);
    const reader = new Client(url);
    const user = await reader.register();
    const { all, connectMs } = await herd(url, reader, user);
    add(`ws.herd: ${sockets} sockets joined`, 2000, connectMs, ms);
    const heard = await fanOut(all, reader);
    add(`ws.herd: fan-out, p99 of ${heard.length}`, 100, percentile(heard, 0.99), ms);
    rows.push(['ws.herd: resident with all of them', '–', megabytes(residentMb(served.child.pid)), '']);
    await end(served.child, 'SIGKILL');
    const returning = await comeBack(url, reader, user);
    await new Promise((resolve) => setTimeout(resolve, outageMs));
    served = await serve(data, new URL(url).port);
    const upAt = performance.now();
    const lastBackMs = Math.max(...(await returning.done)) - upAt;
    add(`ws.herd: all back after a crash of ${outageMs / 1000} s`, 5000, lastBackMs, ms);
    add('ws.herd: attempts in the busiest second', sockets * 4, returning.peak(), String);
    load.push(loadavg()[0]);
    console.log(`\nloopback; load ${load.map((value) => value?.toFixed(1)).join(' → ')}\n`);
    console.log(table(['', 'goal', 'figure', ''], rows));
    if (rows.some(([, , , verdict]) => verdict === '**miss**')) process.exitCode = 1;
  } finally {
    await end(served.child, 'SIGTERM');
    rmSync(data, { recursive: true, force: true });
  }
}
