import { expect, test } from '@rstest/core';
import { conversationDto, messageDto, messageEvent } from '../fixtures';
import {
  type Conversation,
  type ConversationPage,
  conversationsOf,
  mergeDto,
  merging,
  toConversationPage,
  withConversation,
  withLastMessage,
  withMarks,
  withNewestPage,
  withoutConversation,
  withThread,
} from './conversation';
import { emptyThread, toPage, withNewest } from './thread';

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`;
const pageOf = (hours: number[], next: string | null = 'next'): ConversationPage =>
  toConversationPage({
    items: hours.map((hour) => conversationDto({ id: `c-${hour}`, updated_at: at(hour) })),
    nextCursor: next,
  });
const ids = (pages: ConversationPage[]) => conversationsOf(pages).map(({ id }) => id);

test('pages that overlap list each conversation once, the latest first', () => {
  expect(ids([pageOf([9, 8]), pageOf([8, 7])])).toEqual(['c-9', 'c-8', 'c-7']);
});

test.each(['2026-11-20T08:00:00.000Z', undefined])(
  'conversations of one moment, %s, stay in the server’s order',
  (updated_at) => {
    const items = ['c', 'a', 'b'].map((id) =>
      conversationDto({ id, updated_at, last_message: null, created_at: undefined }),
    );
    expect(ids([toConversationPage({ items, nextCursor: null })])).toEqual(['c', 'a', 'b']);
  },
);

test('a story whose title shows nothing has a placeholder', () => {
  const items = [conversationDto({ story: { id: 's-1', title: '' } }), conversationDto({ story: { id: 's-2' } })];
  expect(toConversationPage({ items, nextCursor: null }).items.map(({ title }) => title)).toEqual(['无题', '无题']);
});

test('a last message of which nothing is visible has a placeholder in its row', () => {
  const message = messageDto({ version: 9, conversation_id: 'c-9', role: 'user', body: '\u200b\u0301' });
  const [row] = conversationsOf(withLastMessage([pageOf([9])], messageEvent(message)) ?? []);
  expect(row?.excerpt).toBe('（内容无法显示）');
});

test('a newest page renews the top, keeps what is older and drops what was deleted in between', () => {
  const listed = [pageOf([9, 8, 7]), pageOf([6, 5])];
  expect(ids(withNewestPage(listed, pageOf([11, 9, 7])))).toEqual(['c-11', 'c-9', 'c-7', 'c-6', 'c-5']);
});

test('a newest page that touches nothing listed, or is all there is, replaces the list', () => {
  expect(ids(withNewestPage([pageOf([3, 2])], pageOf([20, 19])))).toEqual(['c-20', 'c-19']);
  expect(ids(withNewestPage([pageOf([9, 8])], pageOf([9], null)))).toEqual(['c-9']);
});

test('what was put first stands above, joins no pages, and leaves the top when the newest page has it no more', () => {
  const pinned = (hour: number) => {
    const [item] = pageOf([hour]).items;
    return { ...(item as Conversation), pinnedAt: at(12) };
  };
  const first = pageOf([9, 8]);
  const listed = [{ ...first, items: [pinned(2), ...first.items] }, pageOf([7])];
  expect(ids(listed)).toEqual(['c-2', 'c-9', 'c-8', 'c-7']);
  const far = pageOf([20, 19]);
  expect(ids(withNewestPage(listed, { ...far, items: [pinned(2), ...far.items] }))).toEqual(['c-2', 'c-20', 'c-19']);
  expect(ids(withNewestPage(listed, pageOf([10, 9])))).toEqual(['c-10', 'c-9', 'c-8', 'c-7', 'c-2']);
});

test.each([
  [{}, {}],
  [{ unread: true }, { isUnread: true }],
  [{ pinned_at: at(12) }, { pinnedAt: at(12) }],
  [
    { version: 9, last_message: null },
    { version: 9, excerpt: '', isMine: false },
  ],
  [{ story: { id: 's-1', title: '画皮' } }, { title: '画皮', coverUrl: '', coverColor: undefined }],
])('a conversation of which no more than %j comes stays as it was in all else', (dto, change) => {
  const listed = [pageOf([9, 8])];
  const [first] = conversationsOf(listed);
  expect(mergeDto(listed, { id: 'c-9', ...dto })).toEqual({ ...first, ...change });
});

test('a conversation that is not listed, and comes without its story, is nothing to show', () => {
  expect(mergeDto([pageOf([9])], { id: 'c-1' })).toBeUndefined();
  expect(mergeDto([pageOf([9])], conversationDto({ id: 'c-1' }))).toMatchObject({ id: 'c-1', storyId: 's-1' });
});

test('a mark that is behind what has been said since changes the place alone', () => {
  const listed = [pageOf([9, 8])];
  const [, known] = conversationsOf(listed);
  const marked = { ...(known as Conversation), version: 1, excerpt: '旧的', pinnedAt: at(12) };
  const [moved] = conversationsOf(withMarks(listed, marked));
  expect([moved?.id, moved?.excerpt]).toEqual(['c-8', known?.excerpt]);
  const elsewhere = { ...marked, id: 'c-1' };
  expect(ids(withMarks(listed, elsewhere))).toEqual(['c-1', 'c-9', 'c-8']);
  expect(ids(withMarks(listed, { ...elsewhere, pinnedAt: '' }))).toEqual(['c-9', 'c-8']);
});

test('a list that ended at what the device kept goes on where the newest page does', () => {
  const [first] = withNewestPage([pageOf([9, 8, 7], null)], pageOf([11, 9], 'p2'));
  expect(first?.nextCursor).toBe('p2');
  expect(ids([first ?? pageOf([]), pageOf([8, 7, 6])])).toEqual(['c-11', 'c-9', 'c-8', 'c-7', 'c-6']);
  const whole = withNewestPage([pageOf([9, 8], 'own'), pageOf([7], null)], pageOf([11, 9], 'p2'));
  expect(whole.map(({ nextCursor }) => nextCursor)).toEqual(['own', null]);
});

test('an event with an older version changes nothing; one about a conversation not listed says so', () => {
  const listed = [pageOf([9])];
  const old = messageEvent(messageDto({ conversation_id: 'c-9', version: 1, body: '旧的' }));
  expect(withLastMessage(listed, old)).toBe(listed);
  expect(withLastMessage(listed, messageEvent(messageDto({ conversation_id: 'c-1' })))).toBeUndefined();
});

test.each([9, 7])('an answer with a version far too high hides no later event of conversation %i', (hour) => {
  const dto = conversationDto({ id: `c-${hour}`, version: 1_790_000_000_000 });
  const listed = merging(withConversation, dto)([pageOf([9, 8])]);
  const heard = messageEvent(messageDto({ conversation_id: `c-${hour}`, version: 3, body: '是风。' }));
  const shown = conversationsOf(withLastMessage(listed, heard) ?? []);
  expect(shown.find(({ id }) => id === dto.id)?.excerpt).toBe('是风。');
});

test.each([
  [2, 1_790_000_000_000],
  [1_790_000_000_000, 3],
])('a listed version %i and that of an event, %i, ask for the newest page', (version, named) => {
  const listed = [toConversationPage({ items: [conversationDto({ version })], nextCursor: null })];
  expect(withLastMessage(listed, messageEvent(messageDto({ version: named })))).toBeUndefined();
});

test('a list without versions applies an event of a long conversation', () => {
  const { version: _, ...dto } = conversationDto();
  const listed = [toConversationPage({ items: [dto], nextCursor: null })];
  const event = messageEvent(messageDto({ version: 4_000, body: '是风。' }));
  expect(conversationsOf(withLastMessage(listed, event) ?? [])[0]?.excerpt).toBe('是风。');
});

test('a reply too long for its event asks for the newest page', () => {
  const { body, ...cut } = messageDto({ conversation_id: 'c-9', version: 9 });
  const event = { ...messageEvent(cut), truncated: true };
  expect(withLastMessage([pageOf([9])], event)).toBeUndefined();
  expect(withLastMessage([pageOf([9])], messageEvent({ ...cut, version: 1 }))).toBeDefined();
});

test('a reply that has only begun leaves the line before it', () => {
  const begun = messageEvent(messageDto({ conversation_id: 'c-9', version: 9, body: '', status: 'pending' }));
  const [first] = conversationsOf(withLastMessage([pageOf([9])], begun) ?? []);
  expect(first).toMatchObject({ version: 9, excerpt: '她提着灯，在门外站了许久。' });
});

test('an idle thread brings its last words into the list, without marks', () => {
  const message = messageDto({ conversation_id: 'c-9', seq: 4, version: 4, body: '*她笑了。*\n“走吧。”' });
  const thread = withNewest(
    emptyThread('s-1'),
    toPage({ data: [message], meta: { conversation_id: 'c-9', version: 4 } }),
  );
  expect(conversationsOf(withThread([pageOf([9])], thread))[0]).toMatchObject({
    excerpt: '她笑了。 “走吧。”',
    version: 4,
  });
});

test('a conversation that has begun goes on top, a deleted one goes', () => {
  const [begun] = conversationsOf([pageOf([12])]);
  if (!begun) throw new Error('the page holds one');
  expect(ids(withConversation([pageOf([9])], begun))).toEqual(['c-12', 'c-9']);
  const late = { ...begun, id: 'c-9', version: 3, excerpt: '', updatedAt: at(1) };
  const [first] = conversationsOf(withConversation([pageOf([9, 8])], late));
  expect(first).toMatchObject({ id: 'c-9', excerpt: '', updatedAt: at(9) });
  const ahead = withConversation([pageOf([9, 8])], { ...late, version: 5 });
  expect(withConversation(ahead, late)).toBe(ahead);
  expect(ids(withoutConversation([pageOf([9, 8])], 'c-9'))).toEqual(['c-8']);
});
