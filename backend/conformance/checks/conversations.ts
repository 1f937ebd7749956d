import { randomUUID } from 'node:crypto';
import { checksOf, expectStatus, expectSuccess, expectThat, shown, shownValue, Untried } from '../check.ts';
import { Conversation, expectAgreed, expectReadable, idOf, pageOf, recordOf, unwrap } from '../entities.ts';
import { conversationIdOf, sendMessage } from '../world.ts';
import { ascending, ownLine } from './ownConversation.ts';

const conversationChecks = checksOf('GET /v1/conversations', [
  {
    name: 'lists the conversation with its story',
    async run(world) {
      const { id, storyId, visitor } = await world.conversation();
      const answer = await visitor.get('/conversations');
      expectStatus(answer, 200);
      const { items } = pageOf(answer.body);
      for (const conversation of items) expectReadable(Conversation, conversation);
      const listedConversation = items.find((conversation) => idOf(conversation) === id);
      expectThat(idOf(listedConversation?.story) === storyId, () => shown(answer));
    },
  },
  {
    name: 'tells everything of it, of its story and of its last message',
    otherwise: 'lists it without what it is not told',
    async run(world) {
      const { id, visitor } = await world.conversation();
      const { items } = pageOf((await visitor.get('/conversations')).body);
      expectAgreed(
        Conversation,
        items.find((item) => idOf(item) === id),
      );
    },
  },
]);

const lastMessageChecks = checksOf('GET /v1/conversations', [
  {
    name: 'names the message that was said last',
    otherwise: 'shows the words that the list has',
    async run(world) {
      const { id, visitor } = await world.conversation();
      const last = (await world.settled(visitor, id)).at(-1);
      const { items } = pageOf((await visitor.get('/conversations')).body);
      const { last_message } = items.find((item) => idOf(item) === id) ?? {};
      expectThat(idOf(last_message) === idOf(last), () => `${shownValue(last_message)} instead of ${idOf(last)}`);
    },
  },
]);

const restartChecks = checksOf('POST /v1/conversations/{id}/restart', [
  {
    name: 'takes away all that was said and keeps the conversation',
    otherwise: 'shows the conversation as the server has it',
    async run(world) {
      const { visitor, conversationId } = await ownLine(world);
      const path = `/conversations/${encodeURIComponent(conversationId)}/restart`;
      const answer = await visitor.post(path, { client_id: randomUUID() });
      expectSuccess(answer);
      const conversation = unwrap(answer.body);
      expectReadable(Conversation, conversation);
      expectThat(idOf(conversation) === conversationId && conversation.last_seq === 0, () => shown(answer));
      const latestAnswer = await visitor.get(`/messages/latest?conversation_id=${encodeURIComponent(conversationId)}`);
      expectStatus(latestAnswer, 200);
      const { meta } = recordOf(latestAnswer.body);
      expectThat(pageOf(latestAnswer.body).items.length === 0 && recordOf(meta).last_seq === 0, () =>
        shown(latestAnswer),
      );
    },
  },
]);

const searchChecks = checksOf('GET /v1/conversations?q', [
  {
    name: 'finds a conversation by the title of its story, and none for words that nobody said',
    otherwise: 'shows what the server finds',
    async run(world) {
      await world.assertAnnounced('conversations.search');
      const { id, visitor } = await world.conversation();
      const listedConversation = pageOf((await visitor.get('/conversations')).body).items.find(
        (item) => idOf(item) === id,
      );
      const title = String(recordOf(listedConversation?.story).title);
      const search = async (words: string) => {
        const answer = await visitor.get(`/conversations?q=${encodeURIComponent(words)}`);
        expectStatus(answer, 200);
        return pageOf(answer.body).items.map(idOf);
      };
      expectThat((await search(title)).includes(id), `nothing for ${title}`);
      const wildcardHits = await search('%_无人说过的话');
      expectThat(wildcardHits.length === 0, `${wildcardHits.length} conversations for words that nobody said`);
    },
  },
]);

const messageSearchChecks = [
  ...checksOf('GET /v1/messages/search', [
    {
      name: 'tells where words were said, in the order of seq, and how often',
      otherwise: 'steps through the hits of the answer',
      async run(world) {
        await world.assertAnnounced('messages.search');
        const { id, sent, visitor } = await world.conversation();
        const find = async (q: string) => {
          const answer = await visitor.get(`/messages/search?${new URLSearchParams({ conversation_id: id, q })}`);
          expectStatus(answer, 200);
          return { seqs: pageOf(answer.body).items.map(({ seq }) => Number(seq)), answer };
        };
        const { seqs, answer } = await find(String(sent.content.body));
        expectThat(seqs.includes(1) && ascending(seqs), () => shown(answer));
        expectThat(recordOf(recordOf(answer.body).meta).total === seqs.length, () => shown(answer));
        const wildcardHits = await find('%_无人说过的话');
        expectThat(wildcardHits.seqs.length === 0, () => shown(wildcardHits.answer));
      },
    },
  ]),
  ...checksOf('GET /v1/messages/days', [
    {
      name: 'tells the first message of each day',
      otherwise: 'offers the days of the answer',
      async run(world) {
        const { id, visitor } = await world.conversation();
        const answer = await visitor.get(`/messages/days?conversation_id=${encodeURIComponent(id)}`);
        expectStatus(answer, 200);
        const days = pageOf(answer.body).items;
        expectThat(days.at(-1)?.seq === 1 && typeof days.at(-1)?.created_at === 'string', () => shown(answer));
      },
    },
  ]),
];

const markChecks = checksOf('PUT /v1/conversations/{id}', [
  {
    name: 'takes a reply that has ended for unread until a device has seen it',
    otherwise: 'shows the dots of the answer',
    async run(world) {
      await world.assertAnnounced('conversations.unread');
      const { id, visitor } = await world.conversation();
      const loadConversation = async () =>
        pageOf((await visitor.get('/conversations')).body).items.find((item) => idOf(item) === id);
      const before = await loadConversation();
      expectThat(before?.unread === true, () => `unread ${String(before?.unread)} before it was read`);
      const form = { read_version: before?.version };
      const answer = await visitor.put(`/conversations/${encodeURIComponent(id)}`, form);
      expectStatus(answer, 200);
      expectReadable(Conversation, unwrap(answer.body));
      const after = await loadConversation();
      expectThat(after?.unread === false, () => `unread ${String(after?.unread)} afterwards`);
      expectThat(after?.updated_at === before?.updated_at, 'reading has moved it in the list');
    },
  },
  {
    name: 'puts a conversation first and takes it back',
    otherwise: 'shows the order of the answer',
    async run(world) {
      await world.assertAnnounced('conversations.pin');
      const { id, visitor } = await world.conversation();
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
      await world.assertAnnounced('conversations.runs');
      const { id, visitor } = await world.conversation();
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

const deletionChecks = checksOf('DELETE /v1/conversations/{id}', [
  {
    name: 'takes the conversation away, from the list and from its story',
    otherwise: 'believes any success until it next fetches the list',
    async run(world) {
      const { visitor } = await world.member('theirs');
      const [story_id] = await world.stories();
      const { answer } = await sendMessage(visitor, { story_id });
      const id = conversationIdOf(answer);
      if (answer.status > 299) throw new Untried('no conversation could be made to delete');
      expectSuccess(await visitor.delete(`/conversations/${encodeURIComponent(id)}`));
      const listedIds = pageOf((await visitor.get('/conversations')).body).items.map(idOf);
      expectThat(!listedIds.includes(id), 'it is still listed');
      const latestAnswer = await visitor.get(`/messages/latest?story_id=${encodeURIComponent(story_id)}`);
      expectThat(pageOf(latestAnswer.body).items.length === 0, 'its messages are still told');
      expectStatus(await visitor.delete(`/conversations/${encodeURIComponent(id)}`), 404, 204, 200);
    },
  },
]);

export const listChecks = [
  ...conversationChecks,
  ...lastMessageChecks,
  ...searchChecks,
  ...markChecks,
  ...messageSearchChecks,
];

/** Checks that delete messages or conversations. */
export const endingChecks = [...restartChecks, ...deletionChecks];
