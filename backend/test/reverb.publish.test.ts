import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { readEnv } from '../src/env.ts';
import { ReverbBroadcaster, signedPath } from '../src/realtime/reverb.ts';
import { hmac } from '../src/signatures.ts';
import { createLog } from '../src/telemetry.ts';
import { openSocket, upgrade } from './socket.ts';
import { openBackend } from './testBackend.ts';
import type { MessageDto, UserDto } from './wire.ts';

const app = { id: '1001', key: 'key-7', secret: 'secret-7' };
const settings = (url: string, { id, key, secret } = app) => ({
  REVERB_URL: url,
  REVERB_APP_ID: id,
  REVERB_APP_KEY: key,
  REVERB_APP_SECRET: secret,
});

interface Published {
  name: string;
  channels: string[];
  data: Record<string, unknown>;
}

type Answer = (response: ServerResponse, event: Published) => void;
const takes: Answer = (response) => response.end('{}');

/** Starts a fake of Reverb's HTTP API, which verifies signatures and sends the response that the test sets. */
async function openReverb(first: Answer = takes) {
  const state = { answer: first, underWay: 0, mostUnderWay: 0 };
  const events: Published[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    state.underWay += 1;
    state.mostUnderWay = Math.max(state.mostUnderWay, state.underWay);
    response.once('close', () => {
      state.underWay -= 1;
    });
    let body = '';
    for await (const bytes of request) body += bytes;
    const time = Number(new URL(request.url ?? '', 'http://reverb').searchParams.get('auth_timestamp')) * 1000;
    if (request.url !== signedPath(app, body, time)) return void response.writeHead(401).end();
    const { data, ...rest } = JSON.parse(body);
    const event = { ...rest, data: JSON.parse(data) };
    events.push(event);
    state.answer(response, event);
    for (const look of waiting) look();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(async () => void (await close()));
  const { port } = server.address() as AddressInfo;
  /** Resolves once `count` events with that name have arrived. */
  const got = (name: string, count = 1) =>
    new Promise<Published[]>((resolve) => {
      const look = () => {
        const found = events.filter((event) => event.name === name);
        if (found.length < count) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { url: `http://127.0.0.1:${port}`, port, events, state, got, close };
}

/** Creates a log and the list of its messages. */
function openLog() {
  const said: string[] = [];
  return { said, log: createLog('warn', { write: (line) => said.push(JSON.parse(line).msg) }) };
}

describe('settings', () => {
  const all = settings('http://127.0.0.1:8080/');
  for (const name of Object.keys(all) as (keyof typeof all)[]) {
    test(`without ${name} the start is refused with a line that names it`, () => {
      const { [name]: _, ...rest } = all;
      expect(() => readEnv(rest)).toThrow(`${name}: missing; to publish through a Reverb, set all of REVERB_URL`);
    });
  }

  test('a key without address belongs to the backend’s own sockets', () => {
    expect(readEnv({ REVERB_APP_KEY: 'key-7' })).toMatchObject({ REVERB_APP_KEY: 'key-7', reverb: null });
    expect(readEnv({})).toMatchObject({ REVERB_APP_KEY: '{key}', reverb: null });
    expect(readEnv(all).reverb).toEqual({ url: 'http://127.0.0.1:8080', ...app });
  });

  for (const url of ['ws://127.0.0.1', 'http://127.0.0.1/app', '127.0.0.1:8080', 'http://me:x@127.0.0.1'])
    test(`${url} is refused as the address of a Reverb`, () => {
      expect(() => readEnv({ ...all, REVERB_URL: url })).toThrow(
        'REVERB_URL: must be an address like http://127.0.0.1:8080',
      );
    });
});

test("a request is signed as Pusher's documentation shows by example", () => {
  const body = '{"name":"foo","channels":["project-3"],"data":"{\\"some\\":\\"data\\"}"}';
  const example = { id: '3', key: '278d425bdf160c739803', secret: '7ad3773142a6692b25b8' };
  expect(signedPath(example, body, 1353088179_000)).toBe(
    '/apps/3/events?auth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0' +
      '&body_md5=ec365a775a4cd0599faeb73354201b6f' +
      '&auth_signature=da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c',
  );
});

describe('reverb.publish', () => {
  test('sends one event at a time in order, also if the clock jumps', async () => {
    const reverb = await openReverb((response, { data }) => {
      setTimeout(() => response.end('{}'), Number(data.n) % 3);
    });
    const broadcaster = new ReverbBroadcaster({ ...app, url: reverb.url }, openLog().log);
    for (let n = 0; n < 200; n++) broadcaster.publish('private-x', 'counted', { n });
    const clock = Date.now;
    onTestFinished(() => {
      Date.now = clock;
    });
    Date.now = () => clock() + 3_600_000;
    const events = await reverb.got('counted', 200);
    expect(events.map(({ data }) => data.n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
    expect(reverb.state.mostUnderWay).toBe(1);
    expect(events[0]?.channels).toEqual(['private-x']);
  });

  test('queues a thousand events for an unresponsive Reverb and then sends the newest', async () => {
    let first: ServerResponse | undefined;
    const reverb = await openReverb((response) => {
      first = response;
    });
    const { said, log } = openLog();
    const broadcaster = new ReverbBroadcaster({ ...app, url: reverb.url }, log);
    for (let n = 0; n < 5_000; n++) broadcaster.publish('private-x', 'counted', { n });
    await reverb.got('counted');
    reverb.state.answer = takes;
    first?.end('{}');
    const events = await reverb.got('counted', 1_001);
    expect(events.slice(1).map(({ data }) => data.n)).toEqual(Array.from({ length: 1_000 }, (_, n) => 4_000 + n));
    await expect
      .poll(() => said)
      .toEqual([
        expect.stringMatching(/takes no events: more than 1000 wait/),
        expect.stringMatching(/takes events again; 3999 were lost/),
      ]);
  });

  test('stops after a short wait for open requests', async () => {
    const reverb = await openReverb();
    const prompt = new ReverbBroadcaster({ ...app, url: reverb.url }, openLog().log);
    for (let n = 0; n < 5; n++) prompt.publish('private-x', 'counted', { n });
    await prompt.close();
    expect(reverb.events).toHaveLength(5);
    reverb.state.answer = () => {};
    const stuck = new ReverbBroadcaster({ ...app, url: reverb.url }, openLog().log);
    stuck.publish('private-x', 'counted', { n: 5 });
    const from = performance.now();
    await stuck.close();
    expect(performance.now() - from).toBeLessThan(1_000);
  });

  test('reports a failing Reverb once with the cause, and once when it recovers', async () => {
    const reverb = await openReverb((response) => response.writeHead(404).end());
    const { said, log } = openLog();
    const broadcaster = new ReverbBroadcaster({ ...app, url: reverb.url }, log);
    for (let n = 0; n < 3; n++) broadcaster.publish('private-x', 'counted', { n });
    await reverb.got('counted', 3);
    reverb.state.answer = takes;
    broadcaster.publish('private-x', 'counted', { n: 3 });
    await expect
      .poll(() => said)
      .toEqual([
        expect.stringMatching(/takes no events: it answers 404, so REVERB_APP_ID is not what it has/),
        expect.stringMatching(/takes events again; 3 were lost/),
      ]);
  });

  test('names a wrong secret', async () => {
    const reverb = await openReverb();
    const { said, log } = openLog();
    new ReverbBroadcaster({ ...app, secret: 'other', url: reverb.url }, log).publish('private-x', 'counted', {});
    await expect.poll(() => said.join()).toContain('REVERB_APP_SECRET is not what it has');
  });
});

describe('a backend that publishes through a Reverb', () => {
  test('publishes a message and its reply there, signed with the app’s key and secret', async () => {
    const reverb = await openReverb();
    const backend = await openBackend(settings(reverb.url));
    const reader = await backend.reader();
    const user = (await reader.get<{ data: UserDto }>('/user')).body.data;
    const channel = `private-App.Models.User.${user.id}`;
    const asked = { socket_id: '1.2', channel_name: channel };
    expect((await reader.post('//broadcasting/auth', asked)).body).toEqual({
      auth: `key-7:${hmac('secret-7', `1.2:${channel}`)}`,
    });
    const signedIn = await reader.post<{ auth: string; user_data: string }>('//broadcasting/user-auth', asked);
    expect(signedIn.body.auth).toBe(`key-7:${hmac('secret-7', `1.2::user::${signedIn.body.user_data}`)}`);
    const { body } = await reader.say({ story_id: 'nie-xiaoqian' });
    const [completed] = await reverb.got('message.completed');
    expect(completed).toMatchObject({ channels: [channel], data: { message: { id: body.reply.id } } });
    const created = await reverb.got('message.created', 2);
    expect(created.map(({ data }) => (data.message as MessageDto).id)).toEqual([body.message.id, body.reply.id]);
  });

  test('offers no sockets of its own', async () => {
    const reverb = await openReverb();
    const backend = await openBackend(settings(reverb.url));
    expect(await upgrade(backend, '/app/key-7')).toBe('HTTP/1.1 404 Not Found');
    expect((await fetch(`${backend.url}/app/key-7`)).status).toBe(404);
  });

  test('serves calls while Reverb is down, and logs it once', async () => {
    const reverb = await openReverb();
    await reverb.close();
    const backend = await openBackend(settings(reverb.url));
    const said = rs.spyOn(backend.services.log, 'error');
    const reader = await backend.reader();
    for (let n = 0; n < 3; n++) {
      expect((await reader.say({ story_id: 'nie-xiaoqian' })).status).toBe(201);
      await backend.settled();
    }
    const { data } = await reader.latest({ story_id: 'nie-xiaoqian' });
    expect(data.map(({ status }) => status)).toEqual(Array(6).fill('completed'));
    await expect
      .poll(() => said.mock.calls)
      .toEqual([[expect.stringMatching(/takes no events: ECONNREFUSED\. Pages fetch/)]]);
  });

  test('delays no call while Reverb hangs', async () => {
    const reverb = await openReverb(() => {});
    const backend = await openBackend(settings(reverb.url));
    const reader = await backend.reader();
    const from = performance.now();
    await reader.say({ story_id: 'nie-xiaoqian' });
    await backend.settled();
    expect(performance.now() - from).toBeLessThan(4_000);
    expect(reverb.state.underWay).toBe(1);
  });
});

const live = process.env.REVERB_URL ? readEnv(process.env).reverb : null;

// with the Reverb of REVERB_URL, REVERB_APP_ID, REVERB_APP_KEY and REVERB_APP_SECRET
if (live)
  describe('a real Reverb', () => {
    const { url } = live;

    test('passes on dialogue of 1,620 characters, however much of it needs escapes', async () => {
      const backend = await openBackend({ ...settings(url, live), STORYTELLER_PIECE_CHARACTERS: '2000' });
      const said = rs.spyOn(backend.services.log, 'error');
      const reader = await backend.reader();
      const socket = await openSocket(backend, reader, { url, key: encodeURIComponent(live.key), origin: backend.url });
      await socket.subscribe();
      const texts = ['"好的"'.repeat(405), '“好的”'.repeat(405), '"好"\n/'.repeat(324), 'yes"'.repeat(405)];
      for (const [index, text] of texts.entries()) {
        const { body } = await reader.say({ story_id: 'nie-xiaoqian', body: text });
        const created = await socket.frame(
          ({ event, data }) =>
            event === 'message.created' && (data as { message: MessageDto }).message.id === body.message.id,
        );
        const { message, truncated } = created.data as { message: MessageDto; truncated?: true };
        expect([index, truncated ? 'fetched' : message.body]).toEqual([index, index < 2 ? 'fetched' : text]);
        const { data } = await reader.latest({ story_id: 'nie-xiaoqian' });
        expect(data.find(({ id }) => id === message.id)?.body).toBe(text);
        await backend.settled();
      }
      await socket.frame(({ event }) => event === 'message.completed');
      expect(said).not.toHaveBeenCalled();
    });

    test('passes 200 events on in order', async () => {
      const backend = await openBackend(settings(url, live));
      const reader = await backend.reader();
      const user = (await reader.get<{ data: UserDto }>('/user')).body.data;
      const socket = await openSocket(backend, reader, { url, key: encodeURIComponent(live.key) });
      await socket.subscribe();
      for (let n = 0; n < 200; n++)
        backend.services.broadcaster.publish(`private-App.Models.User.${user.id}`, 'counted', { n });
      await socket.frame(({ data }) => (data as { n?: number } | undefined)?.n === 199);
      const counted = socket.frames
        .filter(({ event }) => event === 'counted')
        .map(({ data }) => (data as { n: number }).n);
      expect(counted).toEqual(Array.from({ length: 200 }, (_, n) => n));
    });
  });
