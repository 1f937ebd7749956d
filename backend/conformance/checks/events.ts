import { randomUUID } from 'node:crypto';
import { type Capability, isRouteMissing } from '@liaozhai/shared/contract';
import { type Check, checksOf, Deviation, expectThat, shown, tolerated, Untried } from '../check.ts';
import { expectFields, idOf, recordOf } from '../entities.ts';
import type { Frame } from '../socket.ts';
import { pathOf, type VisitorAnswer } from '../visitor.ts';
import { conversationIdOf, currentUser, sendMessage, type World } from '../world.ts';

const REPLY_TIMEOUT_MS = 75_000;

/** Returns the event's name, from `broadcastAs` or from its class, as the page reads it. */
function eventName(event: string): string {
  const name = event.replace(/^.*\\/, '');
  return /^[A-Z]/.test(name) ? name.replace(/\B[A-Z]/g, '.$&').toLowerCase() : name;
}

/** Sends a message of `mine`, which emits events on its channel. */
export async function sendEventfulMessage(
  world: World,
): Promise<{ conversationId: string; content: Record<string, unknown> }> {
  const { id, visitor } = await world.conversation();
  const { answer, content } = await sendMessage(visitor, { conversation_id: id, body: '又见面了' });
  answer.expectSuccess();
  await world.settled(visitor, id);
  return { conversationId: conversationIdOf(answer) || id, content };
}

const messageOf = (frame: Frame): Record<string, unknown> => {
  const data = recordOf(frame.data);
  return 'message' in data ? recordOf(data.message) : data;
};

/** Records the events on the channel of `mine` while a message is sent and answered. */
const recordedEvents = (world: World) => world.createOnce('received a message', () => listenToMessage(world));

async function listenToMessage(world: World) {
  const { visitor, id } = await world.member('mine');
  await world.conversation();
  const theirs = await world.member('theirs');
  const [socket, stranger] = [await world.socket(), await world.socket()];
  const channel = await world.join(socket, visitor, id);
  await world.join(stranger, theirs.visitor, theirs.id);
  const { content } = await sendEventfulMessage(world);
  const isEnd = (frame: Frame) => eventName(frame.event) === 'message.completed' && frame.channel === channel;
  const end = await socket.frame(isEnd, REPLY_TIMEOUT_MS);
  const eventsNamed = (name: string) => socket.frames.filter(({ event }) => eventName(event) === name);
  await stranger.ping();
  const leakedFrame = stranger.frames.find(({ event }) => !event.startsWith('pusher'));
  return {
    visitor,
    content,
    end,
    eventsNamed,
    frames: socket.frames,
    leakedFrame,
    texts: socket.texts,
    foreignMessages: socket.foreignMessages,
  };
}

const messageEventChecks: Check[] = [
  ...checksOf('WS /app/{key}', {
    'broadcasts a message and the end of its reply, with conversation and version': tolerated(async (world) => {
      const { content, end, eventsNamed } = await recordedEvents(world);
      const created = eventsNamed('message.created').map(messageOf);
      const clientIds = created.map(({ client_id }) => client_id);
      expectThat(clientIds.includes(content.client_id), `message.created ${shown(created)}`);
      for (const { data } of [end, ...eventsNamed('message.created')]) {
        const { version, conversation_id } = { ...messageOf({ event: '', data }), ...recordOf(data) };
        expectThat(conversation_id != null && version != null, data);
      }
      expectFields('message', messageOf(end), { status: 'completed', role: 'assistant' });
      const roles = created.map(({ role }) => role);
      expectThat(roles.includes('assistant'), `message.created of no reply: ${shown(created)}`);
    }, 'asks messages/latest after 5 s without an event'),
    async 'sends nothing of it to another user’s socket'(world) {
      // if the reader received nothing either, other checks report it
      const recorded = await recordedEvents(world).catch(() => null);
      expectThat(!recorded?.leakedFrame, recorded?.leakedFrame);
    },
    'names its events by broadcastAs, such as message.created': tolerated(async (world) => {
      const { eventsNamed } = await recordedEvents(world);
      const [{ event } = { event: 'no message.created' }] = eventsNamed('message.created');
      expectThat(event === 'message.created', event);
    }, 'reads the names of classes as well'),
    'sends a reply piece by piece, and the pieces add up to it': tolerated(async (world) => {
      const { end, eventsNamed, frames } = await recordedEvents(world);
      const pieces = eventsNamed('message.delta').map(({ data }) => recordOf(data));
      expectThat(pieces.length > 0, 'no message.delta');
      let text = '';
      const { message_id = idOf(messageOf(end)), conversation_id } = recordOf(end.data);
      for (const piece of pieces) {
        expectFields('message.delta', piece, { message_id, conversation_id });
        expectThat(piece.revision != null, piece);
        expectThat(piece.offset === [...text].length, `offset ${piece.offset} after ${[...text].length} characters`);
        text += String(piece.text);
      }
      const lastPiece = eventsNamed('message.delta').at(-1) ?? end;
      expectThat(frames.indexOf(lastPiece) < frames.indexOf(end), 'a piece after the end');
      const { body } = messageOf(end);
      expectThat(body === undefined || body === text, `${shown(text)} in pieces, ${shown(body)} at the end`);
    }, 'shows the reply as a whole, once it is written'),
    'sends data as a JSON text of its own': tolerated(async (world) => {
      const { texts, foreignMessages } = await recordedEvents(world);
      expectThat(foreignMessages.length === 0, `no message: ${shown(foreignMessages[0])}`);
      const odd = texts.find((text) => {
        const { event, data } = recordOf(JSON.parse(text));
        // client events are forwarded unchanged, and Reverb's errors and pongs are not encoded
        return !/^(client-|pusher:(pong|error))/.test(String(event)) && data !== undefined && typeof data !== 'string';
      });
      expectThat(odd === undefined, odd);
    }, 'reads an object as well; pusher-js as other pages use it does not'),
    'sends the balance with its version': tolerated(async (world) => {
      const { visitor, eventsNamed } = await recordedEvents(world);
      const { balance, version } = recordOf(eventsNamed('balance.updated').at(-1)?.data);
      const user = await currentUser(visitor);
      expectThat(
        balance === user.balance && version != null,
        `balance.updated ${balance}, the user has ${user.balance}`,
      );
    }, 'reads the balance from answers, and again when the page is looked at'),
    'sends nothing more once its session was logged out': tolerated(async (world) => {
      const mine = await world.member('mine');
      const session = await world.signIn(mine);
      const [keptSocket, endedSocket] = [await world.socket(), await world.socket()];
      const channel = await world.join(keptSocket, mine.visitor, mine.id);
      await world.join(endedSocket, session, mine.id);
      (await session.post('/logout')).expectSuccess();
      await sendEventfulMessage(world);
      const isNews = (frame: Frame) => frame.channel === channel && !frame.event.startsWith('pusher');
      await keptSocket.frame(isNews);
      const isClosed = await Promise.race([
        endedSocket.closed.then(() => true),
        endedSocket.ping().then(
          () => false,
          () => true,
        ),
      ]);
      if (!isClosed && endedSocket.frames.some(isNews)) throw new Deviation('it went on hearing private events');
    }, 'asks every five minutes whether it may go on listening, and immediately after session.ended'),
  }),
];

const EVENT_MS = 5_000;

/** Starts a conversation of `mine` that may be changed or deleted. Returns its path. */
async function otherConversation(world: World): Promise<string> {
  const [, story_id] = await world.stories();
  const { answer } = await sendMessage(world.mine, { story_id });
  const id = conversationIdOf(answer.expectSuccess());
  await world.settled(world.mine, id);
  return pathOf`/conversations/${id}`;
}

/** Checks that an event with these fields reports what the reader's other device does by `act`. */
const tellsBy = (
  event: string,
  fields: string[],
  otherwise: string,
  needs: Capability | null,
  act: (world: World) => Promise<VisitorAnswer>,
): Check => ({
  call: 'WS /app/{key}',
  name: `tells by ${event} what another device has done`,
  otherwise,
  async run(world) {
    if (needs && !(await world.announces(needs))) return;
    const { visitor, id } = await world.member('mine');
    const socket = await world.socket();
    const channel = await world.join(socket, visitor, id);
    const answer = await act(world);
    if (isRouteMissing(answer.status, recordOf(answer.body)))
      throw new Untried(`the call is missing: ${shown(answer)}`);
    answer.expectSuccess();
    const isEvent = (frame: Frame) => eventName(frame.event) === event && frame.channel === channel;
    const data = recordOf((await socket.frame(isEvent, EVENT_MS)).data);
    const missing = fields.filter((field) => data[field] == null);
    expectThat(missing.length === 0, `${fields.join(', ')}: ${shown(data)}`);
  },
});

const otherEventChecks: Check[] = [
  tellsBy('user.updated', ['user'], 'shows the change when it is looked at again', null, (world) =>
    world.mine.put('/user', { persona: '一名樵夫' }),
  ),
  tellsBy('suggestion.ready', ['id', 'status'], 'asks for the suggestions every 1.5 s', null, async (world) => {
    const { id: conversation_id, visitor } = await world.conversation();
    return visitor.postOnce('/messages/suggestion', { conversation_id, client_id: randomUUID() });
  }),
  tellsBy(
    'conversation.updated',
    ['conversation'],
    'shows dots and pins as they were until it is looked at again',
    'conversations.pin',
    async (world) => {
      const { id, visitor } = await world.conversation();
      const path = pathOf`/conversations/${id}`;
      await visitor.put(path, { pinned: true });
      return visitor.put(path, { pinned: false });
    },
  ),
  tellsBy(
    'conversation.restarted',
    ['id'],
    'shows what was taken away until it is looked at again',
    'conversations.restart',
    async (world) => world.mine.post(`${await otherConversation(world)}/restart`, { client_id: randomUUID() }),
  ),
  tellsBy('conversation.deleted', ['id'], 'lists the conversation until it is looked at again', null, async (world) =>
    world.mine.delete(await otherConversation(world)),
  ),
  tellsBy(
    'session.ended',
    [],
    'asks every five minutes whether it may go on listening',
    'account.devices',
    async (world) => {
      const mine = await world.member('mine');
      await world.signIn(mine);
      return mine.visitor.delete('/user/sessions');
    },
  ),
];

export const eventChecks: Check[] = [...messageEventChecks, ...otherEventChecks];
