import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Check, checksOf, expectThat, shown, tolerated } from '../check.ts';
import { idOf, recordOf } from '../entities.ts';
import type { Frame, PusherSocket } from '../socket.ts';
import { FOREIGN_SITE, isSubscribed, ownChannel, requestChannel } from '../world.ts';
import { eventChecks, sendEventfulMessage } from './events.ts';

/** More characters than a frame may have. */
const TOO_LONG = 10_000;
/** Time within which a refused socket is closed. */
const STAYS_OPEN_MS = 5_000;
const HELD_MS = 1_500;

const isError = (code: number) => (frame: Frame) =>
  frame.event === 'pusher:error' && recordOf(frame.data).code === code;

/** Subscribes with the given authorisation. Returns the result once the server has handled it. */
async function joinWith(
  socket: PusherSocket,
  data: Record<string, unknown>,
): Promise<{ joined: boolean; errors: Frame[] }> {
  const frameCount = socket.frames.length;
  socket.send({ event: 'pusher:subscribe', data });
  await socket.ping();
  const newFrames = socket.frames.slice(frameCount);
  return {
    joined: newFrames.some(isSubscribed(String(data.channel))),
    errors: newFrames.filter(({ event }) => event === 'pusher:error'),
  };
}

async function expectRefused(socket: PusherSocket, data: Record<string, unknown>): Promise<void> {
  const { joined, errors } = await joinWith(socket, data);
  expectThat(!joined, `${data.channel} was joined`);
  const channels = errors.filter(isError(4009)).map((error) => error.channel);
  expectThat(channels.includes(undefined), errors);
}

export const socketChecks: Check[] = [
  ...checksOf('POST /broadcasting/auth', {
    async 'signs one’s own channel for the key that the page has'(world) {
      const { visitor, id } = await world.member('mine');
      const answer = await requestChannel(visitor, '1.2', ownChannel(id));
      answer.expectSuccess();
      const { auth } = recordOf(answer.body);
      // a server may append data of its own after a dot
      const [, key] = /^(.*):[0-9a-f]{64}(\..*)?$/.exec(String(auth)) ?? [];
      expectThat(key !== undefined, answer);
      expectThat(key === world.target.key, `a signature for the key ${key}, not ${world.target.key} (--key)`);
    },
    async 'refuses a visitor (401 or 403)'(world) {
      const { id } = await world.member('mine');
      (await requestChannel(await world.visitor(), '1.2', ownChannel(id))).expectStatus(401, 403);
    },
    'refuses an invalid socket id with 403': tolerated(async (world) => {
      const { visitor, id } = await world.member('mine');
      (await requestChannel(visitor, 'no socket', ownChannel(id))).expectStatus(403);
    }, 'sends the socket’s own'),
  }),
  ...checksOf('POST /broadcasting/user-auth', {
    'answers {auth, user_data}': tolerated(async (world) => {
      const { visitor, id } = await world.member('mine');
      const answer = (await visitor.post('//broadcasting/user-auth', { socket_id: '1.2' })).expectSuccess();
      const { auth, user_data } = recordOf(answer.body);
      expectThat(typeof auth === 'string' && typeof user_data === 'string', answer);
      expectThat(idOf(JSON.parse(String(user_data))) === id, answer);
    }, 'never asks for it'),
  }),
  ...checksOf('WS /app/{key}', {
    async 'greets with a socket id and says after how long a silence to ask'(world) {
      const socket = await world.socket();
      const { activity_timeout } = recordOf(socket.frames[0]?.data);
      expectThat(/^\d+\.\d+$/.test(socket.id), `socket id ${socket.id}`);
      expectThat(Number(activity_timeout) > 0, socket.frames[0]);
    },
    async 'knows its key with and without escapes'(world) {
      await world.socket({ isEscaped: false });
      await world.socket({ isEscaped: true });
    },
    'turns away an unknown key with error 4001, and ends': tolerated(async (world) => {
      const socket = await world.rawSocket({ key: 'no-such-key' });
      expectThat(isError(4001)(socket.frames[0] ?? { event: '' }), socket.frames[0]);
      const end = await Promise.race([socket.closed, pause(STAYS_OPEN_MS, null, { ref: false })]);
      expectThat(end !== null, `it says so and stays open for ${STAYS_OPEN_MS / 1000} s`);
    }, 'tries again, for any reason, and gets by without a socket until then'),
    'turns away the page of another site': tolerated(async (world) => {
      const socket = await world.rawSocket({ origin: FOREIGN_SITE });
      expectThat(isError(4009)(socket.frames[0] ?? { event: '' }), socket.frames[0]);
    }, 'asks from its own page only; signatures keep private channels closed all the same'),
    async 'answers a ping, and stays open'(world) {
      const socket = await world.socket();
      await pause(HELD_MS);
      await socket.ping();
    },
    'calls what it does not know malformed (4200) and goes on': tolerated(async (world) => {
      const socket = await world.socket();
      const odd = [
        'no json',
        '[]',
        '{"data":{}}',
        { event: 'pusher:signin', data: {} },
        { event: 'pusher:nonsense', data: {} },
        { event: 'pusher:subscribe', data: 'x' },
        { event: 'hello' },
        { event: 'client-typing', channel: 'any', data: 'no object' },
      ];
      for (const frame of odd) socket.send(frame);
      await socket.ping();
      const errors = socket.frames.filter(({ event }) => event === 'pusher:error');
      expectThat(errors.length === odd.length && errors.every(isError(4200)), errors);
    }, 'sends no such thing'),
    'reads data that comes as a JSON text of its own': tolerated(async (world) => {
      const socket = await world.socket();
      socket.send({ event: 'pusher:subscribe', data: JSON.stringify({ channel: 'conformance' }) });
      await socket.frame(isSubscribed('conformance'));
    }, 'sends data as an object'),
    'closes on a frame above 10 kB': tolerated(async (world) => {
      const socket = await world.socket();
      socket.send({ event: 'pusher:ping', data: 'x'.repeat(TOO_LONG) });
      const answered = socket.ping().then(() => 'answered' as const);
      const end = await Promise.race([socket.closed, answered.catch(() => 'silent' as const)]);
      expectThat(typeof end === 'object', `the socket stays open (${String(end)})`);
    }, 'sends no such thing'),
    async 'confirms a public channel, and one’s own private one with its signature'(world) {
      const { visitor, id } = await world.member('mine');
      const socket = await world.socket();
      expectThat((await joinWith(socket, { channel: 'conformance' })).joined, 'a public channel was not joined');
      const channel = await world.join(socket, visitor, id);
      const confirmed = socket.frames.find(isSubscribed(channel));
      expectThat(shown(confirmed?.data) === '{}', confirmed);
    },
    async 'keeps private and presence channels without a valid signature closed (4009)'(world) {
      const { id } = await world.member('mine');
      const socket = await world.socket();
      const key = world.target.key;
      const forged = createHmac('sha256', 'guessed')
        .update(`${socket.id}:${ownChannel(id)}`)
        .digest('hex');
      await expectRefused(socket, { channel: ownChannel(id) });
      await expectRefused(socket, { channel: ownChannel(id), auth: `${key}:${forged}` });
      await expectRefused(socket, { channel: `presence-App.Models.User.${id}` });
    },
    async 'takes a signature for its own socket and channel only (4009)'(world) {
      const [mine, theirs] = [await world.member('mine'), await world.member('theirs')];
      const [socket, other] = [await world.socket(), await world.socket()];
      const { auth } = recordOf((await requestChannel(mine.visitor, socket.id, ownChannel(mine.id))).body);
      await expectRefused(other, { channel: ownChannel(mine.id), auth });
      await expectRefused(socket, { channel: ownChannel(theirs.id), auth });
    },
    'passes whispers on to the other members only, and none of who is no member (4009)': tolerated(async (world) => {
      const { visitor, id } = await world.member('mine');
      const [one, two] = [await world.socket(), await world.socket()];
      const channel = await world.join(one, visitor, id);
      two.send({ event: 'client-typing', channel, data: { typing: true } });
      await two.frame(isError(4009));
      await world.join(two, visitor, id);
      one.send({ event: 'client-typing', channel, data: { typing: true } });
      const whisperFrame = await two.frame(({ event }) => event === 'client-typing');
      // the data of a client event is an object, not a JSON text
      const asItCame = recordOf(JSON.parse(two.texts[two.frames.indexOf(whisperFrame)] ?? ''));
      expectThat(recordOf(asItCame.data).typing === true, asItCame);
      await one.ping();
      expectThat(!one.frames.some(({ event }) => event === 'client-typing'), 'the sender of a whisper received it too');
    }, 'does not whisper'),
    'is silent about a channel that was left': tolerated(async (world) => {
      const { visitor, id } = await world.member('mine');
      const [stays, leaves] = [await world.socket(), await world.socket()];
      const channel = await world.join(stays, visitor, id);
      await world.join(leaves, visitor, id);
      leaves.send({ event: 'pusher:unsubscribe', data: { channel } });
      await leaves.ping();
      await sendEventfulMessage(world);
      await stays.frame(
        (frame) => frame.channel === channel && frame.event !== 'pusher_internal:subscription_succeeded',
      );
      await leaves.ping();
      expectThat(leaves.frames.filter((frame) => frame.channel === channel).length === 1, 'it went on hearing');
    }, 'closes its socket where it leaves'),
  }),
  ...eventChecks,
];
