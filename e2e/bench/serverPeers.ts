import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { repoRoot } from '../federation/site/repoRoot.ts';
import { freePort } from '../product.ts';
import { end } from './backend.ts';
import type { FixedAnswer } from './barePeers.ts';

/** A server of the bench, with every process that works for it. */
export interface Served {
  origin: string;
  pids: number[];
  stop(): Promise<void>;
}

const under = (path: string, read: (path: string) => string[]) => {
  try {
    return read(path);
  } catch {
    throw new Error(`${path} cannot be read: this bench counts CPU time as Linux tells it, run it there`);
  }
};

/** CPU time of these processes so far, with all their threads, in microseconds. */
export function cpuOf({ pids }: Served): number {
  const threads = pids.flatMap((pid) => under(`/proc/${pid}/task`, readdirSync).map((id) => `/proc/${pid}/task/${id}`));
  const ran = threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]));
  return ran.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1000;
}

/** Resident memory of these processes in MB, without pages of files, which the kernel takes back when it is short. */
const residentOf = ({ pids }: Served): number =>
  pids
    .map((pid) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
    .reduce((sum, megabytes) => sum + megabytes, 0);

const readyMs = 60_000;

async function answered(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + readyMs;
  while (performance.now() < until && child.exitCode === null) {
    const answer = await fetch(url).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await wait(100);
  }
  throw new Error(`${url} did not answer: see what was printed above`);
}

/** Makes a process collect its garbage on request. */
const collecting = [
  '--expose-gc',
  '--import',
  'data:text/javascript,process.on("SIGUSR2",()=>{gc();process.send({memory:process.memoryUsage()})})',
];
const collectedMs = 1_000;

interface Memory {
  resident: number;
  /** objects that are reachable: what grows here is kept by somebody */
  heapUsed: number;
  /** of buffers, beside the heap */
  external: number;
}

/** Memory after the front server's garbage has been collected, in MB. */
export async function memoryAfterCollecting(front: Front): Promise<Memory> {
  const told = once(front.child, 'message');
  front.child.kill('SIGUSR2');
  const [{ memory }] = (await told) as [{ memory: NodeJS.MemoryUsage }];
  // pages of the heap go back some time after the collection
  await wait(collectedMs);
  return { resident: residentOf(front), heapUsed: memory.heapUsed / 2 ** 20, external: memory.external / 2 ** 20 };
}

export interface Front extends Served {
  child: ChildProcess;
}

/** The front server as in production (`--serve`), with its access log in a file. */
export async function serveFront(folder: string, name: string, store: string, backend: string): Promise<Front> {
  const data = join(folder, name);
  mkdirSync(data, { recursive: true });
  const port = await freePort();
  const log = openSync(join(data, 'access.log'), 'a');
  const profile = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : [];
  const child = spawn(
    process.execPath,
    [...profile, ...collecting, '--import', 'tsx', join(repoRoot, 'host/server/main.ts'), '--serve'],
    {
      cwd: repoRoot,
      env: { ...process.env, PORT: String(port), DATA_DIR: data, RELEASES_STORE: store, BACKEND_URL: backend },
      stdio: ['ignore', log, 'inherit', 'ipc'],
    },
  );
  closeSync(log);
  const origin = `http://127.0.0.1:${port}`;
  await answered(`${origin}/readyz`, child);
  return { origin, child, pids: [child.pid ?? 0], stop: () => end(child, 'SIGTERM') };
}

/** Hono or Node's own server alone, with answers as the front server has given them. */
export async function serveBare(kind: 'hono' | 'node', answers: FixedAnswer[]): Promise<Served> {
  const child = fork(join(import.meta.dirname, 'barePeers.ts'), [], { execArgv: ['--import', 'tsx'] });
  child.send({ kind, answers });
  const [origin] = (await once(child, 'message')) as [string];
  return { origin, pids: [child.pid ?? 0], stop: () => end(child, 'SIGTERM') };
}

/** One worker, the usual settings for files, the headers of ours, and its access log as Debian has it. */
const nginxConfig = (folder: string, root: string, port: number, backend: string) => `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  include /etc/nginx/mime.types;
  access_log ${folder}/access.log;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  sendfile on; tcp_nopush on; gzip_static on; keepalive_requests 1000000; open_file_cache max=1000 inactive=60s;
  upstream backend { server ${new URL(backend).host}; keepalive 32; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    root ${root};
    location /builds/ {
      add_header cache-control "public, max-age=31536000, immutable";
      add_header access-control-allow-origin "*";
      add_header x-content-type-options nosniff;
      add_header vary Accept-Encoding;
      add_header x-request-id $request_id;
    }
    location /api/ {
      proxy_pass http://backend;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Request-Id $request_id;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header Host $http_host;
    }
  }
}
`;

/** nginx on the files of the store's folder; null where nginx is missing. */
export async function serveNginx(folder: string, root: string, backend: string): Promise<Served | null> {
  if (spawnSync('nginx', ['-v']).error) return null;
  const at = join(folder, 'nginx');
  mkdirSync(at);
  const port = await freePort();
  writeFileSync(join(at, 'nginx.conf'), nginxConfig(at, root, port, backend));
  const child = spawn('nginx', ['-p', at, '-c', join(at, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const origin = `http://127.0.0.1:${port}`;
  await answered(`${origin}/api/v1/stories`, child);
  const pid = child.pid ?? 0;
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return { origin, pids: [pid, ...workers], stop: () => end(child, 'SIGTERM') };
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** An answer as it goes over the wire, still compressed. */
export const ask = (url: string, headers: Record<string, string> = {}) =>
  new Promise<Answer>((resolve, reject) => {
    get(url, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const told = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(told), body: Buffer.concat(chunks) });
    }).once('error', reject);
  });
