import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { openRaw } from '@liaozhai/http/testing';
import { openCollector } from '@liaozhai/telemetry/testing';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import { expect, onTestFinished, rs, test } from '@rstest/core';
import { Client } from './client.ts';
import { openCommand, stop } from './command.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import { execute } from './testDatabase.ts';
import type { MessageDto, UserDto } from './wire.ts';

const { start } = openCommand();

const slow = { STORYTELLER_PIECE_DELAY_MS: '40', STORYTELLER_PIECE_CHARACTERS: '12' };

test('ops.log: a request is logged in one line with its id, which the response carries, and without its text', async () => {
  const backend = await openBackend();
  const info = rs.spyOn(backend.services.log, 'info');
  const reader = await backend.reader();
  info.mockClear();
  const requestId = 'page-request-0123';
  const { headers } = await reader.put('/user', { persona: '秘密' }, { 'X-Request-Id': requestId });
  expect(headers.get('x-request-id')).toBe(requestId);
  const user = (await reader.get<{ data: UserDto }>('/user')).body.data;
  const [entry] = info.mock.calls[0] ?? [];
  expect(entry).toMatchObject({ requestId, method: 'PUT', path: '/api/v1/user', status: 200, user: user.id });
  expect(JSON.stringify(info.mock.calls)).not.toContain('秘密');
  expect((await backend.client().get('/user')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a defect is logged with the id of its request', async () => {
  const backend = await openBackend();
  const error = rs.spyOn(backend.services.log, 'error');
  execute(backend.services.db, 'drop table changes');
  const { status } = await backend.client().get('/stories', { 'X-Request-Id': 'page-request-0456' });
  expect(status).toBe(500);
  expect(error.mock.calls[0]?.[0]).toMatchObject({ requestId: 'page-request-0456', path: '/api/v1/stories' });
  expect((await backend.client().get('//readyz')).status).toBe(503);
  expect((await backend.client().get('//healthz')).status).toBe(200);
});

test('a call that breaks off before its end is no defect', async () => {
  const backend = await openBackend();
  const [info, error] = (['info', 'error'] as const).map((level) => rs.spyOn(backend.services.log, level));
  const { socket, received } = openRaw(backend.url);
  socket.write('POST /api/v1/login HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n{');
  await expect.poll(received).toContain('100 Continue');
  socket.destroy();
  await expect.poll(() => info?.mock.calls[0]?.[0]).toMatchObject({ path: '/api/v1/login', status: 400 });
  expect(error?.mock.calls).toEqual([]);
});

test('all steps of a message up to the end of its reply are logged with its request id', async () => {
  const run = await start({ LOG_LEVEL: 'debug' });
  const reader = new Client(run.url);
  await reader.register();
  const requestId = 'page-request-0789';
  const message = { story_id: 'hua-pi', body: '夜里好冷', client_id: randomUUID() };
  await reader.post('/messages', message, { 'X-Request-Id': requestId });
  const said = () =>
    run.output
      .filter((line) => line.includes(requestId))
      .map((line) => JSON.parse(line))
      .map(({ msg, event, path }) => `${msg} ${event ?? path}`);
  await expect.poll(said).toContain('told message.completed');
  expect(said()).toEqual(expect.arrayContaining(['request /api/v1/messages', 'told message.created']));
  await stop(run, 'SIGTERM');
});

test('metrics count calls by route, replies by ending and events by name, on their own port only', async () => {
  const backend = await openBackend({ METRICS_PORT: '0' });
  const read = async () => (await (await fetch(backend.metricsUrl ?? '')).text()).split('\n');
  const reader = await backend.reader();
  await openSocket(backend, reader);
  await reader.get('/stories/hua-pi');
  await reader.get('/stories/nie-xiaoqian');
  await reader.get('/no-such-call/1');
  await reader.get('//api/media/covers/hua-pi.svg');
  await reader.say({ story_id: 'hua-pi' });
  await backend.settled();
  const lines = await read();
  const calls = (route: string, status: string) =>
    `liaozhai_http_requests_total{service="backend",method="GET",route="${route}",status="${status}"}`;
  expect(lines).toContain(`${calls('/api/v1/stories/:id', '2xx')} 2`);
  expect(lines).toContain(`${calls('other', '4xx')} 1`);
  expect(lines).toContain(`${calls('/api/media/:kind/:file', '2xx')} 1`);
  expect(lines).toContain('liaozhai_replies_total{ending="completed"} 1');
  expect(lines).toContain('liaozhai_events_total{event="message.completed"} 1');
  expect(lines).toContain('liaozhai_sockets 1');
  expect(lines).toContain('liaozhai_runs 0');
  expect((await reader.get('//metrics')).status).toBe(404);
});

test('ops.spans: a message’s trace covers call, reply and socket events, also in the log', async () => {
  const collector = await openCollector();
  onTestFinished(() => collector.close());
  const backend = await openBackend();
  const info = rs.spyOn(backend.services.log, 'info');
  const reader = await backend.reader();
  const [traceId, parentSpanId] = ['a'.repeat(32), 'b'.repeat(16)];
  const traceparent = `00-${traceId}-${parentSpanId}-01`;
  info.mockImplementation(() => void traces.push(currentTrace()?.traceId));
  const traces: unknown[] = [];
  await reader.post('/messages', { story_id: 'hua-pi', body: '你好', client_id: randomUUID() }, { traceparent });
  await backend.settled();
  expect(traces).toContain(traceId);
  const ofMessage = (name: string) => collector.spans.find((span) => span.traceId === traceId && span.name === name);
  await expect.poll(() => ofMessage('reply')).toBeTruthy();
  const call = ofMessage('POST /api/v1/messages');
  expect(call).toMatchObject({ service: 'liaozhai-backend', parentSpanId });
  expect(ofMessage('broadcast message.created')).toMatchObject({ parentSpanId: call?.spanId });
  expect(ofMessage('reply')).toMatchObject({ parentSpanId: call?.spanId });
  expect(ofMessage('broadcast message.completed')).toMatchObject({ parentSpanId: ofMessage('reply')?.spanId });
  expect(collector.spans.filter(({ name }) => name.includes('delta'))).toEqual([]);
});

test('a shutdown finishes running replies, refuses new ones and asks sockets to reconnect', async () => {
  const backend = await openBackend(slow);
  const reader = await backend.reader();
  const other = await backend.reader();
  const socket = await openSocket(backend, reader);
  await socket.subscribe();
  expect((await reader.get('//readyz')).status).toBe(200);
  const { body } = await reader.say({ story_id: 'hua-pi' });
  await socket.frame(({ event }) => event === 'message.delta');
  const closed = backend.close(600_000);
  expect([(await reader.get('//readyz')).status, (await reader.get('//healthz')).status]).toEqual([503, 200]);
  const refused = await other.say({ story_id: 'hua-pi' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  const { data } = await socket.frame(({ event }) => event === 'message.completed');
  expect((data as { message: MessageDto }).message).toMatchObject({ id: body.reply.id, status: 'completed' });
  expect((await socket.closed).code).toBe(4200);
  expect(socket.frames.at(-1)).toMatchObject({ event: 'pusher:error', data: { code: 4200 } });
  await closed;
});

test('SIGTERM: replies beyond DRAIN_SECONDS are interrupted and refunded; a second signal ends immediately', async () => {
  const never = { STORYTELLER_PIECE_DELAY_MS: '60000', STORYTELLER_PIECE_CHARACTERS: '2' };
  const run = await start({ ...never, DRAIN_SECONDS: '1' });
  const reader = new Client(run.url);
  const { username } = await reader.register();
  await reader.say({ story_id: 'hua-pi' });
  const ended = once(run.child, 'exit');
  run.child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const again = await start({ ...never, DRAIN_SECONDS: '600' });
  const back = await new Client(again.url).fetchToken();
  await back.post('/login', { login: username, password: '135790' });
  expect((await back.latest({ story_id: 'hua-pi' })).data[1]).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted' },
  });
  await back.say({ story_id: 'hua-pi' });
  const over = once(again.child, 'exit');
  again.child.kill('SIGTERM');
  await expect.poll(async () => (await back.get('//readyz')).status).toBe(503);
  again.child.kill('SIGTERM');
  expect(await over).toEqual([null, 'SIGTERM']);
});

test('SIGTERM: open calls are answered, then the status is 0; Ctrl-C as second signal ends immediately', async () => {
  const run = await start({ DRAIN_SECONDS: '600' });
  const reader = new Client(run.url);
  await reader.register();
  const headers = {
    cookie: reader.cookieHeader(),
    'x-xsrf-token': decodeURIComponent(reader.cookies.get('XSRF-TOKEN') ?? ''),
    'content-type': 'application/json',
    // the server reports that it has received the headers, and waits for the body
    expect: '100-continue',
  };
  const begun = async () => {
    const call = request(`${run.url}/api/v1/user`, { method: 'PUT', headers });
    call.flushHeaders();
    await once(call, 'continue');
    return { call, status: once(call, 'response').then(([{ statusCode }]) => statusCode) };
  };
  const calls = await Promise.all(Array.from({ length: 20 }, begun));
  const ended = once(run.child, 'exit');
  run.child.kill('SIGTERM');
  await expect.poll(async () => (await reader.get('//readyz')).status).toBe(503);
  for (const { call } of calls) call.end('{"persona":"夜行人"}');
  expect(await Promise.all(calls.map(({ status }) => status))).toEqual(calls.map(() => 200));
  expect(await ended).toEqual([0, null]);
  expect(run.output.join('\n')).not.toMatch(/unhandled|"level":"(error|fatal)"/i);
  const again = await start({ DRAIN_SECONDS: '600', STORYTELLER_PIECE_DELAY_MS: '60000' });
  const other = new Client(again.url);
  await other.register();
  await other.say({ story_id: 'hua-pi' });
  const over = once(again.child, 'exit');
  again.child.kill('SIGTERM');
  await expect.poll(async () => (await other.get('//readyz')).status).toBe(503);
  again.child.kill('SIGINT');
  expect(await over).toEqual([null, 'SIGINT']);
});
