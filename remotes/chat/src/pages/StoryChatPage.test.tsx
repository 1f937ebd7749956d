import { api, defineRemote, outboxStore, STORAGE_KEYS, store } from '@liaozhai/shared/runtime';
import { act, fireEvent, offline, onTestEnd, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { Profiler } from 'react';
import { deltaDto, latestDto, messageDto, messageEvent, storyDto } from '../fixtures';
import {
  bodyOf,
  field,
  LATEST,
  openChat,
  replyLine,
  SEND,
  sendButton,
  sends,
  sentDto,
  userLine,
} from '../testing/chatting';
import StoryChatPage from './StoryChatPage';

describe('a reply', () => {
  test('that arrives in pieces reads as one', async () => {
    const { live } = openChat({ [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]) });
    expect(await screen.findByText('排队中')).toBeTruthy();
    live.push('message.delta', deltaDto({ offset: 0, text: '月色' }));
    live.push('message.delta', deltaDto({ offset: 2, text: '正好。' }));
    expect(await screen.findByText('月色正好。')).toBeTruthy();
    live.push('message.completed', messageEvent(messageDto({ seq: 2, version: 3, body: '月色正好。' })));
    expect(await screen.findByText('回复完成')).toBeTruthy();
    expect(screen.queryByText('排队中')).toBeNull();
  });

  test('with a missing piece is fetched, and reads on from there', async () => {
    const half = messageDto({ seq: 2, body: '月色正好，', status: 'streaming' });
    let asks = 0;
    const { live } = openChat({
      [LATEST]: () => {
        asks += 1;
        return latestDto([userLine, asks === 1 ? { ...half, body: '' } : half]);
      },
    });
    await screen.findByText('谁在门外？');
    live.push('message.delta', deltaDto({ offset: 2, text: '正好，' }));
    expect(await screen.findByText('月色正好，')).toBeTruthy();
    live.push('message.delta', deltaDto({ offset: 5, text: '她笑了。' }));
    expect(await screen.findByText('月色正好，她笑了。')).toBeTruthy();
  });

  test('is shown without a socket, too', async () => {
    let isReady = false;
    const { live } = openChat({
      [LATEST]: () =>
        latestDto([userLine, isReady ? { ...replyLine, version: 3 } : { ...replyLine, body: '', status: 'pending' }]),
    });
    live.drop();
    expect(await screen.findByText('排队中')).toBeTruthy();
    isReady = true;
    expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
  });

  test('says that a machine writes it, from its first moment on; the reader’s words and the opening do not', async () => {
    openChat({ [LATEST]: latestDto([userLine, replyLine, messageDto({ seq: 3, body: '', status: 'pending' })]) });
    await screen.findByText('排队中');
    const [own, ...replies] = screen.getAllByRole('article');
    expect(own?.textContent).not.toContain('AI 生成');
    expect(replies.map((reply) => within(reply).getAllByText('AI 生成').length)).toEqual([1, 1]);
    expect(screen.getAllByText('AI 生成')).toHaveLength(2);
  });

  test('that broke off says why and can go on', async () => {
    const broken = messageDto({
      seq: 2,
      body: '她说',
      status: 'failed',
      error: { code: 'timeout', message: '说书人睡着了' },
    });
    const { user, requests } = openChat({
      [LATEST]: latestDto([userLine, broken]),
      'POST /v1/messages/continue': {
        status: 202,
        body: { message: { ...broken, version: 3, revision: 2, status: 'pending', error: null }, balance: 99 },
      },
    });
    const state = await screen.findByText('说书人睡着了');
    await user.click(state.nextElementSibling ?? state);
    expect(await screen.findByText('排队中')).toBeTruthy();
    const sent = requests.find(({ url }) => url === '/v1/messages/continue');
    expect(sent?.body).toMatchObject({ conversation_id: 'c-1', message_id: 'm-2' });
    expect(sent?.headers['idempotency-key']).toBe(sent && bodyOf(sent).client_id);
  });

  test('of the story reads as print: actions, stress, dialogue, never markup', async () => {
    openChat({ [LATEST]: latestDto([userLine, { ...replyLine, body: '*她抬头*“**别**走。”<b>风</b>' }]) });
    expect((await screen.findByText('她抬头')).tagName).toBe('EM');
    expect(screen.getByText('别').tagName).toBe('STRONG');
    expect(screen.getByText(/<b>风<\/b>/)).toBeTruthy();
  });
});

describe('writing', () => {
  test('Enter sends from a keyboard, but not while an IME composes', async () => {
    const { requests } = openChat({ [SEND]: sentDto });
    const input = await field();
    fireEvent.input(input, { target: { value: '谁' } });
    fireEvent.keyDown(input, { key: 'Enter', isComposing: true });
    fireEvent.keyDown(input, { key: 'Enter', keyCode: 229 });
    fireEvent.keyDown(input, { key: 'Enter', shiftKey: true });
    expect(sends(requests)).toHaveLength(0);
    fireEvent.keyDown(input, { key: 'Enter' });
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
  });

  test('two Enters in one task send one line', async () => {
    const { requests } = openChat({ [SEND]: sentDto });
    const input = await field();
    fireEvent.input(input, { target: { value: '谁' } });
    const press = () =>
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    act(() => {
      press();
      press();
    });
    expect(await screen.findByText('排队中')).toBeTruthy();
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
    expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['谁']);
  });

  test('another tab changes the text in the field, but only after an IME composition has ended', async () => {
    openChat({ [SEND]: sentDto });
    const input = await field();
    const writeInOtherTab = (text: string) => {
      const key = `${STORAGE_KEYS.draft}:u-1:story.s-1`;
      localStorage.setItem(key, text);
      fireEvent(window, new StorageEvent('storage', { key }));
    };
    const compose = (text: string) => {
      fireEvent.compositionStart(input);
      fireEvent.input(input, { target: { value: text } });
    };
    compose('shei');
    writeInOtherTab('在别处写的');
    expect(input).toHaveProperty('value', 'shei');
    fireEvent.compositionEnd(input);
    expect(input).toHaveProperty('value', '在别处写的');
    compose('shei');
    writeInOtherTab('在别处又写的');
    // Firefox reports the composed text only after the end
    Object.assign(input, { value: '谁' });
    fireEvent.compositionEnd(input);
    fireEvent.input(input, { target: { value: '谁' } });
    expect(input).toHaveProperty('value', '谁');
    writeInOtherTab('');
    expect(input).toHaveProperty('value', '');
  });

  test('typing goes no further than the field, shortcuts and Escape do', async () => {
    openChat({ [SEND]: sentDto });
    const input = await field();
    const heard: string[] = [];
    const over = new AbortController();
    onTestEnd(() => over.abort());
    for (const type of ['keydown', 'keyup', 'input'] as const)
      document.addEventListener(type, (event) => heard.push('key' in event ? event.key : type), {
        capture: true,
        signal: over.signal,
      });
    fireEvent.keyDown(input, { key: 'a' });
    fireEvent.input(input, { target: { value: 'a' } });
    fireEvent.keyUp(input, { key: 'a' });
    fireEvent.keyDown(input, { key: 'Unidentified', keyCode: 229 });
    expect(heard).toEqual([]);
    expect(sendButton()).toHaveProperty('disabled', false);
    fireEvent.keyDown(input, { key: 'k', ctrlKey: true });
    fireEvent.keyDown(input, { key: 'Escape' });
    expect(heard).toEqual(['k', 'Escape']);
  });

  test('the draft of a story outlives the page and is gone once sent', async () => {
    const { user, unmount } = openChat({ [SEND]: sentDto });
    await user.type(await field(), '写了一半');
    unmount();
    const second = openChat({ [SEND]: sentDto });
    expect(await field()).toHaveProperty('value', '写了一半');
    expect(localStorage.getItem(STORAGE_KEYS.user)).toContain('u-1');
    await second.user.click(sendButton());
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(await field()).toHaveProperty('value', '');
    second.unmount();
    openChat({ [SEND]: sentDto });
    expect(await field()).toHaveProperty('value', '');
  });

  test.each([
    ['under a reply', 'completed'],
    ['while a reply is written', 'streaming'],
  ] as const)('%s, a key press draws nothing but the composer, and most of them not even that', async (_, status) => {
    let drawings = 0;
    const Counted = () => (
      <Profiler id="chat" onRender={() => (drawings += 1)}>
        <StoryChatPage storyId="s-1" />
      </Profiler>
    );
    const counted = defineRemote({
      name: 'chat',
      routes: [{ name: 'story', path: '/story/:id', title: '故事', page: async () => ({ default: Counted }) }],
    });
    const handlers = { 'GET /v1/stories/s-1': storyDto(), [LATEST]: latestDto([userLine, { ...replyLine, status }]) };
    openRemote(counted, handlers, { path: '/story/s-1', user: { balance: 100 } });
    const input = await field();
    await screen.findByText('每条 2 点 · 余额 100 点');
    const changes = new MutationObserver(() => undefined);
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    const press = (text: string) => {
      drawings = 0;
      changes.observe(document, all);
      fireEvent.input(input, { target: { value: text } });
      const changed = changes.takeRecords().map(({ target }) => target);
      changes.disconnect();
      return { drawings, changed };
    };
    const first = press('她');
    expect(first.drawings).toBe(1);
    expect(first.changed.filter((node) => !input.closest('form')?.contains(node))).toEqual([]);
    expect(sendButton()).toHaveProperty('disabled', false);
    expect(press('她是')).toEqual({ drawings: 0, changed: [] });
    expect(press('她是谁')).toEqual({ drawings: 0, changed: [] });
  });

  const unseen = ['\u200b\u2060', '\u3164 \u2800', '\ufff9\u{1d159}', '*\u3164* **\u200b**', '* *'];
  const marks = ['\u202e\u2066', '\ufe0f', '\u0301\u20dd'];
  test.each([...unseen, ...marks])('%j shows nothing, says so and is not sent', async (text) => {
    openChat({ [SEND]: sentDto });
    fireEvent.input(await field(), { target: { value: text } });
    expect(await screen.findByText('至少要有一个看得见的字')).toBeTruthy();
    expect(sendButton()).toHaveProperty('disabled', true);
  });

  test('blanks alone are not sent, and are no mistake', async () => {
    openChat({ [SEND]: sentDto });
    fireEvent.input(await field(), { target: { value: '\n\u3000 ' } });
    expect(sendButton()).toHaveProperty('disabled', true);
    expect(screen.queryByText('至少要有一个看得见的字')).toBeNull();
  });

  test('too much text is counted and not sent', async () => {
    openChat({ [SEND]: sentDto });
    fireEvent.input(await field(), { target: { value: '字'.repeat(2003) } });
    expect(await screen.findByText('超出 3 字')).toBeTruthy();
    expect(sendButton()).toHaveProperty('disabled', true);
  });
});

describe('ideas', () => {
  const ready = { id: 'i-1', conversation_id: 'c-1', status: 'ready', items: [{ id: 'i-1-1', text: '请她进来' }] };
  const handlers = {
    [LATEST]: latestDto([userLine, replyLine]),
    'POST /v1/messages/suggestion': { status: 202, body: { data: { ...ready, status: 'pending', items: [] } } },
    'GET /v1/messages/suggestion/i-1': { data: ready },
  };

  test('come when they are ready; a tap fills the composer and says which idea it was', async () => {
    const { user, live, requests } = openChat({ ...handlers, [SEND]: sentDto });
    await user.click(await screen.findByRole('button', { name: /灵感/ }));
    expect(await screen.findByText('正在寻找灵感')).toBeTruthy();
    live.push('suggestion.ready', { id: 'i-1', conversation_id: 'c-1', version: 2 });
    await user.click(await screen.findByRole('button', { name: '填入：请她进来' }));
    expect(await field()).toHaveProperty('value', '请她进来');
    await user.click(sendButton());
    await waitFor(() => expect(sends(requests)[0]?.body).toMatchObject({ suggestion_id: 'i-1' }));
  });

  test('are paid for once per last message', async () => {
    const { user, requests } = openChat(handlers);
    const chip = await screen.findByRole('button', { name: /灵感/ });
    await user.click(chip);
    await screen.findByRole('button', { name: '填入：请她进来' });
    await user.click(screen.getByRole('button', { name: '收起灵感' }));
    expect(screen.queryByRole('button', { name: '填入：请她进来' })).toBeNull();
    await user.click(chip);
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    expect(requests.filter(({ url }) => url === '/v1/messages/suggestion')).toHaveLength(1);
  });
});

describe('reading', () => {
  test('the opening heads the log, and a visitor without a session asks nothing private', async () => {
    const { requests } = openChat({}, { user: null });
    expect((await screen.findByText('月光落在阶前。')).tagName).toBe('EM');
    expect(screen.getByRole('log', { name: '对话' })).toBeTruthy();
    expect(requests.map(({ url }) => url)).toEqual(['/v1/stories/s-1']);
  });

  test('past midnight what was said today is headed 昨天', async () => {
    rs.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-20T15:50:00Z') });
    onTestEnd(() => rs.useRealTimers());
    const before = [userLine, replyLine].map((message) => ({ ...message, created_at: '2026-11-20T15:45:00Z' }));
    const { live } = openChat({ [LATEST]: latestDto(before) });
    expect(await screen.findByText('今天')).toBeTruthy();
    rs.setSystemTime(new Date('2026-11-20T16:05:00Z'));
    fireEvent(document, new Event('visibilitychange'));
    const after = messageDto({ seq: 3, body: '三更了。', created_at: '2026-11-20T16:05:00Z' });
    live.push('message.created', messageEvent(after));
    await screen.findByText('三更了。');
    expect(screen.getByText('昨天')).toBeTruthy();
    expect(screen.getAllByText('今天')).toHaveLength(1);
  });

  test('a conversation that was only read is there without a network', async () => {
    const { unmount } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText(replyLine.body ?? '');
    unmount();
    store.dispatch(api.util.resetApiState());
    openChat({
      [LATEST]: () => {
        throw offline();
      },
    });
    expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
  });

  test('what the device keeps of it shows while the network takes its time, and says where that ends in vain', async () => {
    const { unmount } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText(replyLine.body ?? '');
    unmount();
    store.dispatch(api.util.resetApiState());
    let fail = () => {};
    const answer = new Promise((resolve) => {
      fail = () => resolve({ status: 500, body: { message: '灯灭了' } });
    });
    openChat({ 'GET /v1/stories/s-1': () => new Promise(() => {}), [LATEST]: () => answer });
    expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
    fail();
    expect(await screen.findByText('灯灭了')).toBeTruthy();
    expect(screen.getByText(replyLine.body ?? '')).toBeTruthy();
  });

  test('a chat that does not come offers to try again', async () => {
    let works = false;
    const { user } = openChat({
      [LATEST]: () => (works ? latestDto([userLine, replyLine]) : { status: 500, body: { message: '灯灭了' } }),
    });
    expect(await screen.findByText('灯灭了')).toBeTruthy();
    works = true;
    await user.click(screen.getByRole('button', { name: '重试' }));
    expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
  });

  test.each([null, {}])('a story that does not come offers to try again to the user %j', async (member) => {
    let works = false;
    const { user } = openChat(
      { 'GET /v1/stories/s-1': () => (works ? storyDto() : { status: 500, body: { message: '灯灭了' } }) },
      { user: member },
    );
    expect(await screen.findByText('灯灭了')).toBeTruthy();
    works = true;
    await user.click(screen.getByRole('button', { name: '重试' }));
    expect(await screen.findByText('开篇')).toBeTruthy();
    expect(screen.queryByText('灯灭了')).toBeNull();
  });

  test('a conversation deleted elsewhere leaves the opening', async () => {
    const { live } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText('谁在门外？');
    live.push('conversation.deleted', { id: 'c-1' });
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    expect(screen.getByText('开篇')).toBeTruthy();
  });

  test('a late event of a deleted conversation does not bring it back', async () => {
    const { live } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText('谁在门外？');
    live.push('conversation.deleted', { id: 'c-1' });
    live.push('message.completed', messageEvent({ ...replyLine, version: 9 }));
    live.push('message.delta', deltaDto({ text: '晚了' }));
    const fresh = messageDto({ id: 'm-9', conversation_id: 'c-2', seq: 1, version: 1, body: '另起一段' });
    live.push('message.created', messageEvent(fresh));
    expect(await screen.findByText('另起一段')).toBeTruthy();
    expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
  });
});

const forbidden = () => {
  throw new Error('forbidden');
};

test.each([
  ['matchMedia', 'nothing', { value: undefined }],
  ['matchMedia', 'one that throws', { value: forbidden }],
  ['matchMedia', 'one that answers null', { value: () => null }],
  ['matchMedia', 'one without events', { value: () => ({ matches: true }) }],
  ['visualViewport', 'nothing', { value: undefined }],
  ['visualViewport', 'one that throws', { get: forbidden }],
])('a line is sent where an extension replaces %s by %s', async (name, _, replacement) => {
  const own = Object.getOwnPropertyDescriptor(window, name);
  Object.defineProperty(window, name, { ...replacement, configurable: true });
  onTestEnd(() => (own ? Object.defineProperty(window, name, own) : Reflect.deleteProperty(window, name)));
  const { user, requests } = openChat({ [LATEST]: latestDto([userLine, replyLine]), [SEND]: sentDto });
  await user.type(await field(), '是我');
  await user.click(sendButton());
  await waitFor(() => expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['是我']));
  expect(screen.getByText(replyLine.body ?? '')).toBeTruthy();
});
