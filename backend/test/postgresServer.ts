import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const root = '/usr/lib/postgresql';

/** Returns the folder of the newest Postgres installed by Debian. Throws an error with the remedy without one. */
function postgresPrograms(): string {
  const versions = (() => {
    try {
      return readdirSync(root).filter((name) => statSync(join(root, name, 'bin/postgres'), { throwIfNoEntry: false }));
    } catch {
      return [];
    }
  })();
  const newest = versions.sort((left, right) => Number(right) - Number(left))[0];
  if (!newest)
    throw new Error(`no Postgres in ${root}: apt-get install postgresql, or name a running one in DATABASE_URL`);
  return join(root, newest, 'bin');
}

/** Returns the user to run Postgres, which refuses to run as root. */
function owner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) => {
    try {
      return Number(execFileSync('id', [option, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }));
    } catch {
      return 65_534;
    }
  };
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

export interface PostgresServer {
  /** URL of its database `postgres`, for a user who may create databases */
  url: string;
  createDatabase(name: string): void;
  /** Restarts it after `kill`. */
  start(): Promise<void>;
  /** Kills it like a power failure. */
  kill(): Promise<void>;
  /** Stops it and deletes its folder. */
  stop(): Promise<void>;
}

const MAX_START_MS = 60_000;

/** Starts a new, empty Postgres on a loopback address. */
export async function openPostgresServer(host = '127.0.0.1', wantedPort?: number): Promise<PostgresServer> {
  const programs = postgresPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-postgres-'));
  const data = join(folder, 'data');
  const user = owner();
  mkdirSync(data);
  chmodSync(data, 0o700);
  if (user) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
  const port = wantedPort ?? (await freePort(host));
  const options = { ...user, cwd: folder };
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'liaozhai', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'],
    { ...options, stdio: 'ignore' },
  );
  let child: ChildProcess | null = null;

  const isReady = () => {
    try {
      execFileSync(join(programs, 'pg_isready'), ['-h', host, '-p', String(port), '-q']);
      return true;
    } catch {
      return false;
    }
  };

  async function start(): Promise<void> {
    const settings = [
      `listen_addresses=${host}`,
      `port=${port}`,
      `unix_socket_directories=${folder}`,
      'max_connections=200',
    ];
    const words = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    child = spawn(join(programs, 'postgres'), words, { ...options, stdio: 'ignore' });
    const until = Date.now() + MAX_START_MS;
    while (!isReady()) {
      if (child.exitCode !== null || Date.now() > until) throw new Error(`Postgres does not start in ${folder}`);
      await pause(100);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child || (child.exitCode ?? child.signalCode) !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    child = null;
  }

  await start();
  return {
    url: `postgres://liaozhai@${host}:${port}/postgres`,
    createDatabase: (name) =>
      void execFileSync(join(programs, 'createdb'), ['-h', host, '-p', String(port), '-U', 'liaozhai', name]),
    start,
    kill: () => end('SIGQUIT'),
    async stop() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
