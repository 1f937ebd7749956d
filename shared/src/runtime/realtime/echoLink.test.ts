import { afterEach, describe, expect, test } from '@rstest/core';
import { fakeApi, type Handlers, onTestEnd, waitFor } from '../../testing';
import { FakeReverb } from '../../testing/fakeReverb';
import { EchoLink } from './echoLink';
import { type RealtimeStatus, Supervisor } from './supervisor';

const CHANNEL = 'private-App.Models.User.7';
const signed = { 'POST /broadcasting/auth': { auth: 'key:signature' } };

function open(handlers: Handlers = signed) {
  const server = new FakeReverb();
  const api = fakeApi(handlers);
  onTestEnd(api.restore);
  const events: [string, unknown][] = [];
  let status: RealtimeStatus = 'off';
  let socketId: string | undefined;
  const supervisor = new Supervisor({
    openLink: (linkEvents) => new EchoLink({ userId: '7', events: linkEvents, createSocket: server.createSocket }),
    onStatus: (next, id) => {
      status = next;
      socketId = id;
    },
    onEvent: (event, payload) => events.push([event, payload]),
    random: () => 0,
  });
  onTestEnd(() => supervisor.stop());
  supervisor.start();
  const until = (wanted: RealtimeStatus) => waitFor(() => expect(status).toBe(wanted), { timeout: 3000 });
  return { server, api, events, supervisor, until, socketId: () => socketId };
}

test('joins the channel of the user with a signature for its own socket', async () => {
  const { server, api, until, socketId } = open();
  await until('live');
  expect(socketId()).toBe('1.7');
  expect(api.requests.map(({ method, url, body }) => ({ method, url, body }))).toEqual([
    { method: 'POST', url: '/broadcasting/auth', body: { socket_id: '1.7', channel_name: CHANNEL } },
  ]);
  expect(server.urls[0]).toMatch(/^ws:\/\/localhost:\d+\/app\/\{key\}\?protocol=7/);
});

test('hears events under both their names', async () => {
  const { server, events, until } = open();
  await until('live');
  server.broadcast(CHANNEL, 'message.created', { id: 1 });
  server.broadcast(CHANNEL, 'App\\Events\\MessageCreated', { id: 2 });
  expect(events.filter(([name]) => !name.includes('pusher'))).toEqual([
    ['.message.created', { id: 1 }],
    ['MessageCreated', { id: 2 }],
  ]);
});

describe('ws.error-codes', () => {
  for (const code of [4001, 4004, 4009, 4100, 4200, 4201, 4299, 4301, 1006]) {
    test(`${code} ends the connection, and it comes back`, async () => {
      const { server, until, socketId } = open();
      await until('live');
      server.endAll(code);
      await waitFor(() => expect(socketId()).toMatch(/^[2-9]\.7$/), { timeout: 3000 });
    });
  }

  for (const code of [4001, 4004, 4009, 4100, 4200]) {
    test(`being greeted with ${code} does not strand it`, async () => {
      const { server, until } = open();
      await until('live');
      server.greeting = { error: code };
      server.endAll(1006);
      await waitFor(() => expect(server.urls.length).toBeGreaterThan(2), { timeout: 3000 });
      server.greeting = 'welcome';
      await until('live');
    });
  }

  test('refused sockets are tried again at once, not after 15 s', async () => {
    const { server, until } = open();
    await until('live');
    server.greeting = 'refused';
    server.endAll(1006);
    await waitFor(() => expect(server.urls.length).toBeGreaterThan(3), { timeout: 3000 });
    server.greeting = 'welcome';
    await until('live');
  });

  for (const status of [403, 500]) {
    test(`an authorisation answered with ${status} is asked for again`, async () => {
      let refusals = 2;
      const answer = () => (refusals-- > 0 ? { status } : { auth: 'key:signature' });
      const { until, api } = open({ 'POST /broadcasting/auth': answer });
      await until('live');
      expect(api.requests).toHaveLength(3);
    });
  }

  test('a signature that the server does not accept is asked for again', async () => {
    let count = 0;
    const { server, until } = open({ 'POST /broadcasting/auth': () => ({ auth: `key:${++count}` }) });
    server.acceptedAuth = 'key:3';
    await until('live');
    expect(count).toBe(3);
  });
});

/** The first authorisation is answered when the test says so, the others at once. */
async function openWithLateAnswer() {
  let release = (_: unknown) => {};
  const first = new Promise((resolve) => {
    release = resolve;
  });
  let asked = 0;
  const opened = open({ 'POST /broadcasting/auth': () => (++asked === 1 ? first : { auth: 'key:second' }) });
  await waitFor(() => expect(asked).toBe(1));
  opened.server.endAll(1006);
  await opened.until('live');
  const answer = async (late: unknown) => {
    release(late);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve));
  };
  return { ...opened, answer };
}

describe('an authorisation that is answered after its socket has gone', () => {
  test('is not used on the next', async () => {
    const { server, answer } = await openWithLateAnswer();
    await answer({ auth: 'key:first' });
    const sent = server.heard.filter(({ event }) => event === 'pusher:subscribe').map(({ data }) => data);
    expect(sent).toEqual([{ auth: 'key:second', channel: CHANNEL }]);
  });

  test('does not end the next by a refusal', async () => {
    const { socketId, answer } = await openWithLateAnswer();
    await answer({ status: 403 });
    expect(socketId()).toBe('2.7');
  });
});

test('stopping closes the socket', async () => {
  const { server, supervisor, until } = open();
  await until('live');
  supervisor.stop();
  await waitFor(() => expect(server.sockets.size).toBe(0));
});

afterEach(() => localStorage.removeItem('pusherTransportNonTLS'));
