import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { fakeApi, type Handlers, onTestEnd, waitFor } from '../../testing';
import { FakeReverb } from '../../testing/fakeReverb';
import { onUnauthenticated } from '../client/unauthenticated';
import { EchoLink } from './echoLink';
import type { CloseReason } from './supervisor';
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
    openLink: (linkEvents) => {
      const { createSocket, fetchStatus: askStatus } = server;
      return new EchoLink({ userId: '7', events: linkEvents, createSocket, fetchStatus: askStatus });
    },
    onStatus: (next, id) => {
      status = next;
      socketId = id;
    },
    onEvent: (event, payload) => events.push([event, payload]),
    random: () => 0,
  });
  onTestEnd(() => supervisor.stop());
  supervisor.start();
  const until = (wanted: RealtimeStatus) => waitFor(() => expect(status).toBe(wanted));
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

test('receives events under both names', async () => {
  const { server, events, until } = open();
  await until('live');
  server.broadcast(CHANNEL, 'message.created', { id: 1 });
  server.broadcast(CHANNEL, 'App\\Events\\MessageCreated', { id: 2 });
  expect(events.filter(([name]) => !name.includes('pusher'))).toEqual([
    ['.message.created', { id: 1 }],
    ['MessageCreated', { id: 2 }],
  ]);
});

test('ids beyond 2^53 keep their digits', async () => {
  const { server, events, until } = open();
  await until('live');
  const data = JSON.stringify('{"id":9007199254740993,"body":"9007199254740993"}');
  for (const socket of server.sockets)
    socket.deliverText(`{"event":"message.created","channel":"${CHANNEL}","data":${data}}`);
  expect(events).toContainEqual(['.message.created', { id: '9007199254740993', body: '9007199254740993' }]);
});

test('a payload that was encoded as JSON twice is read', async () => {
  const { server, events, until } = open();
  await until('live');
  const twice = JSON.stringify(JSON.stringify({ id: 1, body: '他说"好"' }));
  for (const socket of server.sockets)
    socket.deliverText(JSON.stringify({ event: 'message.created', channel: CHANNEL, data: twice }));
  expect(events).toContainEqual(['.message.created', { id: 1, body: '他说"好"' }]);
});

test.each(['', '{', 'null', '5', '"text"', '{}', '[]', '{"event":5}', '{"event":null,"data":"{}"}', '[{"event":"a"}]'])(
  'a frame that names no event is dropped, and the next is read: %s',
  async (frame) => {
    const { server, events, until } = open();
    await until('live');
    for (const socket of server.sockets) socket.deliverText(frame);
    server.broadcast(CHANNEL, 'message.created', { id: 1 });
    expect(events.filter(([name]) => !name.includes('pusher'))).toEqual([['.message.created', { id: 1 }]]);
    await until('live');
  },
);

test.each([-5, 0, 0.001, 1e9, '30', 'lang', null, undefined])(
  'an activity timeout of %s s makes a calm link',
  async (seconds) => {
    const { server, link, joined } = openBare();
    server.activityTimeout = seconds;
    await joined();
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(server.receivedFrames.filter(({ event }) => event === 'pusher:ping')).toHaveLength(0);
    link.disconnect();
  },
);

test('payloads may be objects instead of JSON texts', async () => {
  const { server, events, until } = open();
  server.encodePayload = (payload) => payload;
  server.activityTimeout = undefined;
  await until('live');
  server.broadcast(CHANNEL, 'message.created', { id: 1 });
  expect(events).toContainEqual(['.message.created', { id: 1 }]);
});

test('a 401 of the channel authorisation does not end the session', async () => {
  const refusals: string[] = [];
  onTestEnd(onUnauthenticated(() => refusals.push('401')));
  const { api } = open({ 'POST /broadcasting/auth': { status: 401 }, 'GET /v1/user': { data: { id: '7' } } });
  await waitFor(() => expect(api.requests.filter(({ url }) => url === '/v1/user')).not.toHaveLength(0));
  expect(refusals).toEqual([]);
  const { api: ended } = open({ 'POST /broadcasting/auth': { status: 401 }, 'GET /v1/user': { status: 401 } });
  await waitFor(() => expect(refusals).not.toEqual([]));
  expect(ended.requests.some(({ url }) => url === '/v1/user')).toBe(true);
});

test('sends nothing on a closing socket', async () => {
  const { server, link, joined } = openBare();
  await joined();
  link.ping();
  server.beginClosing();
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve));
  expect(server.sentTooLate).toBe(0);
});

describe('ws.error-codes', () => {
  for (const code of [4001, 4004, 4009, 4100, 4200, 4201, 4299, 4301, 1006]) {
    test(`${code} ends the connection, and it reconnects`, async () => {
      const { server, until, socketId } = open();
      await until('live');
      server.endAll(code);
      await waitFor(() => expect(socketId()).toMatch(/^[2-9]\.7$/));
    });
  }

  for (const code of [4001, 4004, 4009, 4100, 4200]) {
    test(`${code} in place of the greeting leads to a reconnect`, async () => {
      const { server, until } = open();
      await until('live');
      server.greeting = { error: code };
      server.endAll(1006);
      await waitFor(() => expect(server.urls.length).toBeGreaterThan(2));
      server.greeting = 'welcome';
      await until('live');
    });
  }

  test('refused sockets are retried immediately, not after 15 s', async () => {
    const { server, until } = open();
    await until('live');
    server.greeting = 'refused';
    server.endAll(1006);
    await waitFor(() => expect(server.urls.length).toBeGreaterThan(3));
    server.greeting = 'welcome';
    await until('live');
  });

  for (const status of [403, 500]) {
    test(`an authorisation with ${status} is retried`, async () => {
      let refusals = 2;
      const answer = () => (refusals-- > 0 ? { status } : { auth: 'key:signature' });
      const { until, api } = open({ 'POST /broadcasting/auth': answer });
      await until('live');
      expect(api.requests).toHaveLength(3);
    });
  }

  test('a rejected signature is requested again', async () => {
    let count = 0;
    const { server, until } = open({ 'POST /broadcasting/auth': () => ({ auth: `key:${++count}` }) });
    server.acceptedAuth = 'key:3';
    await until('live');
    expect(count).toBe(3);
  });
});

/** A link without its supervisor; `attempt` resolves to the reason of its failure. */
function openBare(handlers: Handlers = signed) {
  const server = new FakeReverb();
  const api = fakeApi(handlers);
  onTestEnd(api.restore);
  const reasons: CloseReason[] = [];
  let isJoined = false;
  const link = new EchoLink({
    userId: '7',
    createSocket: server.createSocket,
    fetchStatus: server.fetchStatus,
    events: {
      onOpen: () => link.join(),
      onJoined: () => {
        isJoined = true;
      },
      onClose: (reason) => {
        reasons.push(reason);
        link.disconnect();
      },
      onActivity: () => {},
      onEvent: () => {},
    },
  });
  onTestEnd(() => link.disconnect());
  const closed = (count: number) => waitFor(() => expect(reasons).toHaveLength(count));
  return {
    server,
    api,
    link,
    reasons,
    async attempt(): Promise<CloseReason | undefined> {
      link.connect();
      await closed(reasons.length + 1);
      return reasons.at(-1);
    },
    async joined() {
      link.connect();
      await waitFor(() => expect(isJoined).toBe(true));
    },
    closed,
  };
}

describe('the reason of a missing socket', () => {
  const byCode = { 4001: 'refused', 4003: 'refused', 4009: 'refused', 4004: 'unauthorized' } as const;
  for (const [code, reason] of Object.entries({ ...byCode, 4100: 'unreachable', 4200: 'unreachable' } as const))
    test(`an error ${code} in the greeting's place means ${reason}`, async () => {
      const { server, attempt } = openBare();
      server.greeting = { error: Number(code) };
      expect(await attempt()).toBe(reason);
    });

  test('a refused origin closes the socket that Reverb leaves open', async () => {
    const { server, attempt } = openBare();
    server.greeting = { errorThenOpen: 4009 };
    expect(await attempt()).toBe('refused');
    await waitFor(() => expect(server.sockets.size).toBe(0));
  });

  const byStatus = { 404: 'refused', 403: 'refused', 200: 'refused', 0: 'refused' } as const;
  const passing = { 426: 'unreachable', 429: 'unreachable', 500: 'unreachable', 503: 'unreachable' } as const;
  for (const [status, reason] of Object.entries({ ...byStatus, ...passing }))
    test(`an address with status ${status} means ${reason} after a second silent socket`, async () => {
      const { server, attempt } = openBare();
      server.greeting = 'refused';
      server.pageStatus = Number(status);
      expect([await attempt(), server.pageRequests]).toEqual(['unreachable', 0]);
      expect([await attempt(), server.pageRequests]).toEqual([reason, 1]);
    });

  test('no response at all means that the network is away', async () => {
    const { server, attempt } = openBare();
    server.greeting = 'refused';
    expect([await attempt(), await attempt()]).toEqual(['unreachable', 'unreachable']);
  });

  test('a socket that ends after its greeting is a lost connection at any response of its address', async () => {
    const { server, attempt, joined, closed, reasons } = openBare();
    server.greeting = 'refused';
    server.pageStatus = 404;
    await attempt();
    server.greeting = 'welcome';
    await joined();
    server.endAll(1006);
    await closed(2);
    server.greeting = 'refused';
    await attempt();
    expect([reasons, server.pageRequests]).toEqual([['unreachable', 'unreachable', 'unreachable'], 0]);
  });

  test('pusher-js opens no socket while the address is probed', async () => {
    const { server, attempt, link } = openBare();
    server.greeting = 'refused';
    await attempt();
    server.pageStatus = new Promise(() => {});
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestEnd(() => rs.useRealTimers());
    link.connect();
    await rs.advanceTimersByTimeAsync(20_000);
    expect(server.pageRequests).toBe(1);
    expect(server.urls).toHaveLength(2);
  });
});

describe('checking the right to listen', () => {
  const answers = { 200: [], 500: [], 403: ['unauthorized'], 401: ['unauthorized'] } as const;
  for (const [status, expected] of Object.entries(answers))
    test(`${status} ${expected.length > 0 ? 'closes the socket' : 'changes nothing'}`, async () => {
      let asked = 0;
      const later = status === '200' ? { auth: 'key:second' } : { status: Number(status) };
      const answer = () => (++asked === 1 ? { auth: 'key:first' } : later);
      const { link, joined, reasons, api, server } = openBare({ 'POST /broadcasting/auth': answer });
      await joined();
      link.reauthorize();
      const authorizations = () => api.requests.filter(({ url }) => url === '/broadcasting/auth');
      await waitFor(() => expect(authorizations()).toHaveLength(2));
      await waitFor(() => expect(reasons).toEqual(expected));
      // only checked: the subscription stays as it is
      expect(server.receivedFrames.filter(({ event }) => event === 'pusher:subscribe')).toHaveLength(1);
    });
});

/** The test releases the first authorisation; the others are answered immediately. */
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

describe('an authorisation that arrives after its socket has closed', () => {
  test('is not used on the next socket', async () => {
    const { server, answer } = await openWithLateAnswer();
    await answer({ auth: 'key:first' });
    const sent = server.receivedFrames.filter(({ event }) => event === 'pusher:subscribe').map(({ data }) => data);
    expect(sent).toEqual([{ auth: 'key:second', channel: CHANNEL }]);
  });

  test('does not end the next socket by a refusal', async () => {
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
