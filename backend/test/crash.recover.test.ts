import { once } from 'node:events';
import { expect, test } from '@rstest/core';
import WebSocket from 'ws';
import { defaultPrices } from '../src/prices.ts';
import { Client } from './client.ts';
import { openCommand, stop } from './command.ts';
import { damageIn, databaseIn, execute } from './testDatabase.ts';
import type { Latest, Page, TransactionDto, UserDto } from './wire.ts';

const kills = Number(process.env.KILLS ?? 3);
const { dataDir, start, started } = openCommand();

test('billing.kill9, crash.recover: after a kill the server ends open replies, refunds once, and its file is intact', {
  timeout: 600_000,
}, async () => {
  const login = { login: 'survivor', password: '135790' };
  let run = await start({ STORYTELLER_PIECE_DELAY_MS: '30', STORYTELLER_PIECE_CHARACTERS: '2' });
  await new Client(run.url).register(login);
  for (let kill = 1; kill <= kills; kill += 1) {
    const reader = await signIn(run.url, login);
    const { body: sent } = await reader.say({ story_id: 'nie-xiaoqian', body: `第${kill}次` });
    await streaming(reader);
    await stop(run, 'SIGKILL');
    run = await start({ STORYTELLER_PIECE_DELAY_MS: '30', STORYTELLER_PIECE_CHARACTERS: '2' });
    const back = await signIn(run.url, login);
    const { data, meta } = await back.latest({ story_id: 'nie-xiaoqian', after: 0, limit: 100 });
    const reply = data.find(({ id }) => id === sent.reply.id);
    expect(reply).toMatchObject({ status: 'failed', error: { code: 'interrupted' }, cost: 0 });
    expect(reply?.body.length).toBeGreaterThan(0);
    expect(meta.active_message_id).toBeNull();
    const { body: refunds } = await back.get<Page<TransactionDto>>('/transactions?type=refund');
    expect(refunds.data.filter(({ ref_id }) => ref_id === sent.reply.id).map(({ amount }) => amount)).toEqual([
      defaultPrices.storyPrices.long,
    ]);
    expect((await back.get<{ data: UserDto }>('/user')).body.data.balance).toBe(defaultPrices.signUpGift);
  }
  expect(await stop(run, 'SIGTERM')).toBe(0);
  expect(damageIn(dataDir)).toEqual([]);
});

test('SIGTERM ends running replies with a refund, closes sockets and exits cleanly', async () => {
  const run = await start({ STORYTELLER_PIECE_DELAY_MS: '50', STORYTELLER_PIECE_CHARACTERS: '2' });
  const reader = new Client(run.url);
  const { username } = await reader.register();
  await reader.say({ story_id: 'hua-pi' });
  await streaming(reader, 'hua-pi');
  const socket = new WebSocket(`${run.url.replace('http', 'ws')}/app/%7Bkey%7D`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  expect(await stop(run, 'SIGTERM')).toBe(0);
  expect((await closed)[0]).toBe(4200);
  expect(await runningRows()).toBe(0);
  const again = await start();
  const back = await signIn(again.url, { login: username, password: '135790' });
  expect((await back.latest({ story_id: 'hua-pi' })).data[1]).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted' },
  });
  expect((await back.get<{ data: UserDto }>('/user')).body.data.balance).toBe(defaultPrices.signUpGift);
  await stop(again, 'SIGTERM');
});

test('a second server on the same data, and an invalid setting, end with a cure and status 2', async () => {
  const first = await start();
  await expect(start()).rejects.toThrow(
    /^ended with 2: DATA_DIR: .* is in use by another backend; waiting .*\nDATA_DIR: .* is in use by another backend; stop that one/,
  );
  await expect(start({ PORT: 'many' })).rejects.toThrow(/^ended with 2: PORT: must be a whole number from 0 to 65535$/);
  await expect(start({ APP_ORIGIN: 'liaozhai.example' })).rejects.toThrow(
    /^ended with 2: APP_ORIGIN\.0: must be an address like http:/,
  );
  expect(first.output).toEqual([`backend listening on ${first.url}`]);
  await stop(first, 'SIGTERM');
});

test('a new server waits until the former one has released the data', async () => {
  const first = await start();
  const second = start();
  const waiting = [...started].at(-1)?.stderr;
  if (!waiting) throw new Error('the second server was not launched');
  await once(waiting, 'data');
  await stop(first, 'SIGTERM');
  const run = await second;
  expect(run.output[0]).toMatch(/is in use by another backend; waiting/);
  await stop(run, 'SIGTERM');
});

test('a server whose parent process ends finishes its replies and exits', async () => {
  const run = await start({ STORYTELLER_PIECE_DELAY_MS: '50', STORYTELLER_PIECE_CHARACTERS: '2' });
  const reader = new Client(run.url);
  await reader.register();
  await reader.say({ story_id: 'hua-pi' });
  await streaming(reader, 'hua-pi');
  const ended = once(run.child, 'exit');
  // the system closes the channel when the parent is killed
  run.child.disconnect();
  expect(await ended).toEqual([0, null]);
  expect(await runningRows()).toBe(0);
});

/** Counts replies with a running status in the database, while no server has it open. */
async function runningRows(): Promise<number> {
  const db = await databaseIn(dataDir);
  const rows = execute(db, "select id from messages where status in ('pending', 'streaming')");
  db.close();
  return rows.length;
}

async function signIn(url: string, form: { login: string; password: string }): Promise<Client> {
  const client = await new Client(url).fetchToken();
  await client.post('/login', form);
  return client;
}

/** Waits until a part of the reply is stored. */
async function streaming(reader: Client, story_id = 'nie-xiaoqian'): Promise<void> {
  let page: Latest;
  do page = await reader.latest({ story_id, limit: 1 });
  while (!page.data.some(({ status, body }) => status === 'streaming' && body));
}
