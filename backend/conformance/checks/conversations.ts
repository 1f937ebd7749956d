import { randomUUID } from 'node:crypto';
import { type Check, checksOf, expectThat, shown, tolerated } from '../check.ts';
import { Conversation, expectFields, idOf, recordOf } from '../entities.ts';
import { pathOf } from '../visitor.ts';
import {
  ascending,
  conversationIdOf,
  currentUser,
  latest,
  listedConversation,
  listOf,
  ownLine,
  sendMessage,
} from '../world.ts';

/** Checks that delete messages or conversations. */
export const endingChecks: Check[] = [
  ...checksOf('POST /v1/conversations/{id}/restart', {
    'takes away all that was said and keeps the conversation': tolerated(async (world) => {
      const { visitor, conversationId } = await ownLine(world);
      const path = pathOf`/conversations/${conversationId}/restart`;
      const answer = (await visitor.post(path, { client_id: randomUUID() })).expectSuccess();
      const conversation = answer.entity;
      Conversation.expectReadable(conversation);
      expectThat(idOf(conversation) === conversationId && conversation.last_seq === 0, answer);
      const latestAnswer = await visitor.get(pathOf`/messages/latest?conversation_id=${conversationId}`);
      latestAnswer.expectStatus(200);
      expectThat(latestAnswer.items.length === 0 && latestAnswer.meta.last_seq === 0, latestAnswer);
    }, 'shows the conversation as the server has it'),
  }),
  ...checksOf('DELETE /v1/conversations/{id}', {
    'takes the conversation away, from the list and from its story': tolerated(async (world) => {
      const [story_id] = await world.stories();
      const { answer } = await sendMessage(world.theirs, { story_id });
      const id = conversationIdOf(answer.orUntried('no conversation could be made to delete'));
      (await world.theirs.delete(pathOf`/conversations/${id}`)).expectSuccess();
      const listedIds = (await listOf(world.theirs, '/conversations')).map(idOf);
      expectThat(!listedIds.includes(id), 'it is still listed');
      const messages = await listOf(world.theirs, pathOf`/messages/latest?story_id=${story_id}`);
      expectThat(messages.length === 0, 'its messages are still sent');
      (await world.theirs.delete(pathOf`/conversations/${id}`)).expectStatus(404, 204, 200);
    }, 'believes any success until it next fetches the list'),
  }),
];

export const listChecks: Check[] = [
  ...checksOf('GET /v1/conversations', {
    async 'lists the conversation with its story'(world) {
      const { id, storyId, visitor } = await world.conversation();
      const answer = (await visitor.get('/conversations')).expectStatus(200);
      const { items } = answer.page;
      Conversation.expectReadable(...items);
      const listed = items.find((conversation) => idOf(conversation) === id);
      expectThat(idOf(listed?.story) === storyId, answer);
    },
    'gives every field of it, of its story and of its last message': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      Conversation.expectAgreed(await listedConversation(visitor, id));
    }, 'lists it without what is missing'),
    'names the message that was said last': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const last = await world.lastMessage(visitor, id);
      const listed = await listedConversation(visitor, id);
      const { last_message } = listed ?? {};
      expectThat(idOf(last_message) === idOf(last), `${shown(last_message)} instead of ${idOf(last)}`);
      const { excerpt } = recordOf(last_message);
      const [body, beginning] = [last.body, excerpt].map((words) => String(words).replace(/[\s*…]+/g, ''));
      expectThat(body?.startsWith(beginning?.slice(0, 8) ?? '') === true, last_message);
      const { version } = (await latest(world)).meta;
      expectFields('conversation', listed, { last_seq: last.seq, version, active_message_id: null });
    }, 'shows the words that the list has'),
    'lists the conversation last used first': tolerated(async (world) => {
      const ids: string[] = [];
      for (const story_id of await world.stories()) {
        const { answer } = await sendMessage(world.theirs, { story_id });
        const id = conversationIdOf(answer.orUntried('no message could be sent'));
        ids.unshift(id);
        await world.settled(world.theirs, id);
      }
      const listedIds = (await listOf(world.theirs, '/conversations')).map(idOf).filter((id) => ids.includes(id));
      expectThat(listedIds.join() === ids.join(), `${listedIds.join()} instead of ${ids.join()}`);
    }, 'sorts the rows by updated_at'),
  }),
  ...checksOf('GET /v1/conversations?q', {
    'finds a conversation by the title of its story, and none for words that nobody said': tolerated(async (world) => {
      await world.assertAnnounced('conversations.search');
      const { id, visitor } = await world.conversation();
      const listed = await listedConversation(visitor, id);
      const title = String(recordOf(listed?.story).title);
      const search = async (words: string) =>
        (await visitor.get(pathOf`/conversations?q=${words}`)).expectStatus(200).items.map(idOf);
      expectThat((await search(title)).includes(id), `nothing for ${title}`);
      const wildcardHits = await search('%_无人说过的话');
      expectThat(wildcardHits.length === 0, `${wildcardHits.length} conversations for words that nobody said`);
    }, 'shows what the server finds'),
  }),
  ...checksOf('PUT /v1/conversations/{id}', {
    'takes a reply that has ended for unread until a device has seen it': tolerated(async (world) => {
      await world.assertAnnounced('conversations.unread');
      const { id, visitor } = await world.conversation();
      const before = await listedConversation(visitor, id);
      expectThat(before?.unread === true, `unread ${String(before?.unread)} before it was read`);
      const unread = (await listOf(visitor, '/conversations')).filter((listed) => listed.unread === true);
      const { unread_conversations = unread.length } = await currentUser(visitor);
      const counts = `${unread_conversations} with the user, ${unread.length} listed`;
      expectThat(unread_conversations === unread.length, counts);
      const form = { read_version: before?.version };
      const answer = (await visitor.put(pathOf`/conversations/${id}`, form)).expectStatus(200);
      Conversation.expectReadable(answer.entity);
      const after = await listedConversation(visitor, id);
      expectThat(after?.unread === false, `unread ${String(after?.unread)} afterwards`);
      expectThat(after?.updated_at === before?.updated_at, 'reading has moved it in the list');
    }, 'shows the dots of the answer'),
    'puts a conversation first and takes it back': tolerated(async (world) => {
      await world.assertAnnounced('conversations.pin');
      const { id, visitor } = await world.conversation();
      for (const pinned of [true, false]) {
        const answer = (await visitor.put(pathOf`/conversations/${id}`, { pinned })).expectStatus(200);
        expectThat((answer.entity.pinned_at != null) === pinned, answer);
        const [first] = await listOf(visitor, '/conversations');
        const isPinned = idOf(first) === id && typeof first?.pinned_at === 'string';
        expectThat(isPinned === pinned, first);
      }
    }, 'shows the order of the answer'),
    'shelves a run of a story, and takes it up again': tolerated(async (world) => {
      await world.assertAnnounced('conversations.runs');
      const { id, visitor } = await world.conversation();
      const story_id = idOf((await listedConversation(visitor, id))?.story);
      for (const shelved of [true, false]) {
        (await visitor.put(pathOf`/conversations/${id}`, { shelved })).expectStatus(200);
        const run = await listedConversation(visitor, id);
        expectThat(run?.shelved === shelved, `shelved ${String(!shelved)} afterwards`);
        const messages = await listOf(visitor, pathOf`/messages/latest?story_id=${story_id}`);
        const isEmpty = messages.length === 0;
        expectThat(isEmpty === shelved, `messages/latest ${isEmpty ? 'lacks' : 'still has'} its messages`);
        const runs = await listOf(visitor, pathOf`/conversations?story_id=${story_id}`);
        expectThat(runs.map(idOf).includes(id), 'it is not among the runs of its story');
      }
    }, 'shows the run that the server names'),
    async 'has 404 for another’s'(world) {
      const { id } = await world.conversation();
      (await world.theirs.put(pathOf`/conversations/${id}`, { read_version: 1 })).expectStatus(404);
    },
  }),
  ...checksOf('GET /v1/messages/search', {
    'gives where words were said, in the order of seq, and how often': tolerated(async (world) => {
      await world.assertAnnounced('messages.search');
      const { id, sent, visitor } = await world.conversation();
      const find = async (q: string) => {
        const answer = await visitor.get(`/messages/search?${new URLSearchParams({ conversation_id: id, q })}`);
        answer.expectStatus(200);
        return { seqs: answer.items.map(({ seq }) => Number(seq)), answer };
      };
      const { seqs, answer } = await find(String(sent.content.body));
      expectThat(seqs.includes(1) && ascending(seqs), answer);
      for (const place of answer.items) expectFields('place', place, { conversation_id: id });
      expectThat(answer.meta.total === seqs.length, answer);
      const wildcardHits = await find('%_无人说过的话');
      expectThat(wildcardHits.seqs.length === 0, wildcardHits.answer);
    }, 'steps through the hits of the answer'),
  }),
  ...checksOf('GET /v1/messages/days', {
    'gives the first message of each day': tolerated(async (world) => {
      const { id, visitor } = await world.conversation();
      const answer = (await visitor.get(pathOf`/messages/days?conversation_id=${id}`)).expectStatus(200);
      const days = answer.items;
      expectThat(days.at(-1)?.seq === 1 && typeof days.at(-1)?.created_at === 'string', answer);
    }, 'offers the days of the answer'),
  }),
];
