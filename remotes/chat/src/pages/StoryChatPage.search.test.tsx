import { store } from '@liaozhai/shared/runtime';
import {
  act,
  fireEvent,
  programmersWords,
  type RecordedRequest,
  refuseToDraw,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { threadSyncs } from '../api/threadSync';
import { latestDto, messageDto, messageDtos } from '../fixtures';
import { LATEST, openChat, replyLine, SEND, sentDto, userLine, write } from '../testing/chatting';

const FIND = 'GET /v1/messages/search';
const DAYS = 'GET /v1/messages/days';
const capabilities = ['messages.search'] as const;

/** 400 messages, in pages as the server returns them. */
const all = messageDtos(400);
const latest = ({ params }: RecordedRequest) => {
  const [before, limit] = [Number(params.before ?? 401), Number(params.limit ?? 50)];
  const older = all.filter(({ seq }) => (seq ?? 0) < before);
  return latestDto(older.slice(-limit), { version: 400, last_seq: 400, has_more: older.length > limit });
};
const placesOf = (...seqs: number[]) => ({
  data: all.filter(({ seq }) => seqs.includes(seq ?? 0)).map(({ id, seq, created_at }) => ({ id, seq, created_at })),
  meta: { total: seqs.length },
});
type Chat = ReturnType<typeof openChat>;

async function openSearch({ user }: Chat) {
  await user.click(await screen.findByRole('button', { name: '这段对话的更多操作' }));
  await user.click(await screen.findByRole('button', { name: '查找' }));
  return screen.findByRole('searchbox', { name: '找说过的话' });
}

type Answer = object | ((request: RecordedRequest) => unknown);
const answerTo = (request: RecordedRequest, answer: Answer) =>
  typeof answer === 'function' ? answer(request) : answer;

/** Holds back the answer to some requests until it is released. */
function hold(isHeld: (request: RecordedRequest) => boolean, lateAnswer: Answer) {
  const heldRequests: RecordedRequest[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const answers =
    (answer: Answer = {}) =>
    async (request: RecordedRequest) => {
      if (!isHeld(request)) return answerTo(request, answer);
      heldRequests.push(request);
      await released;
      return answerTo(request, lateAnswer);
    };
  return { answers, requests: () => heldRequests, release };
}
/** Resolves after every answer that has been released before. */
const pass = () => act(async () => threadSyncs.of('s-1')?.catchUp());

const found = () => document.querySelector('[data-found="true"]')?.textContent ?? '';

describe('查找 in a chat', () => {
  const openLong = (handlers = {}) =>
    openChat({ [LATEST]: latest, [FIND]: placesOf(40, 120, 390), ...handlers }, { capabilities });

  test('goes through what was found from the last on, counted, also where it is not loaded', async () => {
    const chat = openLong();
    const field = await openSearch(chat);
    await chat.user.type(field, '灯{Enter}');
    await waitFor(() => expect(found()).toContain('第390句'));
    expect(screen.getByText('3/3')).toBeTruthy();
    await chat.user.click(screen.getByRole('button', { name: '上一处' }));
    await waitFor(() => expect(found()).toContain('第120句'));
    expect(screen.getByText('第 2 处，共 3 处')).toBeTruthy();
    const around = chat.requests.filter(({ params }) => params.before === 145);
    expect(around).toHaveLength(1);
    await chat.user.type(field, '{Enter}');
    await waitFor(() => expect(found()).toContain('第40句'));
    await chat.user.click(screen.getByRole('button', { name: '上一处' }));
    await waitFor(() => expect(found()).toContain('第390句'));
    expect(chat.requests.filter(({ url }) => url === '/v1/messages/search').map(({ params }) => params)).toEqual([
      { conversation_id: 'c-1', q: '灯' },
    ]);
  });

  test('that failed goes again by Enter, with the same words', async () => {
    let isUp = false;
    const chat = openLong({ [FIND]: () => (isUp ? placesOf(390) : { status: 503, body: {} }) });
    const field = await openSearch(chat);
    await chat.user.type(field, '灯{Enter}');
    await waitFor(() => expect(store.getState().toasts).toHaveLength(1));
    isUp = true;
    await chat.user.type(field, '{Enter}');
    expect(await screen.findByText('1/1')).toBeTruthy();
  });

  test('leads back to the end by 回到最新, and by sending', async () => {
    const chat = openLong({ [SEND]: sentDto });
    const field = await openSearch(chat);
    const goFar = async () => {
      await chat.user.click(screen.getByRole('button', { name: '上一处' }));
      await waitFor(() => expect(found()).toContain('第120句'));
      expect(screen.queryAllByText(/^第3[5-9]\d句$/)).toEqual([]);
    };
    await chat.user.type(field, '灯{Enter}');
    await screen.findByText('3/3');
    await goFar();
    await chat.user.click(screen.getByRole('button', { name: '回到最新' }));
    const isBack = () => screen.findAllByText(/^第3[5-9]\d句$/);
    expect(await isBack()).not.toEqual([]);
    await chat.user.click(screen.getByRole('button', { name: '下一处' }));
    await waitFor(() => expect(found()).toContain('第390句'));
    await goFar();
    await write(chat.user, '我回来了');
    expect(await isBack()).not.toEqual([]);
  });

  test('joins what lies next to what is loaded', async () => {
    const chat = openLong({ [FIND]: placesOf(335) });
    await chat.user.type(await openSearch(chat), '灯{Enter}');
    await waitFor(() => expect(found()).toContain('第335句'));
    const state = JSON.stringify(store.getState().api.queries);
    expect(state).toContain('第311句');
    expect(state).toContain('第400句');
  });

  test('offers the days on which something was said', async () => {
    const days = [
      { ...messageDto({ seq: 390 }), created_at: '2026-11-20T04:00:00Z' },
      { ...messageDto({ seq: 101 }), created_at: '2026-03-04T04:00:00Z' },
    ];
    const chat = openLong({ [DAYS]: { data: days } });
    await openSearch(chat);
    await chat.user.click(screen.getByRole('button', { name: '按日期' }));
    const sheet = await screen.findByRole('dialog', { name: '按日期' });
    await chat.user.click(await within(sheet).findByText(/3月4日/));
    await waitFor(() => expect(found()).toContain('第101句'));
  });

  test('lists the days that can be read and drawn, and leaves out the others', async () => {
    const on = (seq: number, created_at: unknown) => ({ ...messageDto({ seq }), created_at });
    const days = [
      on(390, '2026-11-20T04:00:00Z'),
      on(380, '2026-10-09T04:00:00Z'),
      ...['0000-00-00 00:00:00', '', null, {}, 'gestern'].map((odd, at) => on(200 + at, odd)),
      { ...on(150, '2026-05-05T04:00:00Z'), seq: 'x' },
      on(101, '2026-03-04T04:00:00Z'),
    ];
    const chat = openLong({ [DAYS]: { data: days } });
    await openSearch(chat);
    refuseToDraw('10月9日');
    await chat.user.click(screen.getByRole('button', { name: '按日期' }));
    const sheet = within(await screen.findByRole('dialog', { name: '按日期' }));
    expect(await sheet.findByText(/3月4日/)).toBeTruthy();
    expect(sheet.getByText(/11月20日/)).toBeTruthy();
    expect(sheet.getAllByText('这一条暂时显示不出来')).toHaveLength(1);
    expect(sheet.queryByText(/5月5日/)).toBeNull();
    const names = sheet.getAllByRole('button').map((button) => button.textContent?.trim());
    expect(names.filter((name) => /\d月\d/.test(name ?? ''))).toHaveLength(2);
    expect(programmersWords()).toEqual([]);
  });

  test('finds wide and accented letters by plain ones where the server does not', async () => {
    const said = [messageDto({ seq: 1, body: 'Ｃａｆé' }), messageDto({ seq: 2, body: '不在' })];
    const chat = openLong({ [LATEST]: latestDto(said), [FIND]: { data: [], meta: { total: 0 } } });
    await chat.user.type(await openSearch(chat), 'cafe{Enter}');
    await waitFor(() => expect(found()).toContain('Ｃａｆé'));
    expect(screen.getByText('1/1')).toBeTruthy();
  });

  test('says that nothing was found, and closes by Escape', async () => {
    const chat = openLong({ [FIND]: { data: [], meta: { total: 0 } } });
    await chat.user.type(await openSearch(chat), '狐狸{Enter}');
    expect((await screen.findAllByText('没有找到')).length).toBeGreaterThan(0);
    // Escape also cancels an IME composition; Safari reports that key late
    for (const composed of [{ isComposing: true }, { keyCode: 229 }])
      fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Escape', ...composed });
    expect(screen.getByRole('searchbox')).toBeTruthy();
    await chat.user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('searchbox')).toBeNull());
  });

  test('says of no words that nothing was found before their answer is there, or if it never comes', async () => {
    let answer: (places: unknown) => void = () => {};
    const places = ({ params }: RecordedRequest) =>
      params.q === '狐' ? placesOf() : new Promise((resolve) => (answer = resolve));
    const chat = openLong({ [FIND]: places });
    const field = await openSearch(chat);
    await chat.user.type(field, '狐{Enter}');
    expect((await screen.findAllByText('没有找到')).length).toBeGreaterThan(0);
    await chat.user.type(field, '狸{Enter}');
    await waitFor(() => expect(screen.queryByText('没有找到')).toBeNull());
    answer(placesOf(120));
    expect(await screen.findByText('1/1')).toBeTruthy();
    await chat.user.type(field, '精{Enter}');
    await waitFor(() => expect(chat.requests.filter(({ params }) => params.q === '狐狸精')).toHaveLength(1));
    answer({ status: 500, body: { message: '册子丢了' } });
    await waitFor(() => expect(screen.queryByText('1/1')).toBeNull());
  });

  test('claims nothing about words that are being typed, before their answer is there', async () => {
    const late = hold(({ params }) => params.q === '灯火', placesOf(120));
    const chat = openLong({ [FIND]: late.answers(placesOf(40, 390)) });
    const field = await openSearch(chat);
    await chat.user.type(field, '灯{Enter}');
    await screen.findByText('2/2');
    await chat.user.type(field, '火');
    const claims = () => [
      ...screen.queryAllByText('2/2'),
      ...screen.queryAllByText('第 2 处，共 2 处'),
      ...screen.queryAllByRole('button', { name: '上一处' }),
    ];
    expect(claims()).toEqual([]);
    await chat.user.type(field, '{Backspace}');
    expect(claims()).toHaveLength(3);
    await chat.user.type(field, '火{Enter}');
    await waitFor(() => expect(found()).toBe(''));
    expect(claims()).toEqual([]);
    late.release();
    await waitFor(() => expect(found()).toContain('第120句'));
    expect(screen.getByText('1/1')).toBeTruthy();
  });

  test('counts what is found late, but stays at the day that was chosen meanwhile', async () => {
    const late = hold(() => true, placesOf(390));
    const chat = openLong({ [FIND]: late.answers(), [DAYS]: { data: [messageDto({ seq: 101 })] } });
    await chat.user.type(await openSearch(chat), '灯{Enter}');
    await chat.user.click(screen.getByRole('button', { name: '按日期' }));
    const sheet = await screen.findByRole('dialog', { name: '按日期' });
    await chat.user.click(await within(sheet).findByText(/月\d+日|今天/));
    await waitFor(() => expect(found()).toContain('第101句'));
    late.release();
    expect(await screen.findByText('1/1')).toBeTruthy();
    expect(found()).toContain('第101句');
  });

  test('a place that loads late does not replace what newer words have found', async () => {
    const late = hold(({ params }) => params.before === 145, latest);
    const places = ({ params }: RecordedRequest) => (params.q === '灯' ? placesOf(120) : placesOf(390));
    const chat = openLong({ [LATEST]: late.answers(latest), [FIND]: places });
    const field = await openSearch(chat);
    await chat.user.type(field, '灯{Enter}');
    await waitFor(() => expect(late.requests()).toHaveLength(1));
    await chat.user.type(field, '火{Enter}');
    await waitFor(() => expect(found()).toContain('第390句'));
    late.release();
    await pass();
    expect(found()).toContain('第390句');
  });

  test('a page that loads late does not replace the place that is shown since', async () => {
    const late = hold(({ params }) => params.before === 95 || params.before === 195, latest);
    const chat = openLong({ [LATEST]: late.answers(latest), [FIND]: placesOf(40, 120) });
    await chat.user.type(await openSearch(chat), '灯{Enter}');
    await waitFor(() => expect(found()).toContain('第120句'));
    const log = screen.getByRole('log');
    // without layout nothing is near the ends
    Object.defineProperty(log, 'clientHeight', { configurable: true, value: 1 });
    fireEvent.scroll(log);
    Reflect.deleteProperty(log, 'clientHeight');
    await waitFor(() => expect(late.requests()).toHaveLength(2));
    await chat.user.click(screen.getByRole('button', { name: '上一处' }));
    await screen.findByText('第15句');
    late.release();
    await pass();
    expect(screen.getByText('第15句')).toBeTruthy();
  });

  test('a place that loads late does not take the chat there once the search is closed', async () => {
    const late = hold(({ params }) => params.before === 145, latest);
    const chat = openLong({ [LATEST]: late.answers(latest) });
    await chat.user.type(await openSearch(chat), '灯{Enter}');
    await screen.findByText('3/3');
    await chat.user.click(screen.getByRole('button', { name: '上一处' }));
    await waitFor(() => expect(late.requests()).toHaveLength(1));
    await chat.user.click(screen.getByRole('button', { name: '收起查找' }));
    late.release();
    await pass();
    expect(found()).toBe('');
    expect(screen.queryAllByText(/^第39\d句$/)).not.toEqual([]);
  });

  test.each(['newer words', 'closing'])('a failure is not reported after %s', async (end) => {
    const late = hold(({ params }) => params.q === '灯', { status: 500, body: { message: '册子丢了' } });
    const chat = openLong({ [FIND]: late.answers(placesOf(390)) });
    const field = await openSearch(chat);
    await chat.user.type(field, '灯{Enter}');
    await waitFor(() => expect(late.requests()).toHaveLength(1));
    if (end === 'closing') await chat.user.click(screen.getByRole('button', { name: '收起查找' }));
    else await chat.user.type(field, '火{Enter}');
    if (end !== 'closing') await screen.findByText('1/1');
    late.release();
    await pass();
    expect(store.getState().toasts).toEqual([]);
  });

  test('closes by going back, which leaves the chat open', async () => {
    const chat = openLong({ [FIND]: { data: [], meta: { total: 0 } } });
    await openSearch(chat);
    history.back();
    await waitFor(() => expect(screen.queryByRole('searchbox')).toBeNull());
    expect(screen.getByRole('log')).toBeTruthy();
  });

  test('is away where the server has none', async () => {
    openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText('她提着灯，站了许久。');
    expect(screen.queryByRole('button', { name: '这段对话的更多操作' })).toBeNull();
  });
});

describe('举报 of a reply', () => {
  const REPORT = 'POST /v1/messages/m-2/report';
  const more = (of: string) => screen.findByRole('button', { name: new RegExp(`^${of}的消息`) });
  const said = () => store.getState().toasts.map(({ text }) => text);

  test('takes a reason and words, and thanks', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [REPORT]: { status: 201, body: { data: {} } } },
      { capabilities: ['messages.report'] },
    );
    await user.click(await more('聂小倩'));
    await user.click(await screen.findByRole('button', { name: '举报' }));
    const sheet = await screen.findByRole('dialog', { name: '举报这条回复' });
    const send = within(sheet).getByRole('button', { name: '提交' });
    expect(send).toHaveProperty('disabled', true);
    await user.click(within(sheet).getByRole('radio', { name: '其他' }));
    await user.type(within(sheet).getByRole('textbox', { name: /补充说明/ }), ' 答非所问 ');
    await user.click(send);
    await waitFor(() => expect(said()).toEqual(['谢谢，我们会看这条回复']));
    const sent = requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
    expect(sent).toEqual([{ reason: 'other', words: '答非所问' }]);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  test('that does not get through keeps what was written and says why', async () => {
    const { user } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [REPORT]: { status: 503, body: { message: '信使病了' } } },
      { capabilities: ['messages.report'] },
    );
    await user.click(await more('聂小倩'));
    await user.click(await screen.findByRole('button', { name: '举报' }));
    await user.click(await screen.findByRole('radio', { name: '其他' }));
    await user.click(screen.getByRole('button', { name: '提交' }));
    expect((await screen.findByRole('alert')).textContent).toBe('信使病了');
    expect(screen.getByRole('radio', { name: '其他' })).toHaveProperty('checked', true);
  });

  test('keeps what was written after the sheet was closed, until it is sent', async () => {
    const { user } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [REPORT]: { status: 201, body: { data: {} } } },
      { capabilities: ['messages.report'] },
    );
    const openSheet = async () => {
      await user.click(await more('聂小倩'));
      await user.click(await screen.findByRole('button', { name: '举报' }));
      return within(await screen.findByRole('dialog', { name: '举报这条回复' }));
    };
    const wordsOf = (sheet: Awaited<ReturnType<typeof openSheet>>) =>
      sheet.getByRole<HTMLTextAreaElement>('textbox', { name: /补充说明/ });
    const first = await openSheet();
    await user.click(first.getByRole('radio', { name: '其他' }));
    await user.type(wordsOf(first), '答非所问');
    await user.click(first.getByRole('button', { name: '关闭' }));
    const second = await openSheet();
    expect(second.getByRole('radio', { name: '其他' })).toHaveProperty('checked', true);
    expect(wordsOf(second).value).toBe('答非所问');
    await user.click(second.getByRole('button', { name: '提交' }));
    await waitFor(() => expect(said()).toEqual(['谢谢，我们会看这条回复']));
    expect(wordsOf(await openSheet()).value).toBe('');
  });

  test('is not offered for one’s own words, nor by a server that takes none', async () => {
    const first = openChat({ [LATEST]: latestDto([userLine, replyLine]) }, { capabilities: ['messages.report'] });
    await first.user.click(await more('我'));
    await screen.findByRole('button', { name: '复制' });
    expect(screen.queryByRole('button', { name: '举报' })).toBeNull();
    first.unmount();
    const second = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await second.user.click(await more('聂小倩'));
    await screen.findByRole('button', { name: '复制' });
    expect(screen.queryByRole('button', { name: '举报' })).toBeNull();
  });
});
