import './testing/pageFixture';
import { session } from '@liaozhai/shared/runtime';
import { act, fakeApi, fakeRealtime, memberDto, onTestEnd, screen, userEvent } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { renderApp } from './App';
import { openPage, serveBuild } from './testing/fakeRemotes';
import { openHost } from './testing/openHost';

let bringStudy = () => {};
const study = new Promise<void>((resolve) => {
  bringStudy = resolve;
});

beforeAll(() => {
  serveBuild('stories', {
    explore: async () => ({ default: () => <h1>书架</h1> }),
    story: async () => ({ default: () => <h1>聂小倩</h1> }),
  });
  serveBuild('account', { my: () => study.then(() => ({ default: () => <h1>书房</h1> })) });
});

/** Server-rendered content, which the reader sees before the app is loaded. */
function prerender(path = '/explore', content = '六张卡片'): Element {
  history.replaceState(null, '', path);
  document.body.innerHTML = `<div id="root"><div data-first="${path}"><main>${content}</main></div></div>`;
  return screen.getByRole('main');
}

async function start(expected = '书架', meanwhile = () => {}) {
  const network = fakeApi({});
  const socket = fakeRealtime();
  onTestEnd(network.restore);
  onTestEnd(socket.restore);
  await act(async () => {
    const root = renderApp(openPage());
    onTestEnd(() => root.unmount());
    meanwhile();
  });
  await screen.findByText(expected);
}

const scrolled = () => screen.getByRole('main').scrollTop;

describe('the app, when it takes the place of what the server rendered,', () => {
  test('goes on where the reader has scrolled to', async () => {
    prerender().scrollTop = 400;
    await start();
    expect(scrolled()).toBe(400);
  });

  test('knows of a step made while it stood there', async () => {
    const rendered = prerender();
    await start('书架', () => {
      rendered.scrollTop = 90;
      rendered.dispatchEvent(new Event('scroll'));
    });
    expect(scrolled()).toBe(90);
  });

  test('keeps it where it was scrolled to, its links within the app, until the screen itself is there', async () => {
    prerender('/my', '<a href="/story/nie-xiaoqian">接着读</a>').scrollTop = 120;
    await start('接着读');
    expect(scrolled()).toBe(120);
    await userEvent.click(screen.getByRole('link', { name: '接着读' }));
    expect(await screen.findByRole('heading', { name: '聂小倩' })).toBeTruthy();
    act(() => history.back());
    expect(await screen.findByRole('link', { name: '接着读' })).toBeTruthy();
    bringStudy();
    expect(await screen.findByRole('heading', { name: '书房' })).toBeTruthy();
    expect(screen.queryByText('接着读')).toBeNull();
  });

  test.each([
    ['left off before a reload, if nobody has scrolled since', 0, 250],
    ['has scrolled to since the reload', 60, 60],
  ])('goes on where the reader %s', async (_, since, expected) => {
    sessionStorage.setItem('liaozhai-scroll', JSON.stringify([['explore:/explore', 250]]));
    prerender().scrollTop = since;
    await start();
    expect(scrolled()).toBe(expected);
  });
});

describe('未成年人模式', () => {
  beforeAll(() =>
    serveBuild('account', {
      minor: async () => ({ default: ({ pathname }: { pathname: string }) => <p>看着 {pathname}</p> }),
    }),
  );
  const rules = { from: '22:00', to: '06:00', minutes_a_day: 40, extension_minutes: 30 };
  const minor = { blocked: null, seconds_left: 600, resumes_at: null, reset_at: null, rules };

  test('is kept over every screen of who has it on, and of nobody else', async () => {
    const { user } = await openHost({
      path: '/explore',
      member: true,
      handlers: { 'GET /v1/user': { data: memberDto() } },
    });
    await screen.findByText('书架');
    expect(screen.queryByText(/看着/)).toBeNull();
    act(() => session.userPatched({ minor }));
    expect(await screen.findByText('看着 /explore')).toBeTruthy();
    await user.click(screen.getByRole('link', { name: '聊过' }));
    expect(await screen.findByText('看着 /conversations')).toBeTruthy();
  });
});

test('the tab 聊过 says that a reply waits, on every screen but a chat', async () => {
  const { user } = await openHost({ path: '/explore', member: true });
  await screen.findByText('书架');
  const tab = () => screen.getByRole('link', { name: /^聊过/ });
  expect(tab().textContent).toBe('聊过');
  act(() => session.userPatched({ unread_conversations: 1 }));
  expect(tab().textContent).toBe('聊过有新回复');
  await user.click(tab());
  expect(tab().textContent).toBe('聊过有新回复');
  act(() => session.userPatched({ unread_conversations: 0 }));
  expect(tab().textContent).toBe('聊过');
});
