import { outboxStore, retryPolicy, session } from '@liaozhai/shared/runtime';
import {
  fireEvent,
  memberDto,
  offline,
  onTestEnd,
  type RecordedRequest,
  screen,
  waitFor,
} from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { createOutbox } from '../api/outbox';
import { latestDto, messageDto, messageEvent } from '../fixtures';
import {
  bodyOf,
  field,
  LATEST,
  openChat,
  replyLine,
  SEND,
  secondSentDto,
  sends,
  sentDto,
  userLine,
  write,
} from '../testing/chatting';

describe('sending', () => {
  test('shows the line immediately, then the reply that has begun, and takes the price', async () => {
    const { user, requests } = openChat({ [SEND]: sentDto });
    expect(await screen.findByText('每条 2 点 · 余额 100 点')).toBeTruthy();
    await write(user, '谁在门外？');
    expect(screen.getByText('谁在门外？')).toBeTruthy();
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(screen.getAllByText('谁在门外？')).toHaveLength(1);
    expect(await screen.findByText('每条 2 点 · 余额 98 点')).toBeTruthy();
    const [request] = sends(requests);
    expect(request?.body).toMatchObject({ story_id: 's-1', body: '谁在门外？' });
    expect(request?.headers['idempotency-key']).toBe(request && bodyOf(request).client_id);
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
  });

  test('offers nothing paid for the last reply until the line has failed', async () => {
    let answer = (_: object) => {};
    const { user } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [SEND]: () => new Promise((resolve) => (answer = resolve)) },
      { capabilities: ['messages.regenerate'] },
    );
    const chip = (name: RegExp) => screen.findByRole('button', { name });
    const isOff = async (name: RegExp) => (await chip(name)).getAttribute('aria-disabled') === 'true';
    expect(await isOff(/^灵感/)).toBe(false);
    expect(await chip(/^换一种说法/)).toBeTruthy();
    await write(user, '后来呢？');
    expect(await isOff(/^灵感/)).toBe(true);
    expect(await isOff(/^继续/)).toBe(true);
    expect(screen.queryByRole('button', { name: /^换一种说法/ })).toBeNull();
    answer({ status: 403, body: { message: '不行' } });
    await waitFor(async () => expect(await isOff(/^灵感/)).toBe(false));
    expect(await chip(/^换一种说法/)).toBeTruthy();
  });

  test('to a server that does not say which conversation has begun, finds its place all the same', async () => {
    const stored: ReturnType<typeof messageDto>[] = [];
    const { user, requests } = openChat({
      [LATEST]: () => latestDto(stored),
      [SEND]: (request: RecordedRequest) => {
        const { message, reply } = sentDto(request, { status: 'completed', body: '是我。' }).body;
        const place = (seq: number) => ({ id: `m-${seq}`, seq, version: seq });
        const line = { ...message, ...place(stored.length + 1) };
        stored.push(line, { ...reply, ...place(stored.length + 2) });
        return { status: 201, body: { message: { ...line, conversation_id: null } } };
      },
    });
    await write(user, '谁在门外？');
    expect(await screen.findByText('是我。')).toBeTruthy();
    await write(user, '请进');
    await waitFor(() => expect(sends(requests)).toHaveLength(2));
    expect(sends(requests).map((request) => request.body)).toMatchObject([
      { story_id: 's-1' },
      { conversation_id: 'c-1' },
    ]);
    await waitFor(() => expect(screen.getAllByText('是我。')).toHaveLength(2));
  });

  test('a response about another conversation neither replaces the chat nor loses the line', async () => {
    const { user, requests } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      [SEND]: (request: RecordedRequest) => {
        const { status, body } = secondSentDto(request);
        const foreign = { ...body.message, body: '别人的话', conversation_id: 'c-9' };
        return { status, body: { ...body, message: foreign, conversation: { ...body.conversation, id: 'c-9' } } };
      },
    });
    await screen.findByText('她提着灯，站了许久。');
    await write(user, '请进');
    expect(await screen.findByRole('button', { name: '点按重试' })).toBeTruthy();
    for (const text of ['谁在门外？', '她提着灯，站了许久。', '请进']) expect(screen.getByText(text)).toBeTruthy();
    expect(screen.queryByText('别人的话')).toBeNull();
    expect(screen.getByText(/余额 100 点/)).toBeTruthy();
    expect(sends(requests)).toHaveLength(1);
  });

  test('msg.timeout-no-double: a time-out that the server carried out leaves one line and sends nothing twice', async () => {
    const answers: ReturnType<typeof latestDto>[] = [latestDto([])];
    const { user, requests } = openChat({
      [LATEST]: () => answers.at(-1),
      [SEND]: (request: RecordedRequest) => {
        const { message, reply } = sentDto(request).body;
        answers.push(latestDto([message, reply]));
        throw offline();
      },
    });
    await write(user, '谁在门外？');
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(screen.getAllByText('谁在门外？')).toHaveLength(1);
    expect(sends(requests)).toHaveLength(1);
  });

  test('a line that was lost is kept, and goes again under the same key when the reader says so', async () => {
    let isUp = false;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) => {
        if (!isUp) throw offline();
        return sentDto(request);
      },
    });
    await write(user, '谁在门外？');
    const retry = await screen.findByRole('button', { name: '点按重试' });
    // one automatic retry, and no further one
    expect(sends(requests)).toHaveLength(2);
    isUp = true;
    await user.click(retry);
    expect(await screen.findByText('排队中')).toBeTruthy();
    const [first, ...others] = sends(requests).map(({ body }) => body);
    expect(others).toEqual([first, first]);
    expect(screen.getAllByText('谁在门外？')).toHaveLength(1);
  });
});

describe('outbox.order: messages written one after another', () => {
  test('reach the server in that order, be the first refused or the clock put back', async () => {
    let isRefused = true;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) =>
        isRefused ? { status: 403, body: {} } : sentDto(request, { status: 'completed' }),
    });
    await write(user, '一更');
    const retry = await screen.findByRole('button', { name: '点按重试' });
    rs.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 });
    onTestEnd(() => rs.useRealTimers());
    await write(user, '二更');
    expect(await screen.findByText('等前一条发出后再发')).toBeTruthy();
    expect(sends(requests)).toHaveLength(1);
    isRefused = false;
    await user.click(retry);
    await waitFor(() => expect(sends(requests)).toHaveLength(3));
    expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['一更', '一更', '二更']);
  });

  test.each(['{"kind":"invalid"}', '{"kind":"insufficientBalance"}', '{"kind":"later"}', '[]', 'null', '{'])(
    'stay in sight, with a way to send them, when another build has stored the failure %s',
    async (error) => {
      session.userReceived(memberDto());
      const line = { clientId: 'client-1', storyId: 's-1', conversationId: null, body: '一更', createdAt: 1 };
      await outboxStore.put({ ...line, state: 'failed', error });
      const { user, requests } = openChat({ [SEND]: sentDto });
      expect(await screen.findByText('一更')).toBeTruthy();
      await user.click(await screen.findByRole('button', { name: '点按重试' }));
      await waitFor(() => expect(sends(requests)).toHaveLength(1));
    },
  );

  test('go on when the one that failed is withdrawn', async () => {
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) =>
        bodyOf(request).body === '一更' ? { status: 403, body: {} } : sentDto(request),
    });
    await write(user, '一更');
    await screen.findByRole('button', { name: '点按重试' });
    await write(user, '二更');
    await screen.findByText('等前一条发出后再发');
    await user.click(screen.getAllByRole('button', { name: /更多操作/ })[0] as HTMLElement);
    await user.click(await screen.findByRole('button', { name: '删除这条' }));
    await waitFor(() => expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['一更', '二更']));
  });
});

test('from the end of a long wait a tap leads up to the line that failed, and says how many have not gone out', async () => {
  session.userReceived(memberDto());
  const line = { storyId: 's-1', conversationId: null };
  const bodies = Array.from({ length: 30 }, (_, index) => `第${index + 1}更`);
  for (const [index, body] of bodies.entries())
    await outboxStore.put({
      ...line,
      clientId: `client-${index}`,
      body,
      createdAt: index,
      state: index === 2 ? 'failed' : 'waiting',
    });
  // the test environment has no layout: each row gets the height of a line
  const height = rs.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(80);
  onTestEnd(() => height.mockRestore());
  // the message written before it is sent
  const { user } = openChat({
    [SEND]: (request: RecordedRequest) => sentDto(request, { status: 'completed' }),
  });
  const unsent = await screen.findByRole('button', { name: '有 28 条未发出' });
  expect(screen.queryByRole('button', { name: '点按重试' })).toBeNull();
  await user.click(unsent);
  // a browser fires this event automatically
  fireEvent.scroll(screen.getByRole('log'));
  expect(await screen.findByRole('button', { name: '点按重试' })).toBeTruthy();
  await waitFor(() => expect(screen.queryByRole('button', { name: /条未发出$/ })).toBeNull());
  await waitFor(async () => expect((await outboxStore.all()).map(({ body }) => body)).toEqual(bodies.slice(2)));
});

describe('a line that does not get through', () => {
  test.each(['<html>请登录酒店网络</html>', '{"data":{"message":', {}, { data: null }])(
    'is kept where something else answers in the server’s place: %j',
    async (body) => {
      const { user } = openChat({ [SEND]: { status: 200, body } });
      await write(user, '谁在门外？');
      expect(await screen.findByRole('button', { name: '点按重试' })).toBeTruthy();
      expect((await outboxStore.all()).map((entry) => entry.body)).toEqual(['谁在门外？']);
      expect(screen.getByText('每条 2 点 · 余额 100 点')).toBeTruthy();
    },
  );

  test('a line that cannot be sent goes back into the composer', async () => {
    const { user } = openChat({ [SEND]: { status: 422, body: { message: '太长了', errors: { body: ['太长了'] } } } });
    await write(user, '谁在门外？');
    await screen.findByText('太长了');
    await user.click(screen.getByRole('button', { name: /更多操作/ }));
    await user.click(await screen.findByText('放回输入框'));
    expect((await field()) as HTMLTextAreaElement).toHaveProperty('value', '谁在门外？');
    expect(await outboxStore.all()).toEqual([]);
  });

  test('while a reply is being written the next line waits for its end', async () => {
    const { user, live, requests } = openChat({
      [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]),
      [SEND]: (request: RecordedRequest) => sentDto(request),
    });
    await screen.findByText('排队中');
    await write(user, '后来呢？');
    expect(await screen.findByText('等这一段写完就发出')).toBeTruthy();
    expect(sends(requests)).toHaveLength(0);
    live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
  });

  test('the next line goes at the end of the reply though the chat has been left', async () => {
    const { user, live, requests, unmount } = openChat({
      [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]),
      [SEND]: (request: RecordedRequest) => sentDto(request),
    });
    await screen.findByText('排队中');
    await write(user, '后来呢？');
    await screen.findByText('等这一段写完就发出');
    await waitFor(async () => expect(await outboxStore.all()).toHaveLength(1));
    unmount();
    live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
  });

  test('a line that met a busy conversation goes as soon as that is free, before its pause ends', async () => {
    let isBusy = true;
    const { user, live, requests } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      [SEND]: (request: RecordedRequest) =>
        isBusy ? { status: 409, body: { code: 'conversation_busy', message: '请稍候' } } : secondSentDto(request),
    });
    await screen.findByText('她提着灯，站了许久。');
    // no pause ends by time
    retryPolicy.reset({ now: () => performance.now(), after: () => () => undefined });
    await write(user, '后来呢？');
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
    isBusy = false;
    const elsewhere = { conversation_id: 'c-1', version: 5 };
    live.push('message.created', messageEvent(messageDto({ ...elsewhere, seq: 3, role: 'user', body: '在别处说的' })));
    const reply = { ...elsewhere, seq: 4, body: '' };
    live.push('message.created', messageEvent(messageDto({ ...reply, status: 'pending' })));
    await screen.findByText('排队中');
    expect(sends(requests)).toHaveLength(1);
    live.push('message.completed', messageEvent(messageDto({ ...reply, version: 6, body: '风起了。' })));
    await waitFor(() => expect(sends(requests)).toHaveLength(2));
  });

  test('what was on its way when the page was killed goes on, unless the server has it', async () => {
    const entry = { storyId: 's-1', conversationId: null, body: '', createdAt: 1, state: 'sending' as const };
    session.userReceived(memberDto());
    await outboxStore.put({ ...entry, clientId: 'client-1', body: '谁在门外？' });
    await outboxStore.put({ ...entry, clientId: 'client-9', body: '后来呢？', createdAt: 2 });
    const { requests } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      [SEND]: secondSentDto,
    });
    expect(await screen.findByText('后来呢？')).toBeTruthy();
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
    expect(sends(requests).map((request) => bodyOf(request).client_id)).toEqual(['client-9']);
    expect(screen.getAllByText('谁在门外？')).toHaveLength(1);
  });
});

test('a server that asks for patience gets it, and the line counts down to its turn', async () => {
  const { user, requests } = openChat({
    [SEND]: { status: 429, body: { message: '太快' }, headers: { 'retry-after': '80' } },
  });
  await write(user, '谁在门外？');
  const seconds = async () =>
    Number(/\d+/.exec((await screen.findByText(/^发得太快，\d+ 秒后自动发出$/)).textContent ?? '')?.[0]);
  const first = await seconds();
  expect(first).toBeGreaterThan(50);
  await waitFor(async () => expect(await seconds()).toBeLessThan(first));
  window.dispatchEvent(new Event('online'));
  const then = await seconds();
  await waitFor(async () => expect(await seconds()).toBeLessThan(then));
  expect(sends(requests)).toHaveLength(1);
  rs.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 });
  onTestEnd(() => rs.useRealTimers());
  const now = await seconds();
  await waitFor(async () => expect(await seconds()).toBeLessThan(now));
  expect(now).toBeLessThanOrEqual(then);
});

test.each(['9999999999', '2147484', 'Fri, 01 Jan 2099 00:00:00 GMT'])(
  'a server that wants to be left alone for longer than a quarter of an hour (%s) is asked again by a tap',
  async (wait) => {
    let isBusy = true;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) =>
        isBusy ? { status: 429, headers: { 'retry-after': wait } } : sentDto(request, { status: 'completed' }),
    });
    await write(user, '谁在门外？');
    await screen.findByText('操作太频繁，请过一会儿再试');
    expect(document.body.textContent).not.toMatch(/\d{5}/);
    expect(sends(requests)).toHaveLength(1);
    isBusy = false;
    await user.click(screen.getByRole('button', { name: '点按重试' }));
    await waitFor(() => expect(sends(requests)).toHaveLength(2));
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
  },
);

test('a line that met a server without time goes after the wait that was named', async () => {
  let isBusy = true;
  const { user, requests } = openChat({
    [SEND]: (request: RecordedRequest) =>
      isBusy ? { status: 503, headers: { 'retry-after': '1' } } : sentDto(request, { status: 'completed' }),
  });
  await write(user, '谁在门外？');
  await screen.findByText(/^服务繁忙，\d 秒后自动发出$/);
  const refused = sends(requests).length;
  isBusy = false;
  await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
  // on a slow machine the text may show only after a second refusal, or while a third request is in flight
  expect(sends(requests).length - refused).toBeLessThanOrEqual(2);
});

test('a line that met a busy server says so after a further line, too', async () => {
  const { user } = openChat({ [SEND]: { status: 503, headers: { 'retry-after': '80' } } });
  await write(user, '谁在门外？');
  await screen.findByText(/^服务繁忙/);
  await write(user, '还在么？');
  await waitFor(async () => expect(await outboxStore.all()).toHaveLength(2));
  expect(screen.queryByText(/^发得太快/)).toBeNull();
});

test('a clock that is put back does not make the line wait for its old hour', async () => {
  let isBusy = true;
  const { user } = openChat({
    [SEND]: (request: RecordedRequest) =>
      isBusy ? { status: 429, body: { message: '太快' }, headers: { 'retry-after': '1' } } : sentDto(request),
  });
  await write(user, '谁在门外？');
  await screen.findByText(/^发得太快/);
  rs.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 });
  onTestEnd(() => rs.useRealTimers());
  isBusy = false;
  await waitFor(async () => expect(await outboxStore.all()).toEqual([]), { timeout: 30_000 });
});

test('a line follows what an earlier page had stored, though it is written before that is read and the clock was set back', async () => {
  const { requests } = openChat({ [SEND]: (request: RecordedRequest) => sentDto(request, { status: 'completed' }) });
  await screen.findByRole('log');
  const line = { storyId: 's-1', conversationId: null };
  rs.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  onTestEnd(() => rs.useRealTimers());
  // killed as soon as the reader had tapped
  void createOutbox().enqueue({ ...line, clientId: 'client-5', body: '一更' });
  rs.useRealTimers();
  const secondOutbox = createOutbox();
  secondOutbox.start();
  for (const body of ['二更', '三更']) void secondOutbox.enqueue({ ...line, clientId: body, body });
  // the page's own outbox sends too, as another tab's would
  const said = () => [...new Set(sends(requests).map((request) => bodyOf(request).body))];
  await waitFor(() => expect(said()).toHaveLength(3));
  expect(said()).toEqual(['一更', '二更', '三更']);
});
