// `pnpm backend <verb>`: an operator's commands on the backend's data.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeReports } from './chat/reports.ts';
import { contentFolder, loadContent } from './content/content.ts';
import { backUp, restore } from './db/backup.ts';
import { databaseFile } from './db/openDatabase.ts';
import { storageCure, storageFaultOf } from './db/storageFault.ts';
import { ConfigError, readEnv } from './env.ts';
import { runAccounts, runStoryVisibility } from './operator.ts';
import { fill, seedConversation, seedStories, seedUser } from './seeding.ts';
import { createServices } from './server.ts';
import type { Services } from './services.ts';
import { runTickets } from './support.ts';

const usage = `pnpm backend <verb> [--data <folder>]

  backup <file>    writes the database as it is into a new file; the server may run
  restore <file>   puts a backup in the database's place; the server must be stopped
  tickets          lists the readers' tickets that wait for an answer
  tickets show <id>              a ticket with its diagnostics
  tickets answer <id> <words>    answers it; the reader's pages hear of it within seconds
  accounts grant <login> <points> <reason>   books a gift; the reason stands in 消费明细
  accounts block <login> <reason>            signs out everywhere and lets nobody in; unblock <login> ends it
  accounts export <login> <file>             writes everything that is kept of a reader into a new file
  stories hide <id>              takes a story from all readers in the next second; show <id> brings it back
  reports          prints what readers have reported, the latest first; the server may run
  seed [stories.json]            adds these stories; the server may run, here and below
  seed --user <login>            makes this account or tops it up: [--password 123456] [--name 读书人] [--balance 1000],
                                 and adds messages to its conversation: [--messages 0] [--story nie-xiaoqian]
  stories check [folder]         names each fault of the stories with file, line and cure
  fill             adds made-up rows, for measuring: [--stories 5000] [--users 5000] [--messages 50000]

--data is the backend's folder; without it $DATA_DIR/backend, where DATA_DIR (.data) is what \`npm start\` was given.`;

const options = {
  data: { type: 'string' },
  stories: { type: 'string' },
  users: { type: 'string' },
  messages: { type: 'string' },
  user: { type: 'string' },
  password: { type: 'string', default: '123456' },
  name: { type: 'string', default: '读书人' },
  balance: { type: 'string' },
  story: { type: 'string', default: 'nie-xiaoqian' },
} as const;

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return process.exit(2);
  }
}

const { positionals, values } = readArguments();

function count(name: 'stories' | 'users' | 'messages' | 'balance', otherwise: number): number {
  const number = Number(values[name] ?? otherwise);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new ConfigError(`--${name} ${values[name]}: give a whole number`);
}

/** Opens the database for `work`, which may be a new one if `isNew`. The server may run at the same time. */
async function withDatabase<Result>(
  work: (services: Services) => Result | Promise<Result>,
  isNew = false,
): Promise<Result> {
  if (!isNew && !process.env.DATABASE_URL && !existsSync(databaseFile(dataDir)))
    throw new ConfigError(`${dataDir}: no database there; name its folder with --data`);
  const services = await createServices(readEnv({ ...process.env, DATA_DIR: dataDir }), Date.now);
  try {
    return await work(services);
  } finally {
    services.db.close();
  }
}

async function seed(file: string | undefined): Promise<string> {
  const { user: login, password, name, story } = values;
  if (!login && !file) throw new ConfigError(usage);
  const balance = count('balance', 1000);
  const messages = count('messages', 0);
  return withDatabase(async (services) => {
    const lines = file ? [`${seedStories(services, file)} stories added`] : [];
    if (!login) return lines.join('\n');
    const user = await seedUser(services, { login, password, name, balance });
    lines.push(`user ${user.login} (${user.id}), ${user.balance} points`);
    if (messages > 0)
      lines.push(`conversation ${seedConversation(services, user.id, story, messages)} with ${messages} messages`);
    return lines.join('\n');
  }, true);
}

async function fillTables(): Promise<string> {
  const size = { stories: count('stories', 5000), users: count('users', 5000), messages: count('messages', 50_000) };
  await withDatabase((services) => fill(services, size), true);
  return `${dataDir}: ${size.stories} stories, ${size.users} users and ${size.messages} messages more`;
}

function checkStories(folder = contentFolder): string {
  const { stories, problems } = loadContent(resolve(folder));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  return `${stories.length} stories without a fault`;
}

async function restoreFrom(file: string): Promise<string> {
  const replacedFile = await restore(dataDir, file);
  return `${dataDir}: restored from ${file}${replacedFile ? `; what was there is ${replacedFile}` : ''}`;
}

/** Runs a verb and returns its output. */
async function run([verb, ...words]: string[]): Promise<string> {
  const [first, second] = words;
  if (verb === 'tickets') return withDatabase((services) => runTickets(services, words));
  if (verb === 'accounts') return withDatabase((services) => runAccounts(services, words));
  if (verb === 'stories' && (first === 'hide' || first === 'show') && words.length === 2)
    return withDatabase((services) => runStoryVisibility(services, words));
  if (verb === 'stories' && first === 'check' && words.length <= 2) return checkStories(second);
  if ((verb === 'backup' || verb === 'restore') && process.env.DATABASE_URL)
    throw new ConfigError(
      `${verb}: with DATABASE_URL the data is in Postgres, which has its own: pg_dump --format=custom, pg_restore; see backend/README.md`,
    );
  if (verb === 'seed' && words.length <= 1) return seed(first);
  if (verb === 'reports' && words.length === 0) return withDatabase(describeReports);
  if (verb === 'fill' && words.length === 0) return fillTables();
  if (verb === 'backup' && first && words.length === 1)
    return `${first}: ${(backUp(dataDir, first) / 1e6).toFixed(1)} MB`;
  if (verb === 'restore' && first && words.length === 1) return restoreFrom(first);
  throw new ConfigError(usage);
}

const dataDir = resolve(values.data ?? join(process.env.DATA_DIR || '.data', 'backend'));
try {
  console.log(await run(positionals));
} catch (error) {
  const fault = storageFaultOf(error);
  if (!(error instanceof ConfigError) && fault === null) throw error;
  console.error(fault ? storageCure(fault, dataDir, error) : (error as Error).message);
  process.exit(2);
}
