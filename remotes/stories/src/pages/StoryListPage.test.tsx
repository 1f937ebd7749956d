import {
  api,
  offlineCache,
  type RouteDefinition,
  readAs,
  ScreenContext,
  session,
  store,
  tab,
  userSchema,
} from '@liaozhai/shared/runtime';
import {
  act,
  fakeEndOfList,
  fireEvent,
  memberDto,
  offline,
  openRemote,
  type RecordedRequest,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { Activity, useMemo, useRef, useState } from 'react';
import { pageDto, storyDto, storyDtos } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const shelf = () => screen.findByRole('list', { name: '故事' });
const titles = async () =>
  within(await shelf())
    .getAllByRole('heading')
    .map((heading) => heading.textContent);

test('the shelf shows cover, title, summary and tags, and leads to the story', async () => {
  const second = storyDto({
    id: 's-2',
    title: '画皮',
    summary: '他带回一个女子。夜里，她在描自己的脸。',
    tags: ['狐鬼', '警世'],
  });
  openRemote(remote, { 'GET /v1/stories': pageDto([storyDto(), second]) });
  const card = await screen.findByRole('link', { name: /画皮/ });
  expect(card.getAttribute('href')).toBe('/story/s-2');
  expect(card.textContent).toContain('他带回一个女子。');
  expect(card.textContent).toContain('狐鬼 · 警世');
  expect(screen.getByText('故事都在这里了')).toBeTruthy();
});

test('an empty shelf says so', async () => {
  openRemote(remote, { 'GET /v1/stories': pageDto([]) });
  expect(await screen.findByText('书架还空着，过一会儿再来看看')).toBeTruthy();
});

test('a failed feed offers to try again in its place', async () => {
  let answers = 0;
  const { user } = openRemote(remote, {
    'GET /v1/stories': () => {
      answers += 1;
      return answers === 1 ? { status: 500, body: { message: '书架塌了' } } : pageDto([storyDto()]);
    },
  });
  expect(await screen.findByText('书架塌了')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: '重试' }));
  expect(await titles()).toEqual(['聂小倩']);
});

test('refreshing puts new stories on top and moves nothing else', async () => {
  let newest = storyDtos(2);
  const { user } = openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
  expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
  await user.click(screen.getByRole('button', { name: '刷新' }));
  expect(await screen.findByRole('link', { name: /新到的/ })).toBeTruthy();
  expect(await titles()).toEqual(['新到的', '故事s-1', '故事s-2']);
});

test('the shelf starts from the stories that came in the page', async () => {
  const { adoptFirstStories } = await import('../api/stories');
  const element = document.createElement('script');
  element.type = 'application/json';
  element.id = 'liaozhai-first';
  element.textContent = JSON.stringify(pageDto(storyDtos(2)));
  document.body.append(element);
  adoptFirstStories();
  const { requests } = openRemote(remote, {});
  expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  expect(requests).toEqual([]);
});

test('刷新 brings the shelf after a first load that failed', async () => {
  let up = false;
  const { user } = openRemote(remote, {
    'GET /v1/stories': () => {
      if (!up) throw offline();
      return pageDto(storyDtos(2));
    },
  });
  await screen.findByRole('button', { name: '重试' });
  up = true;
  await user.click(screen.getByRole('button', { name: '刷新' }));
  expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('without a network the shelf shows what was read last and says what is wrong, until the network is back', async () => {
  const read = openRemote(remote, { 'GET /v1/stories': pageDto(storyDtos(2)) });
  await shelf();
  read.unmount();
  store.dispatch(api.util.resetApiState());
  let up = false;
  let wasBare = false;
  const changes = new MutationObserver(() => {
    wasBare ||= screen.queryByRole('alert') !== null && screen.queryByRole('list', { name: '故事' }) === null;
  });
  changes.observe(document.body, { subtree: true, childList: true });
  openRemote(remote, {
    'GET /v1/stories': () => {
      if (!up) throw offline();
      return pageDto(storyDtos(3));
    },
  });
  expect(await screen.findByText('连不上服务，请检查网络或稍后再试')).toBeTruthy();
  changes.disconnect();
  expect(wasBare, 'a failure in the place of the copy').toBe(false);
  expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  up = true;
  act(() => void window.dispatchEvent(new Event('online')));
  expect(await screen.findByText('故事s-3')).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
});

describe('further down', () => {
  let scrollToEnd: () => Promise<void>;
  beforeEach(() => {
    scrollToEnd = fakeEndOfList();
  });

  test('the next page follows, and a story that both pages hold stands once', async () => {
    openRemote(remote, {
      'GET /v1/stories': ({ params }: RecordedRequest) =>
        params.cursor === 'p2' ? pageDto(storyDtos(3).slice(1)) : pageDto(storyDtos(2), 'p2'),
    });
    expect(await titles()).toEqual(['故事s-1', '故事s-2']);
    await scrollToEnd();
    await screen.findByText('故事s-3');
    expect(await titles()).toEqual(['故事s-1', '故事s-2', '故事s-3']);
    expect(screen.getByText('故事都在这里了')).toBeTruthy();
  });

  test.each([[[null, 5]], [[{}, {}]], [[{ items: [null] }, { items: [{}] }]], ['text']])(
    'the next page follows where the stored pages are %j',
    async (pages) => {
      tab.set('stories.pages.2 pages', '1');
      await offlineCache.write('stories.pages.2', pages);
      openRemote(remote, {
        'GET /v1/stories': ({ params }: RecordedRequest) =>
          params.cursor === 'p2' ? pageDto(storyDtos(3).slice(2)) : pageDto(storyDtos(2), 'p2'),
      });
      await shelf();
      await waitFor(async () => {
        await scrollToEnd();
        expect(screen.getByText('故事s-3')).toBeTruthy();
      });
    },
  );

  test('stories that 刷新 brings while the next page is on its way stay', async () => {
    let newest = storyDtos(2);
    let answer = (_: unknown) => {};
    const secondPage = new Promise((resolve) => {
      answer = resolve;
    });
    const { user } = openRemote(remote, {
      'GET /v1/stories': ({ params }: RecordedRequest) => (params.cursor === 'p2' ? secondPage : pageDto(newest, 'p2')),
    });
    await shelf();
    await scrollToEnd();
    newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
    await user.click(screen.getByRole('button', { name: '刷新' }));
    await screen.findByText('新到的');
    answer(pageDto([storyDto({ id: 's-3', title: '故事s-3' })]));
    await screen.findByText('故事s-3');
    expect(await titles()).toEqual(['新到的', '故事s-1', '故事s-2', '故事s-3']);
  });

  test('a cursor that yields the first page again is the end', async () => {
    const { requests } = openRemote(remote, { 'GET /v1/stories': pageDto(storyDtos(2), 'broken') });
    await shelf();
    await scrollToEnd();
    expect(await screen.findByText('故事都在这里了')).toBeTruthy();
    expect(requests.length).toBe(2);
  });

  test('a page that fails says so at its place and comes on retry', async () => {
    let broken = true;
    const { user } = openRemote(remote, {
      'GET /v1/stories': ({ params }: RecordedRequest) => {
        if (params.cursor !== 'p2') return pageDto(storyDtos(1), 'p2');
        return broken
          ? { status: 500, body: { message: '书掉了' } }
          : pageDto([storyDto({ id: 's-2', title: '捡回来了' })]);
      },
    });
    await shelf();
    await scrollToEnd();
    expect(await screen.findByText('书掉了')).toBeTruthy();
    expect(await titles()).toEqual(['故事s-1']);
    broken = false;
    await user.click(screen.getByRole('button', { name: '重试' }));
    expect(await screen.findByText('捡回来了')).toBeTruthy();
  });
});

describe('继续读', () => {
  const conversations = (...titles: string[]) => ({
    data: titles.map((title, index) => ({
      id: `c-${title}`,
      story: { id: `s-${title}`, title, cover_url: '' },
      version: index,
    })),
  });
  const handlers = (list: object) => ({ 'GET /v1/stories': pageDto(storyDtos(2)), 'GET /v1/conversations': list });
  const offered = () =>
    within(screen.getByRole('region', { name: '继续读' }))
      .getAllByRole('link')
      .map((link) => [link.textContent, decodeURIComponent(link.getAttribute('href') ?? '')]);
  const row = () => screen.queryByRole('region', { name: '继续读' });
  const kept = () => localStorage.getItem('liaozhai-recent:u-1');

  async function visited(list: object) {
    const visit = openRemote(remote, handlers(list), { user: {} });
    await shelf();
    await waitFor(() => expect(kept()).toContain('画皮'));
    visit.unmount();
    store.dispatch(api.util.resetApiState());
  }

  test('leads to the newest three conversations, on the next visit before the server is asked', async () => {
    await visited(conversations('画皮', '聂小倩', '促织', '婴宁'));
    const { requests } = openRemote(remote, handlers(new Promise(() => {})), { user: {} });
    await shelf();
    expect(offered()).toEqual([
      ['继续读画皮', '/story/s-画皮?chat=1'],
      ['继续读聂小倩', '/story/s-聂小倩?chat=1'],
      ['继续读促织', '/story/s-促织?chat=1'],
    ]);
    expect(requests.filter(({ url }) => url === '/v1/conversations').length).toBe(1);
  });

  test('is there once a guest has signed in, and at the first chat', async () => {
    const { live } = openRemote(remote, handlers(conversations('画皮')));
    await shelf();
    expect(row()).toBeNull();
    const member = readAs(userSchema, memberDto());
    act(() => void (member && session.userReceived(member)));
    await waitFor(() => expect(offered().map(([text]) => text)).toEqual(['继续读画皮']));
    live.push('conversation.deleted', { id: 'c-画皮' });
    await waitFor(() => expect(row()).toBeNull());
    const message = { id: 'm-1', conversation_id: 'c-new', story_id: 's-1', role: 'user', body: '*推门* 谁？' };
    live.push('message.created', { conversation_id: 'c-new', version: 1, message });
    await waitFor(() => expect(offered().map(([text]) => text)).toEqual(['继续读故事s-1推门 谁？']));
  });

  test('waits for the top while the reader is further down', async () => {
    let answer = (_: unknown) => {};
    const later = new Promise((resolve) => {
      answer = resolve;
    });
    openRemote(remote, handlers(later), { user: {} });
    await shelf();
    const scroller = screen.getByRole('main');
    scroller.scrollTop = 900;
    await act(async () => answer(conversations('画皮')));
    await waitFor(() => expect(kept()).toContain('画皮'));
    expect(row()).toBeNull();
    scroller.scrollTop = 0;
    fireEvent.scroll(scroller);
    expect(row()).not.toBeNull();
  });

  test('shows the last line and what was not read, and follows both', async () => {
    const list = {
      data: [
        {
          ...conversations('画皮').data[0],
          unread: true,
          last_message: { role: 'assistant', excerpt: '*她笑了笑。*' },
        },
      ],
    };
    const { live } = openRemote(remote, handlers(list), { user: {}, capabilities: ['conversations.unread'] });
    await waitFor(() => expect(offered()[0]?.[0]).toBe('继续读有新回复画皮她笑了笑。'));
    live.push('conversation.updated', { conversation_id: 'c-画皮', conversation: { id: 'c-画皮', unread: false } });
    await waitFor(() => expect(offered()[0]?.[0]).toBe('继续读画皮她笑了笑。'));
    const message = { id: 'm-2', conversation_id: 'c-画皮', story_id: 's-画皮', role: 'assistant', body: '“坐。”' };
    live.push('message.completed', { conversation_id: 'c-画皮', version: 2, message });
    await waitFor(() => expect(offered()[0]?.[0]).toBe('继续读有新回复画皮“坐。”'));
  });

  const begunFirst = {
    data: [{ id: 'c-1', story: { id: 's-1', title: '故事s-1', cover_url: '' }, version: 1 }],
  };
  const card = (name: RegExp) => within(screen.getByRole('list', { name: '故事' })).getByRole('link', { name });

  test('stories that were begun say so, and lead no shelf on a device that did not know of them', async () => {
    openRemote(remote, handlers(begunFirst), { user: {} });
    await waitFor(() => expect(card(/故事s-1/).textContent).toContain('已聊'));
    expect(card(/故事s-2/).textContent).not.toContain('已聊');
    expect(await titles()).toEqual(['故事s-2', '故事s-1']);
  });

  test('a story that is begun elsewhere leads the shelf that is looked at, and no more from the next look on', async () => {
    const kept = [{ id: 's-9', conversationId: 'c-9', title: '别的', coverUrl: '' }];
    localStorage.setItem('liaozhai-recent:u-1', JSON.stringify(kept));
    const visit = openRemote(remote, handlers(begunFirst), { user: {} });
    await waitFor(() => expect(card(/故事s-1/).textContent).toContain('已聊'));
    expect(await titles()).toEqual(['故事s-1', '故事s-2']);
    visit.unmount();
    store.dispatch(api.util.resetApiState());
    openRemote(remote, handlers(new Promise(() => {})), { user: {} });
    expect(await titles()).toEqual(['故事s-2', '故事s-1']);
  });

  test.each([
    ['does not move the place further down that a reload finds again', 900, false],
    ['comes with the reload of a shelf that is at its top', 0, true],
  ])('%s', async (_, scrollTop, comes) => {
    const list = conversations('画皮');
    const visit = openRemote(remote, handlers(list), { user: {} });
    Object.assign(document.querySelector('main') ?? {}, { scrollTop });
    await shelf();
    await waitFor(() => expect(kept()).toContain('画皮'));
    window.dispatchEvent(new Event('pagehide'));
    visit.unmount();
    store.dispatch(api.util.resetApiState());
    openRemote(remote, handlers(list), { user: {} });
    await shelf();
    expect(row() !== null).toBe(comes);
  });

  test('follows what is said and deleted', async () => {
    const kept = [{ id: 's-画皮', conversationId: 'c-画皮', title: '画皮', coverUrl: '' }];
    localStorage.setItem('liaozhai-recent:u-1', JSON.stringify(kept));
    const { live } = openRemote(remote, handlers(conversations('画皮', '促织')), { user: {} });
    const titles = () => offered().map(([text]) => text);
    await shelf();
    await waitFor(() => expect(titles()).toEqual(['继续读画皮', '继续读促织']));
    const message = { id: 'm-1', conversation_id: 'c-new', story_id: 's-1' };
    live.push('message.created', { conversation_id: 'c-new', version: 1, message });
    await waitFor(() => expect(titles()).toEqual(['继续读故事s-1', '继续读画皮', '继续读促织']));
    live.push('conversation.deleted', { id: 'c-画皮' });
    await waitFor(() => expect(titles()).toEqual(['继续读故事s-1', '继续读促织']));
    // a running reply ends after its conversation has been deleted
    const late = { id: 'm-2', conversation_id: 'c-2', story_id: 's-2', role: 'assistant', body: '晚了' };
    live.push('conversation.deleted', { id: 'c-2' });
    live.push('message.completed', { conversation_id: 'c-2', version: 9, message: late });
    live.push('message.created', { conversation_id: 'c-new', version: 2, message: { ...message, body: '还在' } });
    await waitFor(() => expect(titles()).toEqual(['继续读故事s-1还在', '继续读促织']));
  });

  test('is gone with its reader, from the device too', async () => {
    await visited(conversations('画皮'));
    openRemote(remote, { ...handlers(conversations('画皮')), 'POST /v1/logout': {} }, { user: {} });
    await shelf();
    expect(row()).not.toBeNull();
    await act(() => session.signOut());
    expect(row()).toBeNull();
    expect(kept()).toBeNull();
  });

  test('is not there for guests', async () => {
    const { requests } = openRemote(remote, handlers(conversations('画皮')));
    await shelf();
    expect(row()).toBeNull();
    expect(requests.map(({ url }) => url)).not.toContain('/v1/conversations');
  });
});

describe('the search', () => {
  afterEach(() => void rs.useRealTimers());

  const capabilities = ['stories.search'] as const;
  const shelved = [
    storyDto({ id: 's-1', title: '聂小倩', tags: ['兰若寺', '人鬼情'] }),
    storyDto({ id: 's-2', title: '画皮', tags: ['警世'] }),
  ];

  /** Responds like a server that finds `q` in titles and whole tags. */
  const searching = ({ params: { q = '', tag } }: RecordedRequest) =>
    pageDto(shelved.filter(({ title, tags }) => title?.includes(String(q)) && (!tag || tags.includes(String(tag)))));
  const handlers = { 'GET /v1/stories': searching };
  const field = () => screen.findByRole<HTMLInputElement>('searchbox', { name: '搜索故事' });
  /** Visible titles: the shelf itself is hidden behind the search. */
  const inSight = () =>
    screen
      .queryAllByRole('heading', { level: 2 })
      .filter((heading) => !heading.closest('[style*="display: none"]'))
      .map((heading) => heading.textContent);

  test('is offered where the server has one alone', async () => {
    openRemote(remote, handlers);
    await shelf();
    expect(screen.queryByRole('button', { name: '搜索故事' })).toBeNull();
  });

  test('finds what is typed after a pause, keeps it in the address, and leads back to the shelf', async () => {
    const { user, requests } = openRemote(remote, handlers, { capabilities });
    await user.click(await screen.findByRole('button', { name: '搜索故事' }));
    expect(document.activeElement).toBe(await field());
    await user.type(await field(), '画皮');
    await waitFor(() => expect(location.search).toBe(`?q=${encodeURIComponent('画皮')}`));
    await waitFor(() => expect(inSight()).toEqual(['画皮']));
    expect(await screen.findByText('找到 1 个故事')).toBeTruthy();
    expect(requests.filter(({ params }) => params.q).map(({ params }) => params.q)).toEqual(['画皮']);
    await user.click(screen.getByRole('button', { name: '取消' }));
    await waitFor(() => expect(inSight()).toEqual(['聂小倩', '画皮']));
    expect(location.search).toBe('');
  });

  test('is found again by its address, with its words, tag and order', async () => {
    const path = `/explore?q=${encodeURIComponent('画')}&tag=${encodeURIComponent('警世')}&sort=hot`;
    const { requests, user } = openRemote(remote, handlers, { capabilities, path });
    await waitFor(() => expect(inSight()).toEqual(['画皮']));
    expect((await field()).value).toBe('画');
    expect(requests.map(({ params }) => params)).toContainEqual({ q: '画', tag: '警世', sort: 'hot' });
    const tag = screen.getByRole('button', { name: '警世' });
    expect(
      [tag, screen.getByRole('button', { name: '最热' })].map((chip) => chip.getAttribute('aria-pressed')),
    ).toEqual(['true', 'true']);
    await user.click(tag);
    await waitFor(() => expect(location.search).toBe(`?q=${encodeURIComponent('画')}&sort=hot`));
  });

  test('follows an address that changes by another hand, and back', async () => {
    const at = (search: string) =>
      act(() => {
        history.pushState(null, '', `/explore${search}`);
        dispatchEvent(new PopStateEvent('popstate'));
      });
    const { user } = openRemote(remote, handlers, { capabilities, path: '/explore?q=' });
    await user.type(await field(), '画皮');
    await waitFor(() => expect(inSight()).toEqual(['画皮']));
    at(`?tag=${encodeURIComponent('人鬼情')}`);
    await waitFor(() => expect(inSight()).toEqual(['聂小倩']));
    expect((await field()).value).toBe('');
    at(`?q=${encodeURIComponent('画皮')}`);
    await waitFor(() => expect(inSight()).toEqual(['画皮']));
    expect((await field()).value).toBe('画皮');
  });

  test('words that nothing has are said, with the way to all stories', async () => {
    const path = `/explore?q=${encodeURIComponent('没有的')}&tag=${encodeURIComponent('警世')}`;
    const { user } = openRemote(remote, handlers, { capabilities, path });
    expect(await screen.findByText('标签「警世」里没有找到「没有的」')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '看看全部故事' }));
    await waitFor(() => expect(inSight()).toEqual(['聂小倩', '画皮']));
  });

  test('says of no words that this was all before their answer is there', async () => {
    const slow = ({ params }: RecordedRequest) =>
      params.q === '狐狸' ? new Promise(() => {}) : pageDto([storyDto({ title: '狐嫁女' })]);
    const { user, requests } = openRemote(
      remote,
      { ...handlers, 'GET /v1/stories': slow },
      { capabilities, path: `/explore?q=${encodeURIComponent('狐')}` },
    );
    expect(await screen.findByText(texts.search.end)).toBeTruthy();
    await user.type(await field(), '狸');
    await waitFor(() => expect(requests.some(({ params }) => params.q === '狐狸')).toBe(true));
    expect(screen.queryByText(texts.search.end)).toBeNull();
  });

  test('says of no words that nothing was found before their answer is there', async () => {
    let answer: (page: unknown) => void = () => {};
    const slow = ({ params }: RecordedRequest) =>
      params.q === '狐狸' ? new Promise((resolve) => (answer = resolve)) : pageDto([]);
    const { user, requests } = openRemote(
      remote,
      { ...handlers, 'GET /v1/stories': slow },
      { capabilities, path: `/explore?q=${encodeURIComponent('狐')}` },
    );
    expect(await screen.findByText('没有找到「狐」')).toBeTruthy();
    await user.type(await field(), '狸');
    await waitFor(() => expect(requests.some(({ params }) => params.q === '狐狸')).toBe(true));
    expect(screen.queryByText(/没有找到/)).toBeNull();
    answer(pageDto([]));
    expect(await screen.findByText('没有找到「狐狸」')).toBeTruthy();
  });

  test('waits until an input method has composed a word', async () => {
    const { requests } = openRemote(remote, handlers, { capabilities, path: '/explore?q=' });
    const input = await field();
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    fireEvent.compositionStart(input);
    fireEvent.change(input, { target: { value: 'hua pi' } });
    act(() => void rs.advanceTimersByTime(2000));
    fireEvent.change(input, { target: { value: '画皮' } });
    fireEvent.compositionEnd(input);
    act(() => void rs.advanceTimersByTime(2000));
    rs.useRealTimers();
    await waitFor(() => expect(inSight()).toEqual(['画皮']));
    expect(requests.filter(({ params }) => params.q).map(({ params }) => params.q)).toEqual(['画皮']);
  });

  test('a failed search offers to try again, and what was found before does not pass for the answer', async () => {
    const failing = (request: RecordedRequest) =>
      request.params.q ? { status: 500, body: { message: '找不动了' } } : searching(request);
    const { user } = openRemote(remote, { 'GET /v1/stories': failing }, { capabilities, path: '/explore?q=' });
    await waitFor(() => expect(inSight()).toEqual(['聂小倩', '画皮']));
    await user.type(await field(), '画');
    expect(await screen.findByText('找不动了')).toBeTruthy();
    expect(inSight()).toEqual([]);
  });

  test('an address with a search is asked about before it is believed', async () => {
    const path = `/explore?q=${encodeURIComponent('画')}`;
    openRemote(remote, { ...handlers, 'GET /v1/capabilities': { data: ['stories.search'] } }, { path });
    await waitFor(() => expect(inSight()).toEqual(['画皮']));
  });

  test('a server without a search shows its shelf at such an address', async () => {
    const lacking = { 'GET /v1/capabilities': { status: 404, body: { code: 'route_missing' } } };
    openRemote(remote, { 'GET /v1/stories': pageDto(shelved), ...lacking }, { path: '/explore?q=x' });
    await waitFor(() => expect(inSight()).toEqual(['聂小倩', '画皮']));
    expect(screen.queryByRole('searchbox')).toBeNull();
  });

  test('more of what was found follows further down', async () => {
    const scrollToEnd = fakeEndOfList();
    const paged = ({ params }: RecordedRequest) => {
      if (params.tag !== '长卷') return pageDto([]);
      return params.cursor === 'p2' ? pageDto(storyDtos(3).slice(2)) : pageDto(storyDtos(2), 'p2');
    };
    openRemote(
      remote,
      { 'GET /v1/stories': paged },
      { capabilities, path: `/explore?tag=${encodeURIComponent('长卷')}` },
    );
    await waitFor(() => expect(inSight()).toEqual(['故事s-1', '故事s-2']));
    await scrollToEnd();
    await waitFor(() => expect(inSight()).toEqual(['故事s-1', '故事s-2', '故事s-3']));
    expect(screen.getByText('找到的都在这里了')).toBeTruthy();
  });
});

/** The remote with its shelf kept alive as in the host, and functions to leave and to enter the shelf. */
function keptAlive() {
  let enter = (_isActive: boolean) => {};
  const kept = async ({ page }: RouteDefinition) => {
    const { default: Page } = await page();
    const Kept = () => {
      const scroller = useRef<HTMLElement>(null);
      const [isActive, setActive] = useState(true);
      enter = setActive;
      return (
        <Activity mode={isActive ? 'visible' : 'hidden'}>
          <section ref={scroller} aria-label="书架">
            <ScreenContext value={useMemo(() => ({ scroller, isActive }), [isActive])}>
              <Page />
            </ScreenContext>
          </section>
        </Activity>
      );
    };
    return { default: Kept };
  };
  const routes = remote.routes.map((route) => ({ ...route, page: () => kept(route) }));
  return { remote: { ...remote, routes }, enter: (isActive: boolean) => act(() => enter(isActive)) };
}

describe('coming back after a while', () => {
  afterEach(() => void rs.useRealTimers());

  const comeBackAfter = (seconds: number) => {
    rs.setSystemTime(Date.now() + seconds * 1000);
    document.dispatchEvent(new Event('visibilitychange'));
  };

  test('new stories wait behind a pill and do not move what is being looked at', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    let newest = storyDtos(2);
    const { user, requests } = openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
    await shelf();
    const scroller = screen.getByRole('main');
    scroller.scrollTop = 900;
    newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
    comeBackAfter(60);
    expect(requests.length).toBe(1);
    comeBackAfter(301);
    const pill = await screen.findByRole('button', { name: '1 个新故事' });
    expect(await titles()).toEqual(['故事s-1', '故事s-2']);
    await user.click(pill);
    expect(await titles()).toEqual(['新到的', '故事s-1', '故事s-2']);
    expect(scroller.scrollTop).toBe(0);
    expect(screen.queryByRole('button', { name: '1 个新故事' })).toBeNull();
  });

  test('at the top they just appear', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    let newest = storyDtos(1);
    openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
    await shelf();
    newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
    comeBackAfter(301);
    expect(await screen.findByRole('link', { name: /新到的/ })).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole('button', { name: /新故事/ })).toBeNull());
  });

  test('a clock set back does not delay the check', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    let newest = storyDtos(1);
    openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
    await shelf();
    newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
    comeBackAfter(-3600);
    expect(await screen.findByRole('link', { name: /新到的/ })).toBeTruthy();
  });

  test('a reader who meanwhile taps a card finds the shelf as it was', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    const shown = storyDtos(2);
    let answer = (_: unknown) => {};
    let newest: unknown = pageDto(shown);
    const shelfScreen = keptAlive();
    openRemote(shelfScreen.remote, { 'GET /v1/stories': () => newest });
    await shelf();
    screen.getByRole('region', { name: '书架' }).scrollTop = 900;
    newest = new Promise((resolve) => {
      answer = resolve;
    });
    comeBackAfter(301);
    shelfScreen.enter(false);
    await act(async () => answer(pageDto([storyDto({ id: 's-0', title: '新到的' }), ...shown])));
    shelfScreen.enter(true);
    expect(await screen.findByRole('button', { name: '1 个新故事' })).toBeTruthy();
    expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  });
});
