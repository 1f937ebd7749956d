import { randomUUID } from 'node:crypto';
import { expect, rs, test } from '@rstest/core';
import type { Compilable } from 'kysely';
import { fill } from '../src/seeding.ts';
import { startSweeper } from '../src/server.ts';
import { runTickets } from '../src/support.ts';
import { openBackend } from './testBackend.ts';
import { planOf, postgresUrl } from './testDatabase.ts';

const backend = await openBackend();
const { db } = backend.services;

/** Returns the steps of a statement's plan that scan a whole table or index. */
const scansOf = (statement: Compilable<unknown>): string[] =>
  planOf(db, statement).filter((step) =>
    postgresUrl
      ? // `backends` has a row for each backend
        /\bSeq Scan on (?!backends\b)/.test(step)
      : /^SCAN (?!CONSTANT ROW|messages USING INDEX messages_running|suggestions USING INDEX suggestions_running|sandbox_checkouts USING INDEX sandbox_checkouts_undelivered|tickets USING INDEX tickets_(waiting|unannounced))/.test(
          step,
        ),
  );

/** Records each different statement. Returns a function that stops recording and returns them. */
function record() {
  const seen = new Map<string, Compilable<unknown>>();
  const note = (statement: Compilable<unknown>) => seen.set(statement.compile().sql, statement);
  const [all, run] = [db.all.bind(db), db.run.bind(db)];
  rs.spyOn(db, 'all').mockImplementation(((statement: Compilable<never>) => {
    note(statement);
    return all(statement);
  }) as typeof db.all);
  rs.spyOn(db, 'run').mockImplementation((statement) => {
    note(statement);
    return run(statement);
  });
  return () => {
    rs.restoreAllMocks();
    return [...seen.values()];
  };
}

test('data.plans: no call scans a whole table or index', { timeout: 300_000 }, async () => {
  await fill(backend.services, { stories: 100, users: 100, messages: 2_000 });
  // the stories are read once after each change, and cached
  await backend.client().get('/stories');
  const end = record();
  const visitor = await backend.client().fetchToken();
  const reader = await backend.reader({ invite_code: 'ABCDEF' });
  await backend.reader({ login: 'plans@example.org' });
  const story_id = 'nie-xiaoqian';
  const client_id = randomUUID;
  for (const one of [visitor, reader]) {
    const first = await one.get<{ meta: { next_cursor: string } }>('/stories');
    await one.get(`/stories?cursor=${first.body.meta.next_cursor}`);
    await one.get(`/stories/${story_id}`);
    const found = await one.get<{ meta: { next_cursor: string } }>('/stories?q=a&sort=hot');
    await one.get(`/stories?q=a&sort=hot&cursor=${found.body.meta.next_cursor}`);
  }
  const { body } = await reader.say({ story_id });
  const conversation_id = body.conversation.id;
  await backend.settled();
  await reader.post('/messages/continue', { conversation_id, client_id: client_id() });
  await reader.latest({ conversation_id, after: 1 });
  await backend.settled();
  const asked = await reader.post<{ data: { id: string } }>('/messages/suggestion', {
    conversation_id,
    client_id: client_id(),
  });
  await backend.settled();
  await reader.get(`/messages/suggestion/${asked.body.data.id}`);
  await reader.post('/messages', {
    conversation_id,
    body: '咒语',
    client_id: client_id(),
    suggestion_id: asked.body.data.id,
  });
  await backend.settled();
  const queries: Record<string, string | number>[] = [
    { story_id },
    { conversation_id, before: 3 },
    { conversation_id, after: 0, limit: 2 },
  ];
  for (const query of queries) await reader.latest(query);
  await reader.get(`/messages/search?conversation_id=${conversation_id}&q=夜`);
  await reader.get(`/messages/days?conversation_id=${conversation_id}`);
  await reader.post(`/messages/${body.reply.id}/report`, { reason: 'other' });
  const cursor = Buffer.from(`${Date.now()} ${randomUUID()}`).toString('base64url');
  const ticket = { kind: 'other', body: '看不到故事', client_id: client_id() };
  const written = await reader.post<{ data: { id: string } }>('/support/tickets', ticket);
  await reader.post(`/support/tickets/${written.body.data.id}/read`);
  for (const words of [[], ['show', written.body.data.id], ['answer', written.body.data.id, '好']]) {
    runTickets(backend.services, words);
  }
  const form = { package_id: 'p60', client_id: client_id() };
  const ordered = await reader.post<{ data: { id: string; checkout_url: string } }>('/orders', form);
  const { id: order_id, checkout_url } = ordered.body.data;
  await visitor.post(`/${new URL(checkout_url).pathname}`, { outcome: 'paid' });
  await expect
    .poll(async () => (await reader.get<{ data: { status: string } }>(`/orders/${order_id}`)).body.data.status)
    .toBe('credited');
  backend.services.payments?.start?.(backend.url)();
  for (const path of [
    '/conversations',
    '/conversations?q=夜',
    '/transactions',
    '/transactions?type=refund',
    '/user',
    '/orders',
    '/support/tickets',
  ]) {
    await reader.get(path);
    await reader.get(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
  }
  await reader.post('/check-in', { client_id: client_id() });
  await reader.put('/user', { persona: '夜里常来' });
  await reader.put('/user/password', {
    current_password: '135790',
    password: '975310',
    password_confirmation: '975310',
  });
  await reader.put(`/conversations/${conversation_id}`, { read_version: 2, pinned: true });
  await reader.delete(`/conversations/${conversation_id}`);
  await reader.post('/logout');
  await visitor.post('/login', { login: 'nobody', password: '135790' });
  startSweeper(backend.services)();
  const statements = end();
  expect(statements.length).toBeGreaterThan(40);
  const scans = statements.flatMap((statement) =>
    scansOf(statement).map((step) => `${step}: ${statement.compile().sql}`),
  );
  expect(scans).toEqual([]);
});
