import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { publishLocal } from '@liaozhai/releases';
import { PusherSocket } from '../../backend/conformance/socket.ts';
import { Visitor } from '../../backend/conformance/visitor.ts';
import { openPostgresServer, type PostgresServer } from '../../backend/test/postgresServer.ts';
import { testPackages } from '../../host/server/testing/testPackages.ts';
import { table } from '../bench/report.ts';
import { repoRoot } from '../federation/site/repoRoot.ts';
import { Chat } from './chats.ts';
import { readComposeFile } from './composeFile.ts';
import { addressOf, Processes } from './processes.ts';

const usage = `usage: pnpm check:compose --laravel <folder> [--postgres] [--store <folder>] [--keep]
Runs docs/compose.yaml without Docker: every command with its environment, on loopback addresses 127.0.21.x, with the nginx, PHP and
Redis of this machine. The Laravel's database is migrated and gets a reader. --postgres runs docs/compose.postgres.yaml instead: two
reference backends on this machine's Postgres, of the Laravel its Reverb alone; readers are in the middle of a chat at each kill. --store takes a release store to serve (it is copied);
without it two small builds stand in for the product's. --keep leaves everything running until Ctrl-C.`;

const { values } = parseArgs({
  options: {
    laravel: { type: 'string' },
    postgres: { type: 'boolean', default: false },
    store: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
if (!values.laravel) {
  console.error(usage);
  process.exit(2);
}

const path = join(repoRoot, values.postgres ? 'docs/compose.postgres.yaml' : 'docs/compose.yaml');
const laravel = resolve(values.laravel);
const folder = mkdtempSync(join(tmpdir(), 'liaozhai-compose-'));
const nginx = addressOf(0);
const origin = `http://${nginx}`;
const variables = { APP_HOST: nginx, APP_ORIGIN: origin, APP_KEY: randomUUID(), LARAVEL_DIR: laravel };
const file = readComposeFile(path, { ...process.env, ...variables } as Record<string, string>);
const processes = new Processes({ file, folder, repoRoot });
const key = file.services['front-a']?.environment?.REVERB_APP_KEY ?? '';

/** Fills the store with a live set: a copy of the named store, or small test builds. */
async function stockStore() {
  const store = join(folder, 'volumes/store');
  if (values.store) return cpSync(resolve(values.store), store, { recursive: true });
  await publishLocal({ dists: testPackages(join(folder, 'builds')), store: `file:${store}` });
}

/** Migrates the Laravel database, which a release does once before any process serves it. */
const migrate = () =>
  execFileSync('php', ['artisan', 'migrate', '--seed', '--force', '-n'], { cwd: laravel, stdio: 'ignore' });

interface Entity {
  id: string | number;
}

/** Registers a reader who sends requests as the product's page does. */
async function signUp(): Promise<{ reader: Visitor; user: Entity; story: Entity }> {
  const reader = new Visitor(origin, { Origin: origin, Connection: 'close' });
  await reader.fetchToken();
  const form = { login: `compose${Date.now()}`, password: '135790', name: '宁采臣' };
  const { status, body, text } = await reader.post<{ user: Entity }>('/register', form);
  if (status !== 201) throw new Error(`registering answered ${status}: ${text.slice(0, 200)}`);
  const [story] = (await reader.get<{ data: Entity[] }>('/stories')).body.data;
  if (!story) throw new Error('there is no story');
  return { reader, user: body.user, story };
}

const PROBE_MS = 30_000;

/** Loads a page, calls the API, and sends a message whose reply must arrive on a new socket. Rejects with the first failure. */
async function probe({ reader, user, story }: Awaited<ReturnType<typeof signUp>>): Promise<void> {
  const page = await fetch(`${origin}/explore`, { signal: AbortSignal.timeout(PROBE_MS) });
  if (page.status !== 200 || !(await page.text()).includes('liaozhai-set')) throw new Error(`page: ${page.status}`);
  const socket = await PusherSocket.open(`${origin.replace('http', 'ws')}/app/${key}?protocol=7`, {
    origin,
    timeoutMs: PROBE_MS,
  });
  try {
    const channel = `private-App.Models.User.${user.id}`;
    const form = { socket_id: socket.id, channel_name: channel };
    const signed = await reader.post<{ auth: string }>('//broadcasting/auth', form);
    if (signed.status !== 200) throw new Error(`broadcasting/auth: ${signed.status}`);
    socket.send({ event: 'pusher:subscribe', data: { channel, auth: signed.body.auth } });
    await socket.frame(({ event }) => event === 'pusher_internal:subscription_succeeded');
    const sent = await reader.post('/messages', { story_id: story.id, body: '在吗', client_id: randomUUID() });
    if (sent.status !== 201) throw new Error(`messages: ${sent.status}`);
    await socket.frame(({ event }) => event === 'message.completed');
  } finally {
    socket.close();
  }
}

const RECOVER_MS = 120_000;

/** Kills a service and probes until everything works without it. Resolves with the failures that readers saw meanwhile. */
async function withoutIt(name: string, who: Awaited<ReturnType<typeof signUp>>): Promise<string[]> {
  await processes.kill(name);
  const from = performance.now();
  const failures: string[] = [];
  for (;;) {
    const failure = await probe(who).then(
      () => null,
      (cause: Error) => cause.message.slice(0, 60),
    );
    const ms = performance.now() - from;
    if (failure === null) return [name, String(failures.length), `${(ms / 1000).toFixed(1)} s`, failures[0] ?? ''];
    failures.push(failure);
    if (ms > RECOVER_MS) return [name, String(failures.length), '**never**', failure];
    // this Laravel accepts 60 messages a minute
    await pause(500);
  }
}

const pairs = ['front-a', 'front-b', 'laravel-a', 'laravel-b', 'backend-a', 'backend-b', 'reverb-a', 'reverb-b'];
const mayEnd = [...pairs, 'console'].filter((name) => name in file.services);

/** Enough readers that both backends are writing at each kill. */
const READERS_AT_ONCE = 4;

/** Starts a Postgres server at the service's address, because no image runs here. Creates the database, as the image does. */
async function startPostgres(): Promise<PostgresServer> {
  const server = await openPostgresServer(processes.address('postgres'), 5432);
  server.createDatabase('liaozhai');
  return server;
}

/** Kills a service while replies are running, and restarts it once everything works without it. */
async function inTheMiddle(
  name: string,
  who: Awaited<ReturnType<typeof signUp>>,
  chats: readonly Chat[],
): Promise<string[]> {
  await Promise.all(chats.map((chat) => chat.say()));
  const row = await withoutIt(name, who);
  await processes.start(name);
  await processes.healthy(name);
  await Promise.all(chats.map((chat) => chat.settled()));
  return row;
}

/** Kills the only database while messages are sent, and restarts it. */
async function withoutPostgres(server: PostgresServer, chats: readonly Chat[]): Promise<string[]> {
  await Promise.all(chats.map((chat) => chat.say()));
  const before = chats.reduce((sum, { failures }) => sum + failures, 0);
  await server.kill();
  const from = performance.now();
  const said = Promise.all(chats.map((chat) => chat.say()));
  await server.start();
  await said;
  const ms = performance.now() - from;
  await Promise.all(chats.map((chat) => chat.settled()));
  const failed = chats.reduce((sum, { failures }) => sum + failures, 0) - before;
  return ['postgres, and back', String(failed), `${(ms / 1000).toFixed(1)} s`, ''];
}

async function run(postgres: PostgresServer | null) {
  mkdirSync(join(folder, 'volumes'), { recursive: true });
  await stockStore();
  if (!postgres) migrate();
  for (const name of Object.keys(file.services)) await processes.start(name);
  for (const name of [...mayEnd.filter((each) => pairs.includes(each)), 'redis']) await processes.healthy(name);
  console.log(`all of ${path} runs: ${origin}, logs in ${folder}`);
  const who = await signUp();
  await probe(who);
  console.log('page, call, message and socket work; now each is killed in turn');
  const chats = postgres
    ? await Promise.all(Array.from({ length: READERS_AT_ONCE }, () => Chat.begin(origin, String(who.story.id))))
    : [];
  const rows: string[][] = [];
  for (const name of mayEnd) rows.push(await inTheMiddle(name, who, chats));
  if (postgres) rows.push(await withoutPostgres(postgres, chats));
  console.log(table(['killed', 'failed tries', 'everything works again after', 'what failed first'], rows));
  if (rows.some(([, , after]) => after === '**never**')) process.exitCode = 1;
  const faults = (await Promise.all(chats.map((chat) => chat.faults()))).flat();
  const interrupted = (await Promise.all(chats.map((chat) => chat.interrupted()))).reduce((sum, each) => sum + each, 0);
  if (postgres)
    console.log(
      `${interrupted} replies ended with their backend and were paid back; lost, doubled or wrong: ${faults.length}`,
    );
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  if (values.keep) await new Promise((end) => process.once('SIGINT', end));
}

const postgres = values.postgres ? await startPostgres() : null;
if (postgres) processes.isElsewhere('postgres');
try {
  await run(postgres);
  await processes.killAll();
  await postgres?.stop();
  if (!process.exitCode) rmSync(folder, { recursive: true, force: true });
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  await processes.killAll();
  await postgres?.stop();
  process.exit(1);
}
