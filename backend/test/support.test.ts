import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from '@rstest/core';
import type { Client } from './client.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import { databaseOf } from './testDatabase.ts';
import type { ErrorDto, Page, UserDto } from './wire.ts';

interface TicketDto {
  id: string;
  kind: string;
  body: string;
  status: string;
  answer: string | null;
  is_unread: boolean;
}

const time = { now: Date.now() };
const backend = await openBackend({}, () => time.now);

/** Runs the operator's command while the server runs. Resolves to its status and output. */
async function command(...words: string[]): Promise<[number, string]> {
  const child = spawn(
    process.execPath,
    ['host/server/run.mjs', 'backend/src/command.ts', 'tickets', ...words, '--data', backend.dataDir],
    {
      env: { ...process.env, ...databaseOf(backend.dataDir) },
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += bytes));
  const [status] = await once(child, 'close');
  return [status, said.trim()];
}

const write = (reader: Client, form: Record<string, unknown> = {}) =>
  reader.post<{ data: TicketDto }>('/support/tickets', {
    kind: 'points',
    body: '充值没有到账',
    client_id: randomUUID(),
    ...form,
  });
const ticketsOf = async (reader: Client) => (await reader.get<Page<TicketDto>>('/support/tickets')).body.data;

test('a ticket is stored once with its diagnostics, and an operator answers it from another process', async () => {
  const reader = await backend.reader();
  const form = { contact: 'ning@example.org', diagnostics: '网络：在线\n屏幕：390×844', client_id: randomUUID() };
  const { status, body } = await write(reader, form);
  const { id } = body.data;
  expect([status, body.data.status, body.data.is_unread]).toEqual([201, 'open', false]);
  expect((await write(reader, form)).body.data.id).toBe(id);
  expect(await ticketsOf(reader)).toHaveLength(1);

  expect((await command())[1]).toMatch(new RegExp(`^${id} .* points .* 充值没有到账$`, 'm'));
  const [shownStatus, shown] = await command('show', id);
  expect(shownStatus).toBe(0);
  for (const part of ['充值没有到账', 'ning@example.org', '屏幕：390×844']) expect(shown).toContain(part);

  const socket = await openSocket(backend, reader);
  await socket.subscribe();
  expect(await command('answer', id, '已经', '补到账')).toEqual([0, `${id}: answered`]);
  const { data } = await socket.frame(({ event }) => event === 'ticket.answered');
  expect(data).toEqual({ id });
  const unread = async () => (await reader.get<{ data: UserDto }>('/user')).body.data.unread_answers;
  await socket.frame(
    ({ event, data }) => event === 'user.updated' && (data as { user: UserDto }).user.unread_answers === 1,
  );
  expect(await unread()).toBe(1);
  expect(await ticketsOf(reader)).toMatchObject([{ status: 'answered', answer: '已经 补到账', is_unread: true }]);
  expect((await reader.post(`/support/tickets/${id}/read`)).status).toBe(204);
  expect(await ticketsOf(reader)).toMatchObject([{ is_unread: false }]);
  expect(await unread()).toBe(0);
  expect((await command())[1]).toBe('no ticket waits for an answer');
});

test('an unknown command prints the usage in one line, with status 2', async () => {
  const [status, said] = await command('answer', '20261122000000', '好');
  expect([status, said]).toEqual([
    2,
    'there is no ticket 20261122000000; `pnpm backend tickets` lists those that wait',
  ]);
  expect((await command('close', 'x'))[0]).toBe(2);
});

test('an empty or overlong form is refused at its fields', async () => {
  const reader = await backend.reader();
  const empty = await reader.post<ErrorDto>('/support/tickets', { kind: 'rumour', body: ' ', client_id: randomUUID() });
  expect([empty.status, Object.keys(empty.body.errors ?? {})]).toEqual([422, ['kind', 'body']]);
  const long = await write(reader, { body: '长'.repeat(1_001) });
  expect(long.status).toBe(422);
  expect(await ticketsOf(reader)).toEqual([]);
});

test('the twenty-first ticket of a day is refused with a text', async () => {
  const reader = await backend.reader();
  for (let count = 0; count < 20; count += 1) expect((await write(reader)).status).toBe(201);
  const refused = await reader.post<ErrorDto>('/support/tickets', {
    kind: 'other',
    body: '又',
    client_id: randomUUID(),
  });
  expect([refused.status, refused.body.message]).toEqual([409, '今天写的反馈已经很多了，请明天再写']);
  const page = (await reader.get<Page<TicketDto>>('/support/tickets')).body;
  expect(page.data).toHaveLength(20);
  time.now += 86_400_000;
  expect((await write(reader)).status).toBe(201);
  const next = await reader.get<Page<TicketDto>>('/support/tickets');
  const rest = await reader.get<Page<TicketDto>>(`/support/tickets?cursor=${next.body.meta.next_cursor}`);
  expect(rest.body.data).toHaveLength(1);
});
