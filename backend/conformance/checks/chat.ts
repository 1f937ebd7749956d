import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '@liaozhai/shared/contract';
import {
  checksOf,
  Deviation,
  expectFieldErrors,
  expectStatus,
  expectSuccess,
  expectThat,
  shown,
  shownValue,
  Untried,
} from '../check.ts';
import {
  Conversation,
  expectAgreed,
  expectReadable,
  idOf,
  LatestMeta,
  Message,
  pageOf,
  recordOf,
  Suggestion,
  unwrapped,
} from '../entities.ts';
import { conversationIdOf, say, type World } from '../world.ts';

const SUGGESTION_TIMEOUT_MS = 60_000;
const CLOCKS_APART_MS = 5 * 60_000;
/** What filters, escaping and narrow columns change. */
const ODD_WORDS = '“<b>你</b>”&amp;  \\n 👻 ＡＢＣ\n第二行';

const messages = checksOf('POST /v1/messages', [
  {
    name: 'begins a conversation with the first message',
    async run(world) {
      const { answer } = await world.firstMessage();
      expectSuccess(answer);
      const { message, reply } = unwrapped(answer.body);
      expectReadable(Message, message);
      if (reply != null) expectReadable(Message, reply);
      expectThat(conversationIdOf(answer) !== '', () => `${shown(answer)}, which names no conversation`);
    },
  },
  {
    name: 'has the reply written in the end',
    async run(world) {
      const { answer } = await world.firstMessage();
      if (answer.status > 299) throw new Untried('no message could be sent');
      const written = await world.settled((await world.member('mine')).visitor, conversationIdOf(answer));
      const reply = written.find(({ role }) => role === 'assistant');
      expectThat(reply?.status === 'completed' && reply.body !== '', () => shownValue(reply));
    },
  },
  {
    name: 'answers 201 with {message, reply, conversation, balance}',
    otherwise: 'reads what is there, and asks messages/latest for the rest',
    async run(world) {
      const { answer } = await world.firstMessage();
      expectStatus(answer, 201);
      const told = unwrapped(answer.body);
      expectReadable(Conversation, told.conversation);
      const missing = ['message', 'reply', 'conversation', 'balance'].filter((field) => told[field] === undefined);
      expectThat(missing.length === 0, `an answer without ${missing.join(', ')}`);
    },
  },
  {
    name: 'tells everything of a message and of its reply',
    otherwise: 'leaves out what it is not told',
    async run(world) {
      const { message, reply } = unwrapped((await world.firstMessage()).answer.body);
      expectAgreed(Message, message);
      expectAgreed(Message, reply);
    },
  },
  {
    name: 'takes the price off the balance that GET /v1/user tells',
    otherwise: 'shows whichever was told last',
    async run(world) {
      const { visitor, id } = await world.member('mine');
      await world.conversation();
      const { answer } = await world.firstMessage();
      const { balance } = unwrapped((await visitor.get('/user')).body);
      const told = unwrapped(answer.body).balance;
      expectThat(balance === told, () => `${told} with the message, ${balance} with the user ${id}`);
    },
  },
  {
    name: 'takes the price that the story names, once, and says so in cost and ledger',
    otherwise: 'shows the price of the story before a message, and the balance as it then is',
    async run(world) {
      const { id, storyId } = await world.conversation();
      const { visitor } = await world.member('mine');
      const story = unwrapped((await visitor.get(`/stories/${encodeURIComponent(storyId)}`)).body);
      const content = { conversation_id: id, body: '多少钱？', client_id: randomUUID() };
      const spent = await spentBy(world, async () => {
        const { answer } = await say(visitor, content);
        expectSuccess(answer);
        await world.settled(visitor, id);
        await say(visitor, content);
      });
      const cost = (await world.settled(visitor, id)).at(-1)?.cost;
      const told = { balance: spent.balance, ledger: spent.ledger, cost };
      const isRight = Object.values(told).every((figure) => figure === story.price_per_message);
      expectThat(isRight, () => `a price of ${story.price_per_message}: ${shownValue(told)}`);
    },
  },
  {
    name: 'dates what it sends by the clock of its answers',
    otherwise: 'counts hours and days from the clock of the answers: new messages are hours old, or ahead',
    async run(world) {
      const { answer } = await world.firstMessage();
      const { created_at } = recordOf(unwrapped(answer.body).message);
      const apart = Date.parse(String(created_at)) - Date.parse(answer.headers.get('date') ?? '');
      const isNear = Math.abs(apart) < CLOCKS_APART_MS;
      expectThat(isNear, () => `created_at ${created_at} in an answer of ${answer.headers.get('date')}`);
    },
  },
  {
    name: 'keeps the words exactly as they were sent',
    otherwise: 'shows what the server kept instead of what the reader wrote',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const { answer, content } = await say(visitor, { conversation_id: id, body: ODD_WORDS });
      expectSuccess(answer);
      const told = recordOf(unwrapped(answer.body).message).body;
      const kept = (await world.settled(visitor, id)).find(({ client_id }) => client_id === content.client_id)?.body;
      for (const body of [told, kept]) expectThat(body === ODD_WORDS, () => shownValue(body));
    },
  },
  {
    name: 'answers a repeated key and body as before, also two at once, and carries it out once',
    otherwise: 'asks messages/latest before it sends a message again, so that only a second device could double it',
    async run(world) {
      const { sent, id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const before = await world.settled(visitor, id);
      const again = await Promise.all([say(visitor, sent.content), say(visitor, sent.content)]);
      const after = await world.settled(visitor, id);
      for (const { answer } of again) {
        expectSuccess(answer);
        const [first, repeated] = [sent.answer, answer].map(({ body }) => idOf(unwrapped(body).message));
        expectThat(first === repeated, `message ${repeated} after message ${first}`);
      }
      expectThat(after.length === before.length, `${after.length} messages where there were ${before.length}`);
    },
  },
  {
    name: 'refuses a used key with other words (422)',
    otherwise: 'never gives two messages one key',
    async run(world) {
      const { sent, id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const { answer } = await say(visitor, { ...sent.content, body: '换了话' });
      await world.settled(visitor, id);
      expectStatus(answer, 422);
    },
  },
  {
    name: 'refuses a second message while a reply is being written (409 with a busy code)',
    otherwise: 'waits for the end of a reply itself, on one device',
    async run(world) {
      const { visitor } = await world.member('theirs');
      const [, story_id] = await world.stories();
      const first = await say(visitor, { story_id });
      expectSuccess(first.answer);
      const { answer } = await say(visitor, { conversation_id: conversationIdOf(first.answer) });
      const page = await visitor.get(`/messages/latest?story_id=${encodeURIComponent(story_id)}`);
      const isRunning = ({ role, status }: Record<string, unknown>) => role === 'assistant' && status !== 'completed';
      const wasRunning = pageOf(page.body).items.some(isRunning);
      await world.settled(visitor, conversationIdOf(first.answer));
      if (answer.status < 300 && !wasRunning) throw new Untried('the reply was written too fast');
      expectStatus(answer, 409);
      const code = String(recordOf(answer.body).code);
      expectThat(isBusy({ kind: 'conflict', code }), () => shown(answer));
    },
  },
  {
    name: 'refuses 2,001 characters, and none, with 422 at body',
    otherwise: 'does not send them',
    async run(world) {
      const { visitor } = await world.member('mine');
      const [story_id] = await world.stories();
      for (const body of ['长'.repeat(2_001), ''])
        expectFieldErrors((await say(visitor, { story_id, body })).answer, 'body');
    },
  },
  {
    name: 'refuses a body of 66,000 bytes (413 or 422)',
    otherwise: 'does not send one',
    async run(world) {
      const { visitor } = await world.member('mine');
      const [story_id] = await world.stories();
      expectStatus((await say(visitor, { story_id, body: 'x'.repeat(66_000) })).answer, 413, 422);
    },
  },
  {
    name: 'has 404 for a story that is none',
    otherwise: 'keeps the message and shows the server’s words at it',
    async run(world) {
      const { visitor } = await world.member('mine');
      expectStatus((await say(visitor, { story_id: 'no-such-story' })).answer, 404);
    },
  },
]);

/** By how many points the balance of `mine` fell, and what its ledger says of it. */
async function spentBy(world: World, act: () => Promise<unknown>): Promise<{ balance: number; ledger: number }> {
  const { visitor } = await world.member('mine');
  const look = async () => {
    const rows = pageOf((await visitor.get('/transactions')).body).items;
    return { balance: Number(unwrapped((await visitor.get('/user')).body).balance), rows };
  };
  const before = await look();
  await act();
  const after = await look();
  const known = new Set(before.rows.map(idOf));
  const added = after.rows.filter((row) => !known.has(idOf(row)));
  return {
    balance: before.balance - after.balance,
    ledger: added.reduce((sum, { amount }) => sum - Number(amount), 0),
  };
}

/** The conversation of `mine` as `messages/latest` tells it. */
async function latest(world: World, query: Record<string, string | number> = {}) {
  const { id } = await world.conversation();
  const { visitor } = await world.member('mine');
  const search = new URLSearchParams({ conversation_id: id, ...stringed(query) });
  const answer = await visitor.get(`/messages/latest?${search}`);
  expectStatus(answer, 200);
  const { items } = pageOf(answer.body);
  return { id, items, meta: recordOf(recordOf(answer.body).meta), seqs: items.map(({ seq }) => Number(seq)) };
}

const stringed = (query: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));

const ascending = (seqs: number[]) => seqs.every((seq, index) => index === 0 || seq > Number(seqs[index - 1]));

const reading = checksOf('GET /v1/messages/latest', [
  {
    name: 'tells a conversation by its id and by its story, in the order of seq',
    async run(world) {
      const { items, seqs } = await latest(world);
      for (const message of items) expectReadable(Message, message);
      expectThat(items.length >= 2 && ascending(seqs), `seqs ${seqs.join()}`);
      const { storyId } = await world.conversation();
      const { visitor } = await world.member('mine');
      const byStory = await visitor.get(`/messages/latest?story_id=${encodeURIComponent(storyId)}`);
      expectStatus(byStory, 200);
      const ids = pageOf(byStory.body).items.map(idOf).join();
      expectThat(ids === items.map(idOf).join(), `messages ${ids} by its story`);
    },
  },
  {
    name: 'is an empty page for a story without a conversation',
    async run(world) {
      const { visitor } = await world.member('spare');
      const [story_id] = await world.stories();
      const answer = await visitor.get(`/messages/latest?story_id=${encodeURIComponent(story_id)}`);
      expectStatus(answer, 200);
      const { meta } = recordOf(answer.body);
      expectThat(pageOf(answer.body).items.length === 0, () => shown(answer));
      expectThat(recordOf(meta).conversation_id == null, () => shown(answer));
    },
  },
  {
    name: 'tells everything of the messages, and how far it tells',
    otherwise: 'leaves out what it is not told',
    async run(world) {
      const { items, meta } = await latest(world);
      expectAgreed(LatestMeta, meta);
      for (const message of items) expectAgreed(Message, message);
    },
  },
  {
    name: 'numbers messages without gaps',
    otherwise: 'shows them in the order of what numbers there are',
    async run(world) {
      const { seqs } = await latest(world);
      expectThat(
        seqs.every((seq, index) => seq === Number(seqs[0]) + index),
        `seqs ${seqs.join()}`,
      );
    },
  },
  {
    name: 'brings the client_id of one’s own messages back',
    otherwise: 'cannot tell whether a message arrived whose answer was lost: it offers to send it again',
    async run(world) {
      const { sent } = await world.conversation();
      const { items } = await latest(world);
      expectThat(
        items.some(({ client_id }) => client_id === sent.content.client_id),
        () => shownValue(items[0]),
      );
    },
  },
  {
    name: 'tells after=version only what came since',
    otherwise: 'merges what it knows already; each look costs the whole conversation',
    async run(world) {
      const { meta } = await latest(world);
      const { items } = await latest(world, { after: Number(meta.version) });
      expectThat(items.length === 0, `${items.length} messages after version ${meta.version}`);
      const [since, all] = [await latest(world, { after: 0 }), await latest(world)];
      const ids = (items: Record<string, unknown>[]) => items.map(idOf).sort().join();
      expectThat(ids(since.items) === ids(all.items), `${since.items.length} of ${all.items.length} since version 0`);
    },
  },
  {
    name: 'pages backwards by limit and before, and says whether there is more',
    otherwise: 'shows what comes: without limit the whole conversation at once',
    async run(world) {
      const { seqs } = await latest(world);
      let page = await latest(world, { limit: 1 });
      for (const [index, seq] of seqs.toReversed().entries()) {
        const isFirst = index === seqs.length - 1;
        expectThat(page.seqs.join() === String(seq), `seqs ${page.seqs.join()} instead of ${seq}`);
        expectThat(page.meta.has_more === !isFirst, `has_more ${String(page.meta.has_more)} at seq ${seq}`);
        if (!isFirst) page = await latest(world, { limit: 1, before: seq });
      }
    },
  },
]);

const resuming = checksOf('POST /v1/messages/continue', [
  {
    name: 'goes on in the same message, under the next revision',
    otherwise: 'shows whatever the conversation has become',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const before = (await world.settled(visitor, id)).at(-1) ?? {};
      const content = { conversation_id: id, message_id: before.id, client_id: randomUUID() };
      const answer = await visitor.post('/messages/continue', content, { 'Idempotency-Key': content.client_id });
      expectSuccess(answer);
      const { message } = unwrapped(answer.body);
      expectReadable(Message, message);
      const { revision } = recordOf(message);
      expectThat(idOf(message) === idOf(before) && revision === Number(before.revision) + 1, () => shown(answer));
      const after = (await world.settled(visitor, id)).at(-1) ?? {};
      const isLonger = String(after.body).startsWith(String(before.body)) && after.body !== before.body;
      expectThat(after.status === 'completed' && isLonger, () => shownValue(after));
    },
  },
]);

const resumingPrice = checksOf('POST /v1/messages/continue', [
  {
    name: 'takes the price that the rules name, once for a key',
    otherwise: 'shows the price of the rules before, and the balance as it then is',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const { rules } = recordOf((await visitor.get('/capabilities')).body);
      const price = recordOf(rules).continue_price;
      if (price === undefined) return;
      const content = { conversation_id: id, client_id: randomUUID() };
      const go = () => visitor.post('/messages/continue', content, { 'Idempotency-Key': content.client_id });
      const spent = await spentBy(world, async () => {
        expectSuccess(await go());
        await world.settled(visitor, id);
        await go();
        await world.settled(visitor, id);
      });
      expectThat(spent.balance === price && spent.ledger === price, () => `a price of ${price}: ${shownValue(spent)}`);
    },
  },
]);

const stopping = checksOf('POST /v1/messages/{id}/cancel', [
  {
    name: 'answers a reply that has ended as it is',
    otherwise: 'shows whatever the reply has become',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const before = (await world.settled(visitor, id)).at(-1) ?? {};
      const answer = await visitor.post(`/messages/${encodeURIComponent(idOf(before))}/cancel`, {});
      expectSuccess(answer);
      const { message } = unwrapped(answer.body);
      expectReadable(Message, message);
      const { status, body } = recordOf(message);
      expectThat(status === before.status && body === before.body, () => shown(answer));
    },
  },
  {
    name: 'stops a reply that is being written, and keeps it from growing',
    otherwise: 'shows the reply growing on until it ends',
    async run(world) {
      const { visitor } = await world.member('theirs');
      const [, story_id] = await world.stories();
      const { answer } = await say(visitor, { story_id });
      const reply = recordOf(unwrapped(answer.body).reply);
      if (answer.status > 299 || idOf(reply) === '') throw new Untried('no reply is being written');
      const stopped = await visitor.post(`/messages/${encodeURIComponent(idOf(reply))}/cancel`, { revision: 1 });
      expectSuccess(stopped);
      const { status, body } = recordOf(unwrapped(stopped.body).message);
      if (status === 'completed') throw new Untried('the reply was written too fast');
      expectThat(status === 'cancelled', () => shown(stopped));
      const after = (await world.settled(visitor, conversationIdOf(answer))).at(-1) ?? {};
      expectThat(after.status === 'cancelled' && after.body === body, () => shownValue(after));
    },
  },
]);

const retelling = [
  ...checksOf('POST /v1/messages/{id}/regenerate', [
    {
      name: 'tells the last reply another way, in the same message and as a further text of it',
      otherwise: 'shows whatever the conversation has become',
      async run(world) {
        const { id } = await world.conversation();
        const { visitor } = await world.member('mine');
        const before = (await world.settled(visitor, id)).at(-1) ?? {};
        const path = `/messages/${encodeURIComponent(idOf(before))}/regenerate`;
        const client_id = randomUUID();
        const answer = await visitor.post(path, { client_id }, { 'Idempotency-Key': client_id });
        expectSuccess(answer);
        const { message } = unwrapped(answer.body);
        expectReadable(Message, message);
        const { revision, variant, variants } = recordOf(message);
        expectThat(idOf(message) === idOf(before) && Number(revision) > Number(before.revision), () => shown(answer));
        expectThat(variant === variants && Number(variants) === Number(before.variants) + 1, () => shown(answer));
        const after = (await world.settled(visitor, id)).at(-1) ?? {};
        expectThat(after.status === 'completed' && after.body !== before.body, () => shownValue(after));
      },
    },
  ]),
  ...checksOf('POST /v1/messages/{id}/variant', [
    {
      name: 'shows a former text of the last reply again',
      otherwise: 'shows whatever the reply has become',
      async run(world) {
        const { id } = await world.conversation();
        const { visitor } = await world.member('mine');
        const before = (await world.settled(visitor, id)).at(-1) ?? {};
        if (Number(before.variants) < 2) throw new Untried('no reply has a second text');
        const answer = await visitor.post(`/messages/${encodeURIComponent(idOf(before))}/variant`, { variant: 1 });
        expectSuccess(answer);
        const { variant, body } = recordOf(unwrapped(answer.body).message);
        expectThat(variant === 1 && body !== before.body, () => shown(answer));
        const after = (await world.settled(visitor, id)).at(-1) ?? {};
        expectThat(after.body === body && Number(after.version) > Number(before.version), () => shownValue(after));
      },
    },
  ]),
];

/** An answered line of `theirs`, by whom it can be edited. */
async function ownLine(world: World) {
  const { visitor } = await world.member('theirs');
  const [, story_id] = await world.stories();
  const { answer } = await say(visitor, { story_id });
  if (answer.status > 299) throw new Untried('no message could be sent');
  const conversationId = conversationIdOf(answer);
  const written = await world.settled(visitor, conversationId);
  const line = written.findLast(({ role }) => role === 'user') ?? {};
  const edit = (content: object) => {
    const client_id = randomUUID();
    const path = `/messages/${encodeURIComponent(idOf(line))}/edit`;
    return visitor.post(path, { client_id, ...content }, { 'Idempotency-Key': client_id });
  };
  return { visitor, conversationId, written, line, edit };
}

const editing = checksOf('POST /v1/messages/{id}/edit', [
  {
    name: 'gives a line other words and has it answered anew, in the place of what followed',
    otherwise: 'shows whatever the conversation has become',
    async run(world) {
      const { visitor, conversationId, written, line, edit } = await ownLine(world);
      const last_seq = written.at(-1)?.seq;
      const answer = await edit({ body: '换了话', revision: line.revision, last_seq });
      expectSuccess(answer);
      const { message, reply } = unwrapped(answer.body);
      expectReadable(Message, message);
      expectReadable(Message, reply);
      expectThat(idOf(message) === idOf(line) && recordOf(message).body === '换了话', () => shown(answer));
      const after = await world.settled(visitor, conversationId);
      expectThat(after.length === written.length, `${after.length} messages where there were ${written.length}`);
      expectThat(idOf(after.at(-1)) === idOf(reply), () => shownValue(after.at(-1)));
    },
  },
  {
    name: 'tells those who catch up where the conversation ends now',
    otherwise: 'shows what is gone on a device that missed the event, until the chat is opened anew',
    async run(world) {
      const { visitor, conversationId, line, edit } = await ownLine(world);
      const version = Number(line.version);
      expectSuccess(await edit({ body: '又换了话' }));
      await world.settled(visitor, conversationId);
      const search = new URLSearchParams({ conversation_id: conversationId, after: String(version) });
      const { body } = await visitor.get(`/messages/latest?${search}`);
      const newest = Math.max(...pageOf(body).items.map(({ seq }) => Number(seq)));
      expectThat(recordOf(recordOf(body).meta).last_seq === newest, () => shownValue(recordOf(body).meta));
    },
  },
  {
    name: 'refuses where the conversation has gone on past last_seq (409)',
    otherwise: 'cuts off what the reader has not seen yet',
    async run(world) {
      const { line, edit } = await ownLine(world);
      expectStatus(await edit({ body: '没看见后面', last_seq: line.seq }), 409);
    },
  },
]);

const suggesting = [
  ...checksOf('POST /v1/messages/suggestion', [
    {
      name: 'takes the order (202)',
      otherwise: 'takes any success for one',
      async run(world) {
        const answer = await world.suggestionOrder();
        expectSuccess(answer);
        expectReadable(Suggestion, unwrapped(answer.body));
        expectAgreed(Suggestion, unwrapped(answer.body));
        expectStatus(answer, 202);
      },
    },
  ]),
  ...checksOf('GET /v1/messages/suggestion/{id}', [
    {
      name: 'has suggestions in the end',
      otherwise: 'says after a minute that none came',
      async run(world) {
        const id = await world.suggestionId();
        const { visitor } = await world.member('mine');
        const giveUpAt = Date.now() + SUGGESTION_TIMEOUT_MS;
        for (;;) {
          const asked = await visitor.get(`/messages/suggestion/${encodeURIComponent(id)}`);
          expectStatus(asked, 200);
          expectReadable(Suggestion, unwrapped(asked.body));
          const { status, items } = unwrapped(asked.body);
          if (status === 'ready') {
            expectAgreed(Suggestion, unwrapped(asked.body));
            return expectThat(Array.isArray(items) && items.length > 0, () => shown(asked));
          }
          if (status === 'failed' || Date.now() > giveUpAt) throw new Deviation(shown(asked));
          await pause(500);
        }
      },
    },
  ]),
];

const conversations = checksOf('GET /v1/conversations', [
  {
    name: 'lists the conversation with its story',
    async run(world) {
      const { id, storyId } = await world.conversation();
      const answer = await (await world.member('mine')).visitor.get('/conversations');
      expectStatus(answer, 200);
      const { items } = pageOf(answer.body);
      for (const conversation of items) expectReadable(Conversation, conversation);
      const listed = items.find((conversation) => idOf(conversation) === id);
      expectThat(idOf(listed?.story) === storyId, () => shown(answer));
    },
  },
  {
    name: 'tells everything of it, of its story and of its last message',
    otherwise: 'lists it without what it is not told',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const { items } = pageOf((await visitor.get('/conversations')).body);
      expectAgreed(
        Conversation,
        items.find((item) => idOf(item) === id),
      );
    },
  },
]);

const lastWords = checksOf('GET /v1/conversations', [
  {
    name: 'names the message that was said last',
    otherwise: 'shows the words that the list has',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const last = (await world.settled(visitor, id)).at(-1);
      const { items } = pageOf((await visitor.get('/conversations')).body);
      const { last_message } = items.find((item) => idOf(item) === id) ?? {};
      expectThat(idOf(last_message) === idOf(last), () => `${shownValue(last_message)} instead of ${idOf(last)}`);
    },
  },
]);

const restarting = checksOf('POST /v1/conversations/{id}/restart', [
  {
    name: 'takes away all that was said and keeps the conversation',
    otherwise: 'shows whatever the conversation has become',
    async run(world) {
      const { visitor, conversationId } = await ownLine(world);
      const path = `/conversations/${encodeURIComponent(conversationId)}/restart`;
      const answer = await visitor.post(path, { client_id: randomUUID() });
      expectSuccess(answer);
      const conversation = unwrapped(answer.body);
      expectReadable(Conversation, conversation);
      expectThat(idOf(conversation) === conversationId && conversation.last_seq === 0, () => shown(answer));
      const left = await visitor.get(`/messages/latest?conversation_id=${encodeURIComponent(conversationId)}`);
      expectStatus(left, 200);
      const { meta } = recordOf(left.body);
      expectThat(pageOf(left.body).items.length === 0 && recordOf(meta).last_seq === 0, () => shown(left));
    },
  },
]);

const searching = checksOf('GET /v1/conversations?q', [
  {
    name: 'finds a conversation by the title of its story, and none for words that nobody said',
    otherwise: 'shows whatever is found',
    async run(world) {
      await world.announced('conversations.search');
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const listed = pageOf((await visitor.get('/conversations')).body).items.find((item) => idOf(item) === id);
      const title = String(recordOf(listed?.story).title);
      const found = async (words: string) => {
        const answer = await visitor.get(`/conversations?q=${encodeURIComponent(words)}`);
        expectStatus(answer, 200);
        return pageOf(answer.body).items.map(idOf);
      };
      expectThat((await found(title)).includes(id), `nothing for ${title}`);
      const odd = await found('%_无人说过的话');
      expectThat(odd.length === 0, `${odd.length} conversations for words that nobody said`);
    },
  },
]);

const finding = [
  ...checksOf('GET /v1/messages/search', [
    {
      name: 'tells where words were said, in the order of seq, and how often',
      otherwise: 'goes through what it is told',
      async run(world) {
        await world.announced('messages.search');
        const { id, sent } = await world.conversation();
        const { visitor } = await world.member('mine');
        const find = async (q: string) => {
          const answer = await visitor.get(`/messages/search?${new URLSearchParams({ conversation_id: id, q })}`);
          expectStatus(answer, 200);
          return { seqs: pageOf(answer.body).items.map(({ seq }) => Number(seq)), answer };
        };
        const { seqs, answer } = await find(String(sent.content.body));
        expectThat(seqs.includes(1) && ascending(seqs), () => shown(answer));
        expectThat(recordOf(recordOf(answer.body).meta).total === seqs.length, () => shown(answer));
        const odd = await find('%_无人说过的话');
        expectThat(odd.seqs.length === 0, () => shown(odd.answer));
      },
    },
  ]),
  ...checksOf('GET /v1/messages/days', [
    {
      name: 'tells the first message of each day',
      otherwise: 'offers the days that it is told',
      async run(world) {
        const { id } = await world.conversation();
        const { visitor } = await world.member('mine');
        const answer = await visitor.get(`/messages/days?conversation_id=${encodeURIComponent(id)}`);
        expectStatus(answer, 200);
        const days = pageOf(answer.body).items;
        expectThat(days.at(-1)?.seq === 1 && typeof days.at(-1)?.created_at === 'string', () => shown(answer));
      },
    },
  ]),
];

const reporting = checksOf('POST /v1/messages/{id}/report', [
  {
    name: 'takes a report of a reply, and a second one without a word',
    otherwise: 'thanks for any success',
    async run(world) {
      await world.announced('messages.report');
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const reply = (await world.settled(visitor, id)).find(({ role }) => role === 'assistant');
      const report = () => visitor.post(`/messages/${encodeURIComponent(idOf(reply))}/report`, { reason: 'other' });
      for (const answer of [await report(), await report()]) expectSuccess(answer);
      const another = await (await world.member('theirs')).visitor.post(
        `/messages/${encodeURIComponent(idOf(reply))}/report`,
        { reason: 'other' },
      );
      expectStatus(another, 403, 404);
    },
  },
  {
    name: 'refuses a reason that is none (422)',
    otherwise: 'sends the reasons that it offers',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const reply = (await world.settled(visitor, id)).find(({ role }) => role === 'assistant');
      const path = `/messages/${encodeURIComponent(idOf(reply))}/report`;
      expectFieldErrors(await visitor.post(path, { reason: 'dull' }), 'reason');
    },
  },
]);

const marking = checksOf('PUT /v1/conversations/{id}', [
  {
    name: 'takes a reply that has ended for unread until a device has seen it',
    otherwise: 'shows the dots that it is told of',
    async run(world) {
      await world.announced('conversations.unread');
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const one = async () =>
        pageOf((await visitor.get('/conversations')).body).items.find((item) => idOf(item) === id);
      const before = await one();
      expectThat(before?.unread === true, () => `unread ${String(before?.unread)} before it was read`);
      const form = { read_version: before?.version };
      const answer = await visitor.put(`/conversations/${encodeURIComponent(id)}`, form);
      expectStatus(answer, 200);
      expectReadable(Conversation, unwrapped(answer.body));
      const after = await one();
      expectThat(after?.unread === false, () => `unread ${String(after?.unread)} afterwards`);
      expectThat(after?.updated_at === before?.updated_at, 'reading has moved it in the list');
    },
  },
  {
    name: 'puts a conversation first and takes it back',
    otherwise: 'shows the order that it is told',
    async run(world) {
      await world.announced('conversations.pin');
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      for (const pinned of [true, false]) {
        const answer = await visitor.put(`/conversations/${encodeURIComponent(id)}`, { pinned });
        expectStatus(answer, 200);
        const [first] = pageOf((await visitor.get('/conversations')).body).items;
        const isPinned = idOf(first) === id && typeof first?.pinned_at === 'string';
        expectThat(isPinned === pinned, () => shownValue(first));
      }
    },
  },
  {
    name: 'shelves a run of a story, and takes it up again',
    otherwise: 'shows the run that the server names',
    async run(world) {
      await world.announced('conversations.runs');
      const { id } = await world.conversation();
      const { visitor } = await world.member('mine');
      const runOf = async () =>
        pageOf((await visitor.get('/conversations')).body).items.find((item) => idOf(item) === id);
      const story_id = idOf((await runOf())?.story);
      for (const shelved of [true, false]) {
        expectStatus(await visitor.put(`/conversations/${encodeURIComponent(id)}`, { shelved }), 200);
        expectThat((await runOf())?.shelved === shelved, () => `shelved ${String(!shelved)} afterwards`);
        const latest = await visitor.get(`/messages/latest?story_id=${encodeURIComponent(story_id)}`);
        const isEmpty = pageOf(latest.body).items.length === 0;
        expectThat(isEmpty === shelved, () => `messages/latest ${isEmpty ? 'lacks' : 'still has'} its messages`);
        const runs = pageOf((await visitor.get(`/conversations?story_id=${encodeURIComponent(story_id)}`)).body).items;
        expectThat(runs.map(idOf).includes(id), 'it is not among the runs of its story');
      }
    },
  },
  {
    name: 'has 404 for another’s',
    async run(world) {
      const { id } = await world.conversation();
      const { visitor } = await world.member('theirs');
      const answer = await visitor.put(`/conversations/${encodeURIComponent(id)}`, { read_version: 1 });
      expectStatus(answer, 404);
    },
  },
]);

const deletion = checksOf('DELETE /v1/conversations/{id}', [
  {
    name: 'takes the conversation away, from the list and from its story',
    otherwise: 'believes any success, and is told better by the next look at the list',
    async run(world) {
      const { visitor } = await world.member('theirs');
      const [story_id] = await world.stories();
      const { answer } = await say(visitor, { story_id });
      const id = conversationIdOf(answer);
      if (answer.status > 299) throw new Untried('there is none to delete');
      expectSuccess(await visitor.delete(`/conversations/${encodeURIComponent(id)}`));
      const listed = pageOf((await visitor.get('/conversations')).body).items.map(idOf);
      expectThat(!listed.includes(id), 'it is still listed');
      const left = await visitor.get(`/messages/latest?story_id=${encodeURIComponent(story_id)}`);
      expectThat(pageOf(left.body).items.length === 0, 'its messages are still told');
      expectStatus(await visitor.delete(`/conversations/${encodeURIComponent(id)}`), 404, 204, 200);
    },
  },
]);

export const chatChecks = [
  ...messages,
  ...reading,
  ...resuming,
  ...resumingPrice,
  ...stopping,
  ...retelling,
  ...editing,
  ...suggesting,
  ...conversations,
  ...lastWords,
  ...searching,
  ...marking,
  ...finding,
  ...reporting,
  ...restarting,
  ...deletion,
];
