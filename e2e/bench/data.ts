import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readEnv } from '../../backend/src/env.ts';
import { type FillSize, fill } from '../../backend/src/seeding.ts';
import { createServices } from '../../backend/src/server.ts';
import { Client } from '../../backend/test/client.ts';
import { end, serve } from './backend.ts';
import { percentile } from './experienceReport.ts';
import { median, table } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 100);
const large: FillSize = {
  stories: Number(process.env.BENCH_STORIES ?? 5_000),
  users: Number(process.env.BENCH_USERS ?? 5_000),
  messages: Number(process.env.BENCH_MESSAGES ?? 50_000),
};
const goal = 2;
/** Replies and suggestions are ready as soon as they can be, and no limit is met. */
const settings = {
  STORYTELLER_START_DELAY_MS: '0',
  STORYTELLER_PIECE_DELAY_MS: '0',
  STORYTELLER_SUGGESTION_DELAY_MS: '0',
  STORYTELLER_PIECE_CHARACTERS: '2000',
  RATE_LIMIT_MESSAGES: '100000',
  RATE_LIMIT_LOGIN: '100000',
};
const story_id = 'nie-xiaoqian';

interface Side {
  url: string;
  reader: Client;
  deepCursor: string;
  /** ms of each call, by its name */
  waits: Map<string, number[]>;
}

interface Cursors {
  meta: { next_cursor: string | null };
}

/** A database of that size, and its server. */
async function open(size: FillSize | null) {
  const dataDir = mkdtempSync(join(tmpdir(), 'liaozhai-bench-data-'));
  const from = performance.now();
  if (size) {
    const services = await createServices(readEnv({ DATA_DIR: dataDir }), Date.now);
    await fill(services, size);
    services.db.close();
  }
  const filledMs = performance.now() - from;
  const { url, child } = await serve(dataDir, '0', settings);
  const reader = new Client(url);
  await reader.register();
  let deepCursor = '';
  for (let page = 0; page < 50; page += 1) {
    const { next_cursor } = (await reader.get<Cursors>(`/stories?cursor=${deepCursor}`)).body.meta;
    if (!next_cursor) break;
    deepCursor = next_cursor;
  }
  const close = async () => {
    await end(child, 'SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  };
  const side: Side = { url, reader, deepCursor, waits: new Map() };
  return { side, close, filledMs, bytes: statSync(join(dataDir, 'liaozhai.db')).size };
}

/** Until the reply that was asked for is written, so that it costs no other call anything. */
async function idle(reader: Client, conversation_id: string): Promise<void> {
  while ((await reader.latest({ conversation_id, limit: 1 })).meta.active_message_id) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Every call once, each timed separately. */
async function round({ url, reader, deepCursor, waits }: Side): Promise<void> {
  const timed = async <Answer extends { status: number }>(
    call: string,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const from = performance.now();
    const answer = await ask();
    const took = performance.now() - from;
    if (answer.status >= 300) throw new Error(`${call} answered ${answer.status}`);
    waits.set(call, [...(waits.get(call) ?? []), took]);
    return answer;
  };
  const get = (call: string, path: string) =>
    timed(`GET ${call}`, () => reader.get<{ data: { status: string } }>(path));
  const key = () => ({ client_id: randomUUID() });
  await get('/stories', '/stories');
  await get('/stories, fifty pages on', `/stories?cursor=${deepCursor}`);
  await get('/stories/{id}', `/stories/${story_id}`);
  const sent = await timed('POST /messages', () => reader.say({ story_id }));
  const conversation_id = sent.body.conversation.id;
  await idle(reader, conversation_id);
  await timed('POST /messages/continue', () => reader.post('/messages/continue', { conversation_id, ...key() }));
  await idle(reader, conversation_id);
  const asked = await timed('POST /messages/suggestion', () =>
    reader.post<{ data: { id: string } }>('/messages/suggestion', { conversation_id, ...key() }),
  );
  const suggestion = `/messages/suggestion/${asked.body.data.id}`;
  while ((await get('/messages/suggestion/{id}', suggestion)).body.data.status === 'pending');
  await get('/messages/latest', `/messages/latest?conversation_id=${conversation_id}`);
  await get('/messages/latest, after', `/messages/latest?conversation_id=${conversation_id}&after=1`);
  await get('/conversations', '/conversations');
  await get('/transactions', '/transactions');
  await get('/transactions, one type', '/transactions?type=recharge');
  await get('/user', '/user');
  await timed('PUT /user', () => reader.put('/user', { persona: '夜里常来' }));
  await timed('POST /check-in', () => reader.post('/check-in', key()));
  await timed('DELETE /conversations/{id}', () => reader.delete(`/conversations/${conversation_id}`));
  const visitor = await new Client(url).fetchToken();
  const login = `bench_${randomUUID().slice(0, 8)}`;
  const form = { login, password: '135790', name: '过客' };
  await timed('POST /register', () => visitor.post('/register', form));
  await timed('POST /login', () => visitor.post('/login', form));
  await timed('POST /logout', () => visitor.post('/logout'));
  // who has run out of points goes on as somebody else
  if ((await reader.get<{ data: { balance: number } }>('/user')).body.data.balance < 10) {
    reader.cookies.clear();
    await reader.register();
  }
}

const ms = (value: number) => `${value.toFixed(1)} ms`;

/** Each call's p95 on a large database beside the same on an empty one, in turns. */
export async function run() {
  const load = [loadavg()[0]];
  const small = await open(null);
  const filled = await open(large);
  try {
    for (let index = 0; index < rounds; index += 1) {
      const turn = index % 2 ? [small, filled] : [filled, small];
      for (const { side } of turn) await round(side);
    }
    load.push(loadavg()[0]);
    const { stories, users, messages } = large;
    const megabytes = (filled.bytes / 1e6).toFixed(0);
    console.log(
      `\n${stories} stories, ${users} users, ${messages} messages: ${megabytes} MB, filled in ${(filled.filledMs / 1000).toFixed(0)} s; ` +
        `${rounds} rounds in turns, loopback; load ${load.map((value) => value?.toFixed(1)).join(' → ')}\n`,
    );
    const rows = [...filled.side.waits].map(([call, waits]) => {
      const before = small.side.waits.get(call) ?? [];
      const [figure, baseline] = [percentile(waits, 0.95), percentile(before, 0.95)];
      const ratio = figure / baseline;
      const medians = `${ms(median(waits))} (${ms(median(before))})`;
      return [
        call,
        ms(figure),
        ms(baseline),
        ratio.toFixed(2),
        `≤ ${goal}`,
        medians,
        ratio <= goal ? 'pass' : '**miss**',
      ];
    });
    console.log(table(['call', 'p95, large', 'p95, empty', 'ratio', 'goal', 'medians', ''], rows));
    if (rows.some((row) => row.at(-1) === '**miss**')) process.exitCode = 1;
  } finally {
    await Promise.all([small.close(), filled.close()]);
  }
}
