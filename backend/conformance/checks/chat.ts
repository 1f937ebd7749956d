import { randomUUID } from 'node:crypto';
import { isBusy } from '@liaozhai/shared/contract';
import { type Check, checksOf, expectThat, shown, tolerated, Untried } from '../check.ts';
import { Conversation, expectFields, idOf, LatestMeta, Message, recordOf } from '../entities.ts';
import { pathOf } from '../visitor.ts';
import { ascending, conversationIdOf, currentUser, latest, sendMessage, spentBy } from '../world.ts';
import { endingChecks, listChecks } from './conversations.ts';
import { replyChecks, reportChecks } from './replies.ts';

const isSorted = (figures: number[]) => figures.every((figure, at) => at === 0 || figure >= Number(figures[at - 1]));

const CLOCKS_APART_MS = 5 * 60_000;
/** Text that filters, escaping or narrow columns would change. */
const ODD_WORDS = '“<b>你</b>”&amp;  \\n 👻 ＡＢＣ\n第二行';

export const chatChecks: Check[] = [
  ...checksOf('POST /v1/messages', {
    async 'begins a conversation with the first message'(world) {
      const { answer } = await world.firstMessage();
      answer.expectSuccess();
      const { message, reply } = answer.entity;
      Message.expectReadable(message);
      if (reply != null) Message.expectReadable(reply);
      expectThat(conversationIdOf(answer) !== '', `${shown(answer)}, which names no conversation`);
    },
    async 'has the reply written in the end'(world) {
      const { answer } = await world.firstMessage();
      const id = conversationIdOf(answer.orUntried('no message could be sent'));
      const messages = await world.settled(world.mine, id);
      const reply = messages.find(({ role }) => role === 'assistant');
      expectThat(reply?.status === 'completed' && reply.body !== '', reply);
    },
    'answers 201 with {message, reply, conversation, balance}': tolerated(async (world) => {
      const { answer } = await world.firstMessage();
      answer.expectStatus(201);
      const sent = answer.entity;
      Conversation.expectReadable(sent.conversation);
      const missing = ['message', 'reply', 'conversation', 'balance'].filter((field) => sent[field] === undefined);
      expectThat(missing.length === 0, `an answer without ${missing.join(', ')}`);
    }, 'reads what is there, and asks messages/latest for the rest'),
    'gives every field of a message and of its reply': tolerated(async (world) => {
      const { message, reply } = (await world.firstMessage()).answer.entity;
      Message.expectAgreed(message, reply);
    }, 'leaves out what is missing'),
    'describes message, reply and conversation alike': tolerated(async (world) => {
      const { answer, content } = await world.firstMessage();
      const { message, reply, conversation } = answer.entity;
      const place = { conversation_id: conversationIdOf(answer), story_id: content.story_id };
      const { body, client_id } = content;
      expectFields('message', message, { ...place, role: 'user', body, client_id });
      if (conversation != null) expectFields('story', recordOf(conversation).story, { id: content.story_id });
      if (reply == null) return;
      expectFields('reply', reply, { ...place, role: 'assistant' });
      expectThat(ascending([message, reply].map((line) => Number(recordOf(line).seq))), answer);
    }, 'shows what the answer says until messages/latest says otherwise'),
    'takes the price off the balance of GET /v1/user': tolerated(async (world) => {
      const { visitor, id } = await world.member('mine');
      await world.conversation();
      const { answer } = await world.firstMessage();
      const { balance } = await currentUser(visitor);
      const newBalance = answer.entity.balance;
      expectThat(balance === newBalance, `${newBalance} with the message, ${balance} with the user ${id}`);
    }, 'shows the balance received last'),
    'takes the price that the story names, once, and says so in cost and ledger': tolerated(async (world) => {
      const { id, storyId, visitor } = await world.conversation();
      const story = (await visitor.get(pathOf`/stories/${storyId}`)).entity;
      const content = { conversation_id: id, body: '多少钱？', client_id: randomUUID() };
      const spent = await spentBy(world, async () => {
        const { answer } = await sendMessage(visitor, content);
        answer.expectSuccess();
        await world.settled(visitor, id);
        await sendMessage(visitor, content);
      });
      const cost = (await world.settled(visitor, id)).at(-1)?.cost;
      const amounts = { balance: spent.balance, ledger: spent.ledger, cost };
      const isRight = Object.values(amounts).every((figure) => figure === story.price_per_message);
      expectThat(isRight, `a price of ${story.price_per_message}: ${shown(amounts)}`);
    }, 'shows the price of the story before a message, and the balance as it then is'),
    'refuses what costs more than its reader was shown, where it announces messages.price': tolerated(async (world) => {
      if (!(await world.announces('messages.price'))) return;
      const { id: conversation_id, visitor } = await world.conversation();
      const spent = await spentBy(world, async () => {
        for (const path of ['/messages', '/messages/continue', '/messages/suggestion']) {
          const content = { conversation_id, body: '不要钱吧？', client_id: randomUUID(), price: 0 };
          const answer = (await visitor.postOnce(path, content)).expectStatus(409);
          const { code, price, rules } = recordOf(answer.body);
          expectThat(code === 'price_changed' && Number(price) > 0 && rules != null, answer);
        }
      });
      expectThat(spent.balance === 0, spent);
    }, 'shows the new price after it was paid'),
    'dates what it sends by the clock of its answers': tolerated(async (world) => {
      const { answer } = await world.firstMessage();
      const { created_at } = recordOf(answer.entity.message);
      const offsetMs = Date.parse(String(created_at)) - Date.parse(answer.headers.get('date') ?? '');
      const isWithinLimit = Math.abs(offsetMs) < CLOCKS_APART_MS;
      expectThat(isWithinLimit, `created_at ${created_at} in an answer of ${answer.headers.get('date')}`);
    }, 'counts hours and days from the clock of the answers: new messages are hours old, or ahead'),
    'keeps the words exactly as they were sent': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const { answer, content } = await sendMessage(visitor, { conversation_id: id, body: ODD_WORDS });
      answer.expectSuccess();
      const answeredBody = recordOf(answer.entity.message).body;
      const messages = await world.settled(visitor, id);
      const storedBody = messages.find(({ client_id }) => client_id === content.client_id)?.body;
      for (const body of [answeredBody, storedBody]) expectThat(body === ODD_WORDS, shown(body));
    }, 'shows what the server kept instead of what the reader wrote'),
    'answers a repeated key and body as before, also two in parallel, and carries it out once': tolerated(
      async (world) => {
        const { sent, id, visitor } = await world.conversation();
        const messagesBefore = await world.settled(visitor, id);
        const repeatedSendings = await Promise.all([1, 2].map(() => sendMessage(visitor, sent.content)));
        const messagesAfter = await world.settled(visitor, id);
        for (const { answer } of repeatedSendings) {
          answer.expectSuccess();
          const [first, repeated] = [sent.answer, answer].map(({ entity }) => idOf(entity.message));
          expectThat(first === repeated, `message ${repeated} after message ${first}`);
        }
        const [count, countBefore] = [messagesAfter.length, messagesBefore.length];
        expectThat(count === countBefore, `${count} messages where there were ${countBefore}`);
      },
      'asks messages/latest before it sends a message again, so that only a second device could double it',
    ),
    'refuses a used key with other words (422)': tolerated(async (world) => {
      const { sent, id, visitor } = await world.conversation();
      const { answer } = await sendMessage(visitor, { ...sent.content, body: '换了话' });
      await world.settled(visitor, id);
      answer.expectStatus(422);
    }, 'never gives two messages one key'),
    'refuses a second message while a reply is being written (409 with a busy code)': tolerated(async (world) => {
      const [, story_id] = await world.stories();
      const first = await sendMessage(world.theirs, { story_id });
      first.answer.expectSuccess();
      const { answer } = await sendMessage(world.theirs, { conversation_id: conversationIdOf(first.answer) });
      const page = await world.theirs.get(pathOf`/messages/latest?story_id=${story_id}`);
      const isRunning = ({ role, status }: Record<string, unknown>) => role === 'assistant' && status !== 'completed';
      const wasRunning = page.items.some(isRunning);
      await world.settled(world.theirs, conversationIdOf(first.answer));
      if (answer.status < 300 && !wasRunning) throw new Untried('the reply was written too fast');
      answer.expectStatus(409);
      const code = String(recordOf(answer.body).code);
      expectThat(isBusy({ kind: 'conflict', code }), answer);
      const reply = recordOf(first.answer.entity.reply);
      if (wasRunning && idOf(reply) !== '') expectFields('meta', page.meta, { active_message_id: reply.id });
    }, 'waits for the end of a reply itself, on one device'),
    'refuses 2,001 characters, and none, with 422 at body': tolerated(async (world) => {
      const [story_id] = await world.stories();
      for (const body of ['长'.repeat(2_001), ''])
        (await sendMessage(world.mine, { story_id, body })).answer.expectFieldErrors('body');
    }, 'does not send them'),
    'refuses a body of 66,000 bytes (413 or 422)': tolerated(async (world) => {
      const [story_id] = await world.stories();
      (await sendMessage(world.mine, { story_id, body: 'x'.repeat(66_000) })).answer.expectStatus(413, 422);
    }, 'does not send one'),
    'has 404 for a missing story': tolerated(async (world) => {
      (await sendMessage(world.mine, { story_id: 'no-such-story' })).answer.expectStatus(404);
    }, 'keeps the message and shows the server’s words at it'),
  }),
  ...checksOf('GET /v1/messages/latest', {
    async 'gives a conversation by its id and by its story, in the order of seq'(world) {
      const { items, seqs } = await latest(world);
      Message.expectReadable(...items);
      expectThat(items.length >= 2 && ascending(seqs), `seqs ${seqs.join()}`);
      const { storyId, visitor } = await world.conversation();
      const byStory = await visitor.get(pathOf`/messages/latest?story_id=${storyId}`);
      byStory.expectStatus(200);
      const ids = byStory.items.map(idOf).join();
      expectThat(ids === items.map(idOf).join(), `messages ${ids} by its story`);
    },
    async 'is an empty page for a story without a conversation'(world) {
      const [story_id] = await world.stories();
      const answer = await world.spare.get(pathOf`/messages/latest?story_id=${story_id}`);
      answer.expectStatus(200);
      expectThat(answer.items.length === 0 && answer.meta.conversation_id == null, answer);
    },
    'gives every field of the messages, and the version they have': tolerated(async (world) => {
      const { items, meta } = await latest(world);
      LatestMeta.expectAgreed(meta);
      Message.expectAgreed(...items);
    }, 'leaves out what is missing'),
    'describes in meta, and in order of time, the messages that it gives': tolerated(async (world) => {
      const { id, items, meta } = await latest(world);
      const last_seq = items.at(-1)?.seq;
      expectFields('meta', meta, { conversation_id: id, last_seq, active_message_id: null, has_more: false });
      const versions = items.map(({ version }) => Number(version));
      expectThat(Math.max(...versions) <= Number(meta.version), `versions ${versions.join()} at ${meta.version}`);
      const dates = items.map(({ created_at }) => String(created_at));
      expectThat(isSorted(dates.map(Date.parse)), dates);
      const odd = items.find(
        ({ variant = 1, variants = 1, revision }) => Number(variant) > Number(variants) || revision === 0,
      );
      expectThat(odd === undefined, odd);
    }, 'believes meta: it misses changes, or fetches them again'),
    'numbers messages without gaps': tolerated(async (world) => {
      const { seqs } = await latest(world);
      const hasNoGap = seqs.every((seq, index) => seq === Number(seqs[0]) + index);
      expectThat(hasNoGap, `seqs ${seqs.join()}`);
    }, 'shows them in the order of what numbers there are'),
    'brings the client_id of one’s own messages back': tolerated(async (world) => {
      const { sent } = await world.conversation();
      const { items } = await latest(world);
      const clientIds = items.map(({ client_id }) => client_id);
      expectThat(clientIds.includes(sent.content.client_id), items[0]);
    }, 'cannot tell whether a message arrived whose answer was lost: it offers to send it again'),
    'gives the later changes, and only those, for after=version': tolerated(async (world) => {
      const { meta } = await latest(world);
      const { items } = await latest(world, { after: Number(meta.version) });
      expectThat(items.length === 0, `${items.length} messages after version ${meta.version}`);
      const [since, all] = [await latest(world, { after: 0 }), await latest(world)];
      const ids = (items: Record<string, unknown>[]) => items.map(idOf).sort().join();
      expectThat(ids(since.items) === ids(all.items), `${since.items.length} of ${all.items.length} since version 0`);
      const versions = since.items.map(({ version }) => Number(version));
      expectThat(isSorted(versions), `versions ${versions.join()}`);
    }, 'merges what it knows already; each look costs the whole conversation'),
    'pages backwards by limit and before, and says whether there is more': tolerated(async (world) => {
      const { seqs } = await latest(world);
      let page = await latest(world, { limit: 1 });
      for (const [index, seq] of seqs.toReversed().entries()) {
        const isFirst = index === seqs.length - 1;
        expectThat(page.seqs.join() === String(seq), `seqs ${page.seqs.join()} instead of ${seq}`);
        expectThat(page.meta.has_more === !isFirst, `has_more ${String(page.meta.has_more)} at seq ${seq}`);
        if (!isFirst) page = await latest(world, { limit: 1, before: seq });
      }
    }, 'shows what comes: without limit the whole conversation in one page'),
  }),
  ...replyChecks,
  ...listChecks,
  ...reportChecks,
  ...endingChecks,
];
