import { api, authPopup, session, store } from '@liaozhai/shared/runtime';
import {
  act,
  fireEvent,
  memberDto,
  offline,
  onTestEnd,
  openRemote,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { pageDto, storyDto } from '../fixtures';
import remote from '../remote';

const url = 'GET /v1/stories/s-1';
const path = '/story/s-1';

test('the story is laid out as a book: title, teller, people, opening', async () => {
  openRemote(remote, { [url]: storyDto() }, { path });
  expect(await screen.findByText('蒲松龄 述')).toBeTruthy();
  expect(screen.getByRole('heading', { name: '聂小倩', level: 3 })).toBeTruthy();
  expect(screen.getByText('寺中女鬼，夜来叩门。')).toBeTruthy();
  expect(screen.getByText('月光落在阶前。').tagName).toBe('EM');
  expect(screen.getByText('风').tagName).toBe('STRONG');
  expect(document.title).toContain('聂小倩');
});

test('a story wrapped in data reads the same', async () => {
  openRemote(remote, { [url]: { data: storyDto() } }, { path });
  expect(await screen.findByText('蒲松龄 述')).toBeTruthy();
});

test('the way into the chat names the price before the tap', async () => {
  openRemote(remote, { [url]: storyDto({ price_per_message: 3 }) }, { path, user: { balance: 41 } });
  expect(await screen.findByText('每条消息 3 点')).toBeTruthy();
  expect(screen.getByText('余额 41 点')).toBeTruthy();
  expect(screen.getByRole('link', { name: '开始聊天' }).getAttribute('href')).toBe('/story/s-1?chat=1');
});

describe('the opening lines', () => {
  const lines = ['借你一盏灯', '你是什么人？'];
  const links = () => screen.findAllByRole('link', { name: /借你一盏灯|你是什么人/ });

  test('stand under the opening, and each opens the chat with itself in the field', async () => {
    openRemote(remote, { [url]: storyDto({ opening_lines: lines }) }, { path });
    expect((await links()).map((link) => [link.textContent, link.getAttribute('href')])).toEqual([
      ['借你一盏灯', '/story/s-1?chat=1&line=1'],
      ['你是什么人？', '/story/s-1?chat=1&line=2'],
    ]);
  });

  test('are gone once the story is begun', async () => {
    openRemote(remote, { [url]: storyDto({ opening_lines: lines, conversation_id: 'c-1' }) }, { path, user: {} });
    await screen.findByRole('link', { name: '继续聊天' });
    expect(screen.queryByText('借你一盏灯')).toBeNull();
  });

  test('are left out where the server has none', async () => {
    openRemote(remote, { [url]: storyDto() }, { path });
    await screen.findByText('月光落在阶前。');
    expect(screen.queryByText('可以这样开口')).toBeNull();
  });
});

describe('the points that an account starts with', () => {
  const config = { rules: { signUpGift: 100 } };

  test('are said to a guest before the tap, in messages of this story', async () => {
    openRemote(remote, { [url]: storyDto({ price_per_message: 3 }) }, { path, config });
    expect(await screen.findByText('注册即送 100 点，约 33 条')).toBeTruthy();
  });

  test('are not said to a member', async () => {
    openRemote(remote, { [url]: storyDto() }, { path, config, user: {} });
    await screen.findByText('余额 100 点');
    expect(screen.queryByText(/注册即送/)).toBeNull();
  });
});

test('tags lead to their stories where the server can search', async () => {
  openRemote(remote, { [url]: storyDto() }, { path, capabilities: ['stories.search'] });
  const tag = await screen.findByRole('link', { name: '标签「兰若寺」的故事' });
  expect(tag.getAttribute('href')).toBe(`/explore?tag=${encodeURIComponent('兰若寺')}`);
});

test('tags are plain words where it cannot', async () => {
  openRemote(remote, { [url]: storyDto() }, { path });
  expect((await screen.findByText('兰若寺')).closest('a')).toBeNull();
});

test('no price is claimed where the server names none', async () => {
  openRemote(remote, { [url]: storyDto({ price_per_message: null }) }, { path });
  await screen.findByRole('link', { name: '开始聊天' });
  expect(screen.queryByText(/点$/)).toBeNull();
});

test('a first message turns 开始 into 继续, a deleted conversation turns it back', async () => {
  const { live } = openRemote(remote, { [url]: storyDto() }, { path, user: {} });
  await screen.findByRole('link', { name: '开始聊天' });
  const message = { id: 'm-1', conversation_id: 'c-1', story_id: 's-1' };
  live.push('message.created', { conversation_id: 'c-1', version: 1, message });
  expect(await screen.findByRole('link', { name: '继续聊天' })).toBeTruthy();
  live.push('conversation.deleted', { id: 'c-1' });
  expect(await screen.findByRole('link', { name: '开始聊天' })).toBeTruthy();
});

test('a story that is gone has a page that says so and leads on', async () => {
  openRemote(remote, { [url]: { status: 404, body: { message: 'Not found' } } }, { path });
  expect(await screen.findByText('这个故事不在了，也许已经下架')).toBeTruthy();
  expect(screen.getByRole('link', { name: '去看看别的故事' }).getAttribute('href')).toBe('/explore');
});

test('a story that does not come offers to try again', async () => {
  let answers = 0;
  const { user } = openRemote(
    remote,
    {
      [url]: () => {
        answers += 1;
        return answers === 1 ? { status: 500, body: { message: '书被借走了' } } : storyDto();
      },
    },
    { path },
  );
  expect(await screen.findByText('书被借走了')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: '重试' }));
  expect(await screen.findByText('蒲松龄 述')).toBeTruthy();
});

test('with ?chat=1 the chat of this story lies open under its title, and goes back to the story', async () => {
  const Chat = ({ storyId }: { storyId: string }) => <p>{`聊天 ${storyId}`}</p>;
  const { user } = openRemote(remote, { [url]: storyDto() }, { path: `${path}?chat=1`, slots: { 'story.chat': Chat } });
  expect(await screen.findByText('聊天 s-1')).toBeTruthy();
  expect(screen.queryByRole('link', { name: '开始聊天' })).toBeNull();
  await user.click(screen.getAllByRole('button', { name: '返回' }).at(-1) ?? document.body);
  expect(await screen.findByRole('link', { name: '开始聊天' })).toBeTruthy();
});

describe('the title over a chat', () => {
  const slots = { 'story.chat': () => <p>聊天</p> };
  const progress = { scene: 3, scenes: 8, title: '对岸', endings: ['上岸'], endings_count: 2 };
  const openTitle = async (patch: Parameters<typeof storyDto>[0] = {}) => {
    const handlers = { [url]: storyDto({ conversation_id: 'c-1', ...patch }) };
    const opened = openRemote(remote, handlers, { path: `${path}?chat=1`, slots, user: {} });
    await opened.user.click(await screen.findByRole('button', { name: '聂小倩，看看这个故事' }));
    return { ...opened, sheet: within(await screen.findByRole('dialog', { name: '聂小倩' })) };
  };

  test('opens the story: how far one is, endings reached, cast and summary, fetched again', async () => {
    const { sheet, requests } = await openTitle({ progress });
    expect(sheet.getByText('第 3 折 / 共 8 折')).toBeTruthy();
    expect(sheet.getByText('对岸')).toBeTruthy();
    expect(sheet.getByText('走到过 1 个结局，共 2 个：上岸')).toBeTruthy();
    expect(sheet.getByText('寺中女鬼，夜来叩门。')).toBeTruthy();
    expect(sheet.getByRole('button', { name: '分享' })).toBeTruthy();
    await waitFor(() => expect(requests.filter((request) => request.url === '/v1/stories/s-1')).toHaveLength(2));
  });

  test('draws no track of more scenes than have room', async () => {
    const { sheet } = await openTitle({ progress: { scene: 3, scenes: 1000 } });
    expect(sheet.getByText(/第 3 折/)).toBeTruthy();
    expect(sheet.getByRole('region', { name: '读到哪里' }).querySelectorAll('span').length).toBeLessThan(60);
  });

  test('sets the size of the letters there', async () => {
    const { sheet, user } = await openTitle();
    await user.click(sheet.getByRole('radio', { name: '特大' }));
    expect(document.documentElement.dataset.fontSize).toBe('4');
  });

  test.each([
    ['a server that does not say', undefined],
    ['figures that do not fit', { scene: 9, scenes: 8 }],
    ['a story without scenes', { scene: 0, scenes: 0 }],
  ])('claims no progress for %s', async (_, told) => {
    const { sheet } = await openTitle({ progress: told });
    expect(sheet.queryByText(/折/)).toBeNull();
  });
});

test.each([
  ['stand next to an open chat', { wide: true, user: {} }, true],
  ['are away in a narrow window', { wide: false, user: {} }, false],
  ['are away for a visitor, who has none', { wide: true, user: null }, false],
])('the conversations %s', async (_, options, expected) => {
  const slots = {
    'story.chat': () => <p>聊天</p>,
    conversations: ({ storyId }: { storyId: string }) => <p>{`聊过，开着 ${storyId}`}</p>,
  };
  openRemote(remote, { [url]: storyDto() }, { path: `${path}?chat=1`, slots, ...options });
  expect(await screen.findByText('聊天')).toBeTruthy();
  expect(screen.queryByText('聊过，开着 s-1') !== null).toBe(expected);
});

test('a story read before can be read again without a network', async () => {
  const read = openRemote(remote, { [url]: storyDto() }, { path });
  await screen.findByText('蒲松龄 述');
  read.unmount();
  store.dispatch(api.util.resetApiState());
  const lost = () => {
    throw offline();
  };
  openRemote(remote, { [url]: lost }, { path });
  expect(await screen.findByText('月光落在阶前。')).toBeTruthy();
  expect(await screen.findByRole('button', { name: '重试' })).toBeTruthy();
});

describe('收藏', () => {
  const offered = { path, capabilities: ['stories.favorites'] as const, user: {} };
  const put = 'PUT /v1/stories/s-1/favorite';
  const add = () => screen.findByRole('button', { name: '收藏' });
  const remove = () => screen.findByRole('button', { name: '取消收藏' });
  const toasts = () => store.getState().toasts.map(({ text }) => text);

  test('is shown immediately, and sent once', async () => {
    const { user, requests } = openRemote(
      remote,
      { [url]: storyDto({ is_favorite: false }), [put]: { data: { id: 's-1', is_favorite: true } } },
      offered,
    );
    await user.click(await add());
    expect(await remove()).toBeTruthy();
    await waitFor(() => expect(toasts()).toEqual(['已收藏，在「我的」里能找到']));
    expect(requests.filter(({ method }) => method === 'PUT').map(({ body }) => body)).toEqual([{ favorite: true }]);
  });

  test('is undone if the answer says the opposite', async () => {
    const { user } = openRemote(
      remote,
      { [url]: storyDto({ is_favorite: false }), [put]: { data: { id: 's-1', is_favorite: false } } },
      offered,
    );
    await user.click(await add());
    await waitFor(() => expect(toasts()).toEqual(['没能收藏，请再试一次']));
    expect(await add()).toBeTruthy();
  });

  test("stays where it was tapped on the device's copy, whose story comes after it", async () => {
    const { unmount } = openRemote(remote, { [url]: storyDto() }, offered);
    await add();
    unmount();
    store.dispatch(api.util.resetApiState());
    let come: (story: unknown) => void = () => {};
    const story = new Promise((resolve) => {
      come = resolve;
    });
    const { user } = openRemote(remote, { [url]: () => story, [put]: {} }, offered);
    await user.click(await add());
    await waitFor(() => expect(toasts()).toEqual(['已收藏，在「我的」里能找到']));
    come(storyDto({ is_favorite: false }));
    expect(await remove()).toBeTruthy();
  });

  test('of a story that only the list has is shown as saved, and can be taken back', async () => {
    const { user, requests } = openRemote(
      remote,
      { 'GET /v1/stories': pageDto([storyDto()]), [url]: { status: 503, body: {} }, [put]: {} },
      { ...offered, path: '/explore' },
    );
    await user.click(
      (await screen.findAllByRole('link', { name: new RegExp(String(storyDto().title)) }))[0] as HTMLElement,
    );
    await user.click(await add());
    await user.click(await remove());
    await waitFor(() =>
      expect(requests.filter(({ method }) => method === 'PUT').map(({ body }) => body)).toEqual([
        { favorite: true },
        { favorite: false },
      ]),
    );
  });

  test('is saved by a double tap, as by one', async () => {
    const { user, requests } = openRemote(remote, { [url]: storyDto({ is_favorite: false }), [put]: {} }, offered);
    const button = await add();
    await user.click(button);
    await waitFor(() => expect(toasts()).toEqual(['已收藏，在「我的」里能找到']));
    fireEvent.click(button, { detail: 2 });
    expect(await remove()).toBeTruthy();
    expect(requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  /** Holds the first PUT back. */
  function slowPut() {
    let answer = () => {};
    const answered = new Promise((resolve) => {
      answer = () => resolve({});
    });
    let puts = 0;
    return { answer: () => act(async () => answer()), [put]: () => (puts++ === 0 ? answered : {}) };
  }

  const sentBodies = (requests: { method: string; body: unknown }[]) =>
    requests.filter(({ method }) => method === 'PUT').map(({ body }) => body);

  test('tapped again before the answer, is sent again after it', async () => {
    const { answer, ...handlers } = slowPut();
    const { user, requests } = openRemote(remote, { [url]: storyDto({ is_favorite: false }), ...handlers }, offered);
    await user.click(await add());
    await waitFor(() => expect(sentBodies(requests)).toHaveLength(1));
    fireEvent.click(await remove());
    expect(await add()).toBeTruthy();
    expect(sentBodies(requests)).toEqual([{ favorite: true }]);
    await answer();
    await waitFor(() => expect(sentBodies(requests)).toEqual([{ favorite: true }, { favorite: false }]));
    expect(await add()).toBeTruthy();
    expect(toasts()).toEqual([]);
  });

  test('of the page, undone in the sheet before the answer, stays undone', async () => {
    const { answer, ...handlers } = slowPut();
    const chat = { ...offered, path: `${path}?chat=1` };
    // the sheet fetches the story again
    const story = () => storyDto({ is_favorite: sentBodies(requests).length > 0 });
    const { user, requests } = openRemote(remote, { [url]: story, ...handlers }, chat);
    await user.click(await add());
    await user.click(screen.getByRole('button', { name: '聂小倩，看看这个故事' }));
    const sheet = within(await screen.findByRole('dialog'));
    await user.click(await sheet.findByRole('button', { name: '取消收藏' }));
    await answer();
    await waitFor(() => expect(sentBodies(requests)).toEqual([{ favorite: true }, { favorite: false }]));
    await waitFor(() => expect(screen.queryByRole('button', { name: '取消收藏' })).toBeNull());
  });

  test('is shown at the tap, also while the story itself is loading', async () => {
    const { user } = openRemote(
      remote,
      { 'GET /v1/stories': pageDto([storyDto()]), [url]: () => new Promise(() => {}), [put]: {} },
      { ...offered, path: '/explore' },
    );
    await user.click(
      (await screen.findAllByRole('link', { name: new RegExp(String(storyDto().title)) }))[0] as HTMLElement,
    );
    await user.click(await add());
    expect(await remove()).toBeTruthy();
    await waitFor(() => expect(toasts()).toEqual(['已收藏，在「我的」里能找到']));
    await user.click(await remove());
    expect(await add()).toBeTruthy();
  });

  test('is taken back', async () => {
    const { user, requests } = openRemote(remote, { [url]: storyDto({ is_favorite: true }), [put]: {} }, offered);
    await user.click(await remove());
    expect(await add()).toBeTruthy();
    await waitFor(() => expect(requests.at(-1)?.body).toEqual({ favorite: false }));
  });

  test.each([
    ['the server refuses', { status: 500, body: { message: '书架满了' } }, /书架满了/],
    [
      'there is no network',
      () => {
        throw offline();
      },
      /网络|连不上/,
    ],
  ])('is undone, with the reason, where %s', async (_, answer, words) => {
    const { user } = openRemote(remote, { [url]: storyDto(), [put]: answer }, offered);
    await user.click(await add());
    await waitFor(() => expect(toasts().join()).toMatch(words));
    expect(await add()).toBeTruthy();
  });

  test('that finds the session expired counts once the user has signed in again', async () => {
    let isExpired = true;
    const expired = { status: 401, body: { message: 'Unauthenticated.' } };
    const handlers = { [url]: storyDto(), [put]: () => (isExpired ? expired : {}) };
    const { user } = openRemote(remote, handlers, offered);
    const me = session.current();
    onTestEnd(
      authPopup.onRequest(async () => {
        isExpired = false;
        if (me.status === 'member') session.userReceived(memberDto({ id: me.user.id }));
        return true;
      }),
    );
    await user.click(await add());
    await waitFor(() => expect(toasts()).toEqual(['已收藏，在「我的」里能找到']));
    expect(await remove()).toBeTruthy();
  });

  test('of the next user is left alone by a request that fails after the sign-out', async () => {
    let refuse = () => {};
    const refusal = new Promise((_, reject) => {
      refuse = () => reject(offline());
    });
    let isSaved = false;
    const story = () => storyDto({ is_favorite: isSaved });
    const { user, requests } = openRemote(remote, { [url]: story, [put]: () => refusal }, offered);
    await user.click(await add());
    await waitFor(() => expect(requests.at(-1)?.method).toBe('PUT'));
    isSaved = true;
    act(() => session.userReceived(memberDto({ id: 'u-2', name: '燕赤霞' })));
    expect(await remove()).toBeTruthy();
    await act(async () => refuse());
    expect(await remove()).toBeTruthy();
    expect(toasts()).toEqual([]);
  });

  test('is not offered by a server without it', async () => {
    openRemote(remote, { [url]: storyDto() }, { path, user: {} });
    await screen.findByText('蒲松龄 述');
    expect(screen.queryByRole('button', { name: '收藏' })).toBeNull();
  });
});
