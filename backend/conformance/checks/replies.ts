import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Check, checksOf, Deviation, expectThat, shown, tolerated, Untried } from '../check.ts';
import { expectFields, idOf, Message, recordOf, Suggestion } from '../entities.ts';
import { pathOf, type Visitor } from '../visitor.ts';
import {
  announcedRules,
  conversationIdOf,
  expectBalance,
  ORDERED_SUGGESTIONS,
  ownLine,
  sendMessage,
  spentBy,
  type World,
} from '../world.ts';

const SUGGESTION_TIMEOUT_MS = 60_000;

async function reportedReply(world: World) {
  const { id, visitor } = await world.conversation();
  const reply = (await world.settled(visitor, id)).find(({ role }) => role === 'assistant');
  return { visitor, reply, path: pathOf`/messages/${idOf(reply)}/report` };
}

export const reportChecks = checksOf('POST /v1/messages/{id}/report', {
  'takes a report of a reply, and a second one without a word': tolerated(async (world) => {
    await world.assertAnnounced('messages.report');
    const { visitor, reply, path } = await reportedReply(world);
    const report = (reporter: Visitor) => reporter.post(path, { reason: 'other' });
    for (const answer of [await report(visitor), await report(visitor)])
      expectFields('the answer', answer.expectSuccess().entity, { message_id: reply?.id, reason: 'other' });
    (await report(world.theirs)).expectStatus(403, 404);
  }, 'thanks for any success'),
  'refuses an unknown reason (422)': tolerated(async (world) => {
    const { visitor, path } = await reportedReply(world);
    (await visitor.post(path, { reason: 'dull' })).expectFieldErrors('reason');
  }, 'sends the reasons that it offers'),
});

export const replyChecks: Check[] = [
  ...checksOf('POST /v1/messages/continue', {
    'goes on in the same message, under the next revision': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const before = await world.lastMessage(visitor, id);
      const content = { conversation_id: id, message_id: before.id, client_id: randomUUID() };
      const answer = (await visitor.postOnce('/messages/continue', content)).expectSuccess();
      const { message } = answer.entity;
      Message.expectReadable(message);
      const { revision } = recordOf(message);
      expectThat(idOf(message) === idOf(before) && revision === Number(before.revision) + 1, answer);
      await expectBalance(visitor, answer);
      const after = await world.lastMessage(visitor, id);
      const isLonger = String(after.body).startsWith(String(before.body)) && after.body !== before.body;
      expectThat(after.status === 'completed' && isLonger, after);
    }, 'shows the conversation as the server has it'),
    'takes the price that the rules name, once for a key': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const price = (await announcedRules(visitor)).continue_price;
      if (price === undefined) return;
      const content = { conversation_id: id, client_id: randomUUID() };
      const go = () => visitor.postOnce('/messages/continue', content);
      const spent = await spentBy(world, async () => {
        (await go()).expectSuccess();
        await world.settled(visitor, id);
        await go();
        await world.settled(visitor, id);
      });
      expectThat(spent.balance === price && spent.ledger === price, `a price of ${price}: ${shown(spent)}`);
    }, 'shows the price of the rules before, and the balance as it then is'),
  }),
  ...checksOf('POST /v1/messages/{id}/cancel', {
    'answers a reply that has ended as it is': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const before = await world.lastMessage(visitor, id);
      const answer = (await visitor.post(pathOf`/messages/${idOf(before)}/cancel`, {})).expectSuccess();
      const { message } = answer.entity;
      Message.expectReadable(message);
      const { status, body } = recordOf(message);
      expectThat(status === before.status && body === before.body, answer);
      await expectBalance(visitor, answer);
    }, 'shows the reply as the server has it'),
    'stops a reply that is being written, and keeps it from growing': tolerated(async (world) => {
      const [, story_id] = await world.stories();
      const { answer } = await sendMessage(world.theirs, { story_id });
      const reply = recordOf(answer.entity.reply);
      if (answer.status > 299 || idOf(reply) === '') throw new Untried('no reply is being written');
      const stop = (revision: number) => world.theirs.post(pathOf`/messages/${idOf(reply)}/cancel`, { revision });
      const other = (await stop(Number(reply.revision) + 1)).expectSuccess();
      expectThat(recordOf(other.entity.message).status !== 'cancelled', 'another revision was stopped');
      const stopped = (await stop(Number(reply.revision))).expectSuccess();
      const { status, body } = recordOf(stopped.entity.message);
      if (status === 'completed') throw new Untried('the reply was written too fast');
      expectThat(status === 'cancelled', stopped);
      const after = await world.lastMessage(world.theirs, conversationIdOf(answer));
      expectThat(after.status === 'cancelled' && after.body === body, after);
    }, 'shows the reply growing on until it ends'),
  }),
  ...checksOf('POST /v1/messages/{id}/regenerate', {
    'writes the last reply another way, in the same message and as a further text of it': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const before = await world.lastMessage(visitor, id);
      const path = pathOf`/messages/${idOf(before)}/regenerate`;
      const content = { client_id: randomUUID() };
      const answer = (await visitor.postOnce(path, content)).expectSuccess();
      await expectBalance(visitor, answer);
      const { message } = answer.entity;
      Message.expectReadable(message);
      const { revision, variant, variants } = recordOf(message);
      expectThat(idOf(message) === idOf(before) && Number(revision) > Number(before.revision), answer);
      expectThat(variant === variants && Number(variants) === Number(before.variants) + 1, answer);
      const after = await world.lastMessage(visitor, id);
      expectThat(after.status === 'completed' && after.body !== before.body, after);
      (await visitor.postOnce(path, content)).expectSuccess();
      expectFields('the reply of a repeated key', await world.lastMessage(visitor, id), { variants, revision });
    }, 'shows the conversation as the server has it'),
  }),
  ...checksOf('POST /v1/messages/{id}/variant', {
    'shows a former text of the last reply again': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const before = await world.lastMessage(visitor, id);
      if (Number(before.variants) < 2) throw new Untried('no reply has a second text');
      const answer = await visitor.post(pathOf`/messages/${idOf(before)}/variant`, { variant: 1 });
      answer.expectSuccess();
      const { variant, body } = recordOf(answer.entity.message);
      expectThat(variant === 1 && body !== before.body, answer);
      const after = await world.lastMessage(visitor, id);
      expectThat(after.body === body && Number(after.version) > Number(before.version), after);
    }, 'shows the reply as the server has it'),
  }),
  ...checksOf('POST /v1/messages/{id}/edit', {
    'gives a line other words and has it answered again, in the place of what followed': tolerated(async (world) => {
      const { visitor, conversationId, messages, line, edit } = await ownLine(world);
      const last_seq = messages.at(-1)?.seq;
      const content = { body: '换了话', revision: line.revision, last_seq, client_id: randomUUID() };
      const answer = (await edit(content)).expectSuccess();
      await expectBalance(visitor, answer);
      const { message, reply } = answer.entity;
      Message.expectReadable(message, reply);
      expectThat(idOf(message) === idOf(line) && recordOf(message).body === '换了话', answer);
      const after = await world.settled(visitor, conversationId);
      expectThat(after.length === messages.length, `${after.length} messages where there were ${messages.length}`);
      expectThat(idOf(after.at(-1)) === idOf(reply), after.at(-1));
      const repeated = (await edit(content)).expectSuccess().entity;
      expectFields('the reply of a repeated key', repeated.reply, { id: recordOf(reply).id });
    }, 'shows the conversation as the server has it'),
    'gives the new end of the conversation to a client that catches up': tolerated(async (world) => {
      const { visitor, conversationId, line, edit } = await ownLine(world);
      const version = Number(line.version);
      (await edit({ body: '又换了话' })).expectSuccess();
      await world.settled(visitor, conversationId);
      const search = new URLSearchParams({ conversation_id: conversationId, after: String(version) });
      const { meta, items } = await visitor.get(`/messages/latest?${search}`);
      const newest = Math.max(...items.map(({ seq }) => Number(seq)));
      expectThat(meta.last_seq === newest, meta);
    }, 'shows what is gone on a device that missed the event, until the chat is opened again'),
    'refuses where the conversation has gone on past last_seq or revision (409)': tolerated(async (world) => {
      const { visitor, conversationId, line, edit } = await ownLine(world);
      (await edit({ body: '先换了话' })).expectSuccess();
      await world.settled(visitor, conversationId);
      for (const seen of [{ last_seq: line.seq }, { revision: line.revision }]) {
        const answer = (await edit({ body: '没看见后面', ...seen })).expectStatus(409);
        expectThat(recordOf(answer.body).code === 'conversation_changed', answer);
      }
    }, 'cuts off what the reader has not seen yet'),
  }),
  ...checksOf('POST /v1/messages/suggestion', {
    'takes the order (202)': tolerated(async (world) => {
      const answer = (await world.suggestionOrder()).expectSuccess();
      Suggestion.expectReadable(answer.entity);
      Suggestion.expectAgreed(answer.entity);
      answer.expectStatus(202);
    }, 'takes any success for one'),
  }),
  ...checksOf('GET /v1/messages/suggestion/{id}', {
    'has suggestions in the end': tolerated(async (world) => {
      const id = await world.suggestionId();
      const giveUpAt = Date.now() + SUGGESTION_TIMEOUT_MS;
      for (;;) {
        const suggestion = (await world.mine.get(pathOf`/messages/suggestion/${id}`)).expectStatus(200);
        Suggestion.expectReadable(suggestion.entity);
        const { status, items } = suggestion.entity;
        if (status === 'ready') {
          Suggestion.expectAgreed(suggestion.entity);
          expectFields('Suggestion', suggestion.entity, { conversation_id: (await world.conversation()).id });
          const texts = Array.isArray(items) ? items.map((item) => String(recordOf(item).text).trim()) : [];
          const isFit = texts.length > 0 && texts.length <= ORDERED_SUGGESTIONS && !texts.includes('');
          return expectThat(isFit && new Set(texts).size === texts.length, suggestion);
        }
        if (status === 'failed' || Date.now() > giveUpAt) throw new Deviation(shown(suggestion));
        await pause(500);
      }
    }, 'says after a minute that no reply came'),
  }),
  ...checksOf('POST /v1/messages/suggestion', {
    'takes the price that the rules name, once for a key': tolerated(async (world) => {
      const { id: conversation_id, visitor } = await world.conversation();
      await world.suggestionId();
      const price = (await announcedRules(visitor)).suggestion_price;
      if (price === undefined) return;
      const order = { conversation_id, client_id: randomUUID() };
      const spent = await spentBy(world, async () => {
        for (let time = 0; time < 2; time += 1) (await visitor.postOnce('/messages/suggestion', order)).expectSuccess();
      });
      expectThat(spent.balance === price && spent.ledger === price, `a price of ${price}: ${shown(spent)}`);
    }, 'shows the price of the rules before, and the balance as it then is'),
  }),
];
