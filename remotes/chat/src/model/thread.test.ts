import type { MessageDto } from '@liaozhai/shared/contract';
import { describe, expect, test } from '@rstest/core';
import { deltaDto, latestDto, messageDto, messageDtos, messageEvent } from '../fixtures';
import { keyOf, toMessage } from './message';
import {
  applyDelta,
  applyEvent,
  emptyThread,
  runningMessage,
  type Thread,
  toPage,
  withChanges,
  withNewest,
  withOlder,
  withResponse,
  withRestart,
} from './thread';

const threadOf = (...messages: Parameters<typeof latestDto>): Thread =>
  withNewest(emptyThread('s-1'), toPage(latestDto(...messages)));
const seqs = (thread: Thread) => thread.messages.map((message) => message.seq);
const running = messageDto({ seq: 2, body: '', status: 'pending' });
const asked = messageDto({ seq: 1, role: 'user', client_id: 'client-1' });

describe('events', () => {
  test('the next version is merged, a known one changes nothing', () => {
    const thread = threadOf([asked]);
    const first = applyEvent(thread, messageEvent(running));
    expect(first.complete).toBe(true);
    expect(seqs(first.thread)).toEqual([1, 2]);
    expect(applyEvent(first.thread, messageEvent(running)).thread).toBe(first.thread);
  });

  test('a missing version asks to catch up, and a late one closes the gap', () => {
    const thread = threadOf([asked]);
    const third = messageDto({ seq: 3, role: 'user' });
    const gap = applyEvent(thread, messageEvent(third));
    expect(gap.complete).toBe(false);
    const closed = applyEvent(gap.thread, messageEvent(messageDto({ seq: 2 })));
    expect(closed.complete).toBe(true);
    expect(closed.thread.version).toBe(3);
    expect(seqs(closed.thread)).toEqual([1, 2, 3]);
  });

  test('a message too long for an event completes with the text the pieces brought, else asks to catch up', () => {
    const { body: _, ...cut } = messageDto({ seq: 2, version: 3, body_length: 2 });
    const thread = threadOf([asked, running]);
    const written = applyDelta(thread, deltaDto({ text: '月色' })).thread;
    const event = { conversation_id: 'c-1', version: 3, truncated: true, message: cut };
    const done = applyEvent(written, event);
    expect(done.complete).toBe(true);
    expect(done.thread.messages.at(-1)).toMatchObject({ status: 'completed', body: '月色' });
    expect(applyEvent(thread, event).complete).toBe(false);
  });

  test.each<[string, Partial<MessageDto>]>([
    ['role', { role: undefined }],
    ['client_id', { client_id: null }],
    ['revision', { revision: undefined }],
    ['version', { version: undefined }],
    ['variant and variants', { variant: undefined, variants: undefined }],
    ['created_at', { created_at: undefined }],
    ['conversation_id', { conversation_id: undefined }],
  ])('a field that an event does not name stays as it was: %s', (_name, missing) => {
    const line = { ...asked, revision: 2, variant: 2, variants: 3, status: 'streaming' };
    const done = { ...line, version: 2, status: 'completed' };
    const { thread, complete } = applyEvent(threadOf([line]), {
      ...messageEvent(done),
      message: { ...done, ...missing },
    });
    expect(thread.messages).toEqual([toMessage(done)]);
    expect(complete).toBe(true);
  });

  test('a text that an event sends as null is fetched, not erased', () => {
    const { thread, complete } = applyEvent(threadOf([asked]), messageEvent({ ...asked, version: 2, body: null }));
    expect(thread.messages[0]?.body).toBe(asked.body);
    expect(complete).toBe(false);
  });

  test('a text that an event of the same reply leaves out is fetched, not erased', () => {
    const written = applyDelta(threadOf([asked, running]), deltaDto({ text: '月色' })).thread;
    const { thread, complete } = applyEvent(
      written,
      messageEvent(messageDto({ seq: 2, version: 3, body: '' })),
      'completed',
    );
    expect(thread.messages.at(-1)?.body).toBe('月色');
    expect(complete).toBe(false);
  });

  test.each(['pending', 'streaming'])('the end of a reply is its end, though its message says %s', (status) => {
    const event = messageEvent(messageDto({ seq: 2, version: 3, status }));
    expect(runningMessage(applyEvent(threadOf([asked, running]), event).thread)).toBeDefined();
    const { thread } = applyEvent(threadOf([asked, running]), event, 'completed');
    expect(thread.messages.at(-1)?.status).toBe('completed');
  });

  test.each([
    [99_999, 3],
    [2, 0],
  ])('the version of an event is that of its message, which says %i and then %i', (first, last) => {
    const begun = { ...messageEvent({ ...running, version: first }), version: 2 };
    const ended = { ...messageEvent(messageDto({ seq: 2, version: last })), version: 3 };
    const { thread } = applyEvent(applyEvent(threadOf([asked]), begun).thread, ended);
    expect(thread.messages.map((message) => message.status)).toEqual(['completed', 'completed']);
  });

  test('a message that moves is not shown twice: an event leaves it in its place, a page moves it', () => {
    const moved = messageDto({ seq: 7, id: running.id, version: 3 });
    const heard = applyEvent(threadOf([asked, running]), messageEvent(moved));
    expect(heard.thread.messages.map(({ seq, status }) => [seq, status])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ]);
    expect(heard.complete).toBe(false);
    expect(seqs(withChanges(heard.thread, toPage(latestDto([moved]))))).toEqual([1, 7]);
  });

  test.each([1, 2, 999])('a new message with the odd seq %i takes no place of another, and a page places it', (seq) => {
    const thread = threadOf([asked, messageDto({ seq: 2 })]);
    const line = messageDto({ seq: 3, role: 'user', body: '请进' });
    const heard = applyEvent(thread, messageEvent({ ...line, seq }));
    expect(heard.thread.messages.slice(0, 2)).toEqual(thread.messages);
    expect(heard.complete).toBe(false);
    const page = toPage(latestDto([line]), true);
    expect(seqs(withChanges(heard.thread, page))).toEqual([1, 2, 3]);
  });

  test.each([0, 3])('variant %i of two leaves the shown one and asks to catch up', (variant) => {
    const reply = messageDto({ seq: 2, variant: 2, variants: 2 });
    const event = messageEvent({ ...reply, version: 3, variant });
    const heard = applyEvent(threadOf([asked, reply]), event);
    expect(heard.thread.messages.at(-1)).toMatchObject({ variant: 2, variants: 2 });
    expect(heard.complete).toBe(false);
    const page = toPage(latestDto([{ ...reply, version: 3, variant: 1 }]));
    expect(withChanges(heard.thread, page).messages.at(-1)?.variant).toBe(1);
  });

  test('a last seq before the message of the same event removes nothing', () => {
    const thread = threadOf([asked, messageDto({ seq: 2 })]);
    const event = { ...messageEvent(messageDto({ seq: 2, version: 3 })), last_seq: 0 };
    expect(seqs(applyEvent(thread, event).thread)).toEqual([1, 2]);
  });

  test.each([
    [0, 1],
    [0, 0],
    [0, undefined],
  ])('variant %i of %s, as a server may number a single text, is no gap', (variant, variants) => {
    const sent = messageEvent(messageDto({ seq: 2, variant, variants }));
    const heard = applyEvent(threadOf([asked]), sent);
    expect(heard).toMatchObject({ complete: true, thread: { version: 2 } });
    expect(heard.thread.messages.at(-1)).toMatchObject({ variant: 1, variants: 1 });
  });

  test('the first message on another device opens the conversation; another story is not our business', () => {
    const opened = applyEvent(emptyThread('s-1'), messageEvent(asked));
    expect(opened.thread.conversationId).toBe('c-1');
    expect(seqs(opened.thread)).toEqual([1]);
    const other = applyEvent(emptyThread('s-2'), messageEvent(asked));
    expect(other).toEqual({ thread: emptyThread('s-2'), complete: true });
  });

  test('an event without a version cannot be trusted to be all', () => {
    expect(applyEvent(threadOf([asked]), { id: 'm-9', conversation_id: 'c-1' }).complete).toBe(false);
  });
});

describe('what some servers leave out or give twice', () => {
  const line = messageDto({ seq: 1, role: 'user', client_id: 'client-1' });

  test('without versions the end of a reply is its end, and nothing from before revives it', () => {
    const growing = messageDto({ seq: 2, version: undefined, status: 'streaming', body: '月色' });
    const ended = { ...growing, status: 'completed' };
    const done = withChanges(threadOf([line, growing]), toPage(latestDto([ended])));
    expect(runningMessage(done)).toBeUndefined();
    expect(withChanges(done, toPage(latestDto([{ ...growing, body: '月色正好' }])))).toBe(done);
  });

  test('a message belongs to the conversation of the request, or of the answer', () => {
    const { conversation_id: _, ...bare } = messageDto({ seq: 2 });
    const asked = toPage(latestDto([line, bare], { conversation_id: 'c-1' }));
    expect(asked.messages.map(({ conversationId }) => conversationId)).toEqual(['c-1', 'c-1']);
    const answered = withResponse(emptyThread('s-1'), 'c-1', { message: bare });
    expect(answered.messages[0]?.conversationId).toBe('c-1');
  });

  test('two messages of one response under one seq are both shown, in its order, and each changes on its own', () => {
    const both = [line, messageDto({ seq: 1, id: 'm-reply', status: 'streaming', body: '' })];
    const thread = threadOf([...both, ...both.map((dto) => ({ ...dto, id: `${dto.id}-2`, seq: 2, version: 2 }))]);
    const ids = ['m-1', 'm-reply', 'm-1-2', 'm-reply-2'];
    expect(thread.messages.map(({ id }) => id)).toEqual(ids);
    const ended = both.map((dto) => ({ ...dto, version: 3, status: 'completed', body: `${dto.id}，说完了。` }));
    const { messages } = ended.reduce((known, dto) => applyEvent(known, messageEvent(dto)).thread, thread);
    expect(messages.map(({ id }) => id)).toEqual(ids);
    expect(messages.slice(0, 2).map(({ body }) => body)).toEqual(['m-1，说完了。', 'm-reply，说完了。']);
  });

  test.each(['', 'client-1'])('the client id %j in every message names one row each', (client_id) => {
    const { messages } = threadOf([line, ...[2, 3, 4].map((seq) => messageDto({ seq, client_id }))]);
    expect(new Set(messages.map(keyOf)).size).toBe(4);
  });
});

describe('pieces of a running reply', () => {
  const thread = threadOf([asked, running]);

  test('follow each other by code points', () => {
    const first = applyDelta(thread, deltaDto({ offset: 0, text: '𠮷月' }));
    const second = applyDelta(first.thread, deltaDto({ offset: 2, text: '正好' }));
    expect(runningMessage(second.thread)).toMatchObject({ body: '𠮷月正好', length: 4, status: 'streaming' });
  });

  test('a known piece is dropped, a missing one asks to catch up', () => {
    const first = applyDelta(thread, deltaDto({ offset: 0, text: '月色' })).thread;
    expect(applyDelta(first, deltaDto({ offset: 0, text: '月' }))).toEqual({ thread: first, complete: true });
    expect(applyDelta(first, deltaDto({ offset: 4, text: '好' })).complete).toBe(false);
    expect(applyDelta(first, deltaDto({ revision: 2, offset: 2, text: '好' })).complete).toBe(false);
  });

  test('a poll never takes back what pieces brought', () => {
    const written = applyDelta(thread, deltaDto({ offset: 0, text: '月色' })).thread;
    const stale = toPage(latestDto([{ ...running, status: 'streaming', body: '月' }]));
    expect(runningMessage(withChanges(written, stale))?.body).toBe('月色');
  });

  test('a newer state that is still running does not take them back either', () => {
    const written = applyDelta(thread, deltaDto({ offset: 0, text: '月色' })).thread;
    const begun = messageEvent({ ...running, version: 3, status: 'streaming', body: '' });
    expect(runningMessage(applyEvent(written, begun).thread)).toMatchObject({ body: '月色', version: 3 });
  });

  test('a continuation keeps the text and goes on behind it', () => {
    const done = threadOf([asked, messageDto({ seq: 2, body: '月色' })]);
    const again = messageDto({ seq: 2, version: 3, revision: 2, body: '月色', status: 'pending' });
    const resumed = withResponse(done, 'c-1', { message: again });
    const grown = applyDelta(resumed, deltaDto({ revision: 2, offset: 2, text: '正好' }));
    expect(grown.thread.messages.map((message) => message.body).at(-1)).toBe('月色正好');
  });
});

test.each([
  ['completed', '\u200b\u2066', '（内容无法显示）'],
  ['completed', '\u0301\n', '（内容无法显示）'],
  ['completed', '** **', '（内容无法显示）'],
  ['completed', '', ''],
  ['completed', '***', '***'],
  ['cancelled', '\u200b', ''],
  ['failed', '\u200b', ''],
  ['streaming', '\u200b', '\u200b'],
  ['pending', '', ''],
])('a %s message of %j shows %j', (status, body, shown) => {
  for (const role of ['user', 'assistant', 'system'])
    expect(toMessage(messageDto({ role, status, body })).body).toBe(shown);
});

test.each([
  [0, 16, 1, 16],
  [999_999, 13, 13, 13],
  [2, 0, 1, 1],
  [2, 3, 2, 3],
])('variant %i of %i is shown as %i of %i', (variant, variants, shown, count) => {
  expect(toMessage(messageDto({ variant, variants }))).toMatchObject({ variant: shown, variants: count });
});

describe('pages', () => {
  test('older messages go in front; a page that adds nothing is the end', () => {
    const thread = threadOf(messageDtos(3, 4), { has_more: true });
    const older = withOlder(thread, toPage(latestDto(messageDtos(3, 1), { version: 6, has_more: true })), 4);
    expect(seqs(older)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(older.hasOlder).toBe(true);
    const again = withOlder(older, toPage(latestDto(messageDtos(3, 1), { version: 6, has_more: true })), 1);
    expect(seqs(again)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(again.hasOlder).toBe(false);
  });

  test('a change below the loaded window, received after the older page was read, is caught up', () => {
    const thread = threadOf(messageDtos(3, 4), { version: 6, has_more: true });
    const heard = applyEvent(thread, messageEvent(messageDto({ seq: 2, version: 8, body: '改过' }))).thread;
    const older = withOlder(heard, toPage(latestDto(messageDtos(3, 1), { version: 7 })), 4);
    const closed = applyEvent(older, messageEvent(messageDto({ seq: 6, version: 7 }))).thread;
    expect(closed.version).toBe(7);
  });

  test('a page read before the latest change is caught up from where it was read', () => {
    const thread = threadOf(messageDtos(3, 4), { has_more: true, version: 9 });
    expect(withOlder(thread, toPage(latestDto(messageDtos(3, 1), { version: 7 })), 4).version).toBe(7);
  });

  test('a change of a message not yet loaded makes no hole', () => {
    const thread = threadOf(messageDtos(3, 4), { has_more: true });
    const edited = toPage(latestDto([messageDto({ seq: 1, version: 7 })]));
    expect(seqs(withChanges(thread, edited))).toEqual([4, 5, 6]);
  });

  test('a line changed above the window is fetched again once all of the window is cut off', () => {
    const thread = threadOf(messageDtos(3, 4), { has_more: true, version: 6 });
    // an earlier line was edited: the following messages are gone, and the new reply ends before the page receives the edit
    const ended = messageDto({ seq: 2, id: 'm-9', version: 9, body: '新的一句' });
    const { thread: early } = applyEvent(thread, messageEvent(ended));
    const cut = latestDto([messageDto({ seq: 1, version: 7 }), { ...ended, version: 8, body: '', status: 'pending' }], {
      version: 8,
      last_seq: 2,
    });
    const late = withChanges(early, toPage(cut, true));
    expect(late.version).toBe(8);
    expect(
      withChanges(late, toPage(latestDto([ended], { version: 9, last_seq: 2 }), true)).messages.at(-1),
    ).toMatchObject({
      body: '新的一句',
      status: 'completed',
    });
  });

  test.each([
    ['without changes', [], 6],
    ['next to a new message', messageDtos(1, 7), 7],
    ['next to a changed message', [messageDto({ seq: 5, version: 7, body: '改过' })], 7],
  ])('a last seq that is too low %s removes no message', (_, changed, version) => {
    const thread = threadOf(messageDtos(6, 1), { version: 6 });
    const changes = toPage(latestDto(changed, { conversation_id: 'c-1', version, last_seq: 3 }), true);
    expect(seqs(withChanges(thread, changes)).slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('an answer that comes after a restart brings nothing back, one to a later line does', () => {
    const sent = withResponse(emptyThread('s-1'), 'c-1', { message: asked });
    const restarted = withRestart(sent, 4);
    expect(withResponse(restarted, 'c-1', { message: asked, reply: running })).toEqual(restarted);
    const later = { message: { ...asked, version: 5 }, reply: { ...running, version: 6 } };
    expect(seqs(withResponse(restarted, 'c-1', later))).toEqual([1, 2]);
  });

  test.each([
    [1, 4],
    [999, 4],
    [3, 1],
    [3, 999],
    [999, 1000],
    [0, 0],
  ])('an answer to a line with the odd seqs %i and %i shows it and its reply at the end', (lineSeq, replySeq) => {
    const thread = threadOf([asked, messageDto({ seq: 2 })]);
    const line = messageDto({ seq: 3, role: 'user', body: '请进' });
    const reply = messageDto({ seq: 4, status: 'pending', body: '' });
    const sent = withResponse(thread, 'c-1', {
      message: { ...line, seq: lineSeq },
      reply: { ...reply, seq: replySeq },
    });
    const ids = ['m-1', 'm-2', 'm-3', 'm-4'];
    expect(sent.messages.map(({ id }) => id)).toEqual(ids);
    const synced = withChanges(sent, toPage(latestDto([line, reply]), true));
    expect(synced.messages.map(({ id, seq }) => [id, seq])).toEqual(ids.map((id, index) => [id, index + 1]));
    expect(synced).toMatchObject({ version: 4, ahead: [] });
  });

  test('the answer to the first send opens the conversation', () => {
    const sent = withResponse(emptyThread('s-1'), 'c-1', { message: asked, reply: running });
    expect(sent).toMatchObject({ conversationId: 'c-1', version: 2, ahead: [] });
    expect(seqs(sent)).toEqual([1, 2]);
  });
});
