import '../testing/pageFixture';
import { Link, request, requestLogin } from '@liaozhai/shared/runtime';
import { act, fireEvent, memberDto, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { useState } from 'react';
import { input, inputValue, login, openDialogs, openPopup, reply } from '../testing/authPopup';
import { serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';
import { loadAuthPopup } from './AuthGate';

function ProfilePage() {
  const [name, setName] = useState('');
  return (
    <>
      <h1>改名换姓</h1>
      <input aria-label="新名字" value={name} onChange={(event) => setName(event.target.value)} />
    </>
  );
}

function MyPage() {
  return (
    <>
      <h1>我的书房</h1>
      <Link to="/my/profile">去改名</Link>
    </>
  );
}

beforeAll(() => {
  serveBuild('stories', { explore: async () => ({ default: () => <h1>书架</h1> }) });
  serveBuild('account', { my: async () => ({ default: MyPage }), profile: async () => ({ default: ProfilePage }) });
});

const handlers = {
  'POST /v1/login': { user: memberDto() },
  'GET /v1/transactions': { status: 401, body: {} },
};
const heading = (name: string) => screen.findByRole('heading', { name });
const closePopup = (user: Awaited<ReturnType<typeof openHost>>['user']) =>
  user.click(screen.getByRole('button', { name: '关闭' }));

async function signIn(user: Awaited<ReturnType<typeof openHost>>['user']) {
  await user.click(await screen.findByRole('button', { name: '已有账号？去登录' }));
  await user.type(screen.getByLabelText('用户名'), 'fox');
  await user.type(screen.getByLabelText('密码'), '123456');
  await user.click(screen.getByRole('button', { name: '登录' }));
}

async function expire() {
  const outcome = request({ url: '/v1/transactions' }).catch((error: { kind: string }) => error.kind);
  await heading('注册');
  expect(await outcome).toBe('unauthenticated');
}

describe('a private screen', () => {
  test('requested by a guest: the popup, and after signing in the screen', async () => {
    const { user } = await openHost({ path: '/my', handlers });
    await user.click(await screen.findByRole('link', { name: '去改名' }));
    await heading('注册');
    expect(location.pathname).toBe('/my');
    await signIn(user);
    expect(await heading('改名换姓')).toBeTruthy();
    expect(location.pathname).toBe('/my/profile');
  });

  test('closing the popup stays on the last open page', async () => {
    const { user } = await openHost({ path: '/my', handlers });
    await user.click(await screen.findByRole('link', { name: '去改名' }));
    await heading('注册');
    await closePopup(user);
    expect(location.pathname).toBe('/my');
    expect(screen.getByRole('heading', { name: '我的书房' })).toBeTruthy();
    expect(screen.queryByRole('heading', { name: '改名换姓' })).toBeNull();
  });

  test('opened no more for who has gone elsewhere before the popup’s code has come', async () => {
    await openHost({ path: '/my', handlers });
    const opened = screen.findByRole('link', { name: '去改名' });
    fireEvent.click(await opened);
    fireEvent.click(screen.getByRole('link', { name: '发现' }));
    await heading('书架');
    await act(async () => void (await loadAuthPopup()));
    expect(openDialogs()).toBe(0);
  });

  test('by a link from elsewhere: closing the popup leads to 我的', async () => {
    const { user } = await openHost({ path: '/my/profile', handlers });
    await heading('注册');
    expect(screen.queryByRole('heading', { name: '改名换姓' })).toBeNull();
    await closePopup(user);
    expect(await heading('我的书房')).toBeTruthy();
    expect(location.pathname).toBe('/my');
  });

  test('by a link from elsewhere, closed: back leads to where the visitor came from, not to the popup again', async () => {
    history.replaceState(null, '', '/explore');
    history.pushState(null, '', '/');
    const { user } = await openHost({ path: '/my/profile', handlers });
    await heading('注册');
    await closePopup(user);
    await heading('我的书房');
    await act(async () => history.back());
    expect(await heading('书架')).toBeTruthy();
    expect(location.pathname).toBe('/explore');
    expect(screen.queryByRole('heading', { name: '注册' })).toBeNull();
  });

  test('by a link from elsewhere: signing in shows it', async () => {
    const { user } = await openHost({ path: '/my/profile', handlers });
    await signIn(user);
    expect(await heading('改名换姓')).toBeTruthy();
  });

  test('waits for a session that only its cookie knows of, instead of opening the popup', async () => {
    Object.defineProperty(document, 'cookie', { configurable: true, get: () => 'XSRF-TOKEN=token' });
    onTestEnd(() => void Reflect.deleteProperty(document, 'cookie'));
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await openHost({
      path: '/my/profile',
      keepsStorage: false,
      handlers: { 'GET /v1/user': () => isAnswered.then(() => ({ data: memberDto() })) },
    });
    await act(async () => void (await loadAuthPopup()));
    expect(openDialogs()).toBe(0);
    answer();
    expect(await heading('改名换姓')).toBeTruthy();
    expect(openDialogs()).toBe(0);
  });

  test('a session that ends hides it; the same person finds what they had typed', async () => {
    const { user } = await openHost({ path: '/my/profile', handlers, member: true });
    await user.type(await screen.findByLabelText('新名字'), '婴宁');
    await expire();
    expect(screen.queryByRole('heading', { name: '改名换姓' })).toBeNull();
    await signIn(user);
    await heading('改名换姓');
    expect(screen.getByDisplayValue('婴宁')).toBeTruthy();
  });

  test('another user finds nothing of it', async () => {
    const others = { ...handlers, 'POST /v1/login': { user: memberDto({ id: 'u-2', name: '画皮' }) } };
    const { user } = await openHost({ path: '/my/profile', handlers: others, member: true });
    await user.type(await screen.findByLabelText('新名字'), '婴宁');
    await expire();
    await signIn(user);
    await heading('改名换姓');
    expect(screen.queryByDisplayValue('婴宁')).toBeNull();
  });
});

test('a sign-in whose cookie was not kept says so, and opens nothing again', async () => {
  const { user } = await openHost({ path: '/my', handlers });
  await user.click(await screen.findByRole('link', { name: '去改名' }));
  await heading('注册');
  await signIn(user);
  await heading('改名换姓');
  await request({ url: '/v1/transactions' }).catch(() => undefined);
  expect(await screen.findByText(/登录没能保持/)).toBeTruthy();
  await heading('我的书房');
  expect(openDialogs()).toBe(0);
});

describe('a 401', () => {
  const expired = { 'GET /v1/conversations': reply(401, { message: '请先登录' }) };
  const ask = () => request({ url: '/v1/conversations' }).catch((error: { kind: string }) => error.kind);

  test('opens registration with the password in clear, and still rejects', async () => {
    await openHost({ handlers: expired });
    const outcome = ask();
    expect(await screen.findByRole('heading', { name: '注册' })).toBeTruthy();
    expect(input('password')?.type).toBe('text');
    expect(await outcome).toBe('unauthenticated');
  });

  test('of a member says that nothing is lost, and leads to a login with the name filled in', async () => {
    const { user } = await openHost({ handlers: expired, member: true });
    await ask();
    expect(await screen.findByRole('heading', { name: '注册' })).toBeTruthy();
    expect(screen.getByText('登录已过期，你的对话都在')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '登录' }));
    expect(await screen.findByRole('heading', { name: '登录' })).toBeTruthy();
    expect(input('login')?.value).toBe(memberDto().username);
  });

  test('of a guest says nothing of the kind', async () => {
    await openHost({ handlers: expired });
    await ask();
    await screen.findByRole('heading', { name: '注册' });
    expect(screen.queryByText('登录已过期，你的对话都在')).toBeNull();
  });

  test('ten in parallel open one popup', async () => {
    await openHost({ handlers: expired });
    const all = Promise.all(Array.from({ length: 10 }, ask));
    await screen.findByRole('heading', { name: '注册' });
    await all;
    expect(openDialogs()).toBe(1);
  });

  test('and requests made meanwhile get the same answer', async () => {
    const { user } = await openHost({ handlers: expired });
    const asked = [requestLogin(), requestLogin('login')];
    await ask();
    await screen.findByRole('heading', { name: '注册' });
    await user.click(screen.getByRole('button', { name: '关闭' }));
    expect(await Promise.all(asked)).toEqual([false, false]);
  });

  test('while the popup is open it changes nothing', async () => {
    const { user } = await openPopup(expired, 'login');
    await user.type(screen.getByLabelText('用户名'), 'fox');
    await ask();
    expect(screen.getByRole('heading', { name: '登录' })).toBeTruthy();
    expect(inputValue('login')).toBe('fox');
  });
});

describe('signing in in another tab', () => {
  const signInElsewhere = () => {
    localStorage.setItem('user-store', JSON.stringify(memberDto()));
    window.dispatchEvent(new StorageEvent('storage', { key: 'user-store' }));
  };

  test('closes the popup that is still being fetched', async () => {
    await openHost();
    const answer = requestLogin();
    act(signInElsewhere);
    expect(await answer).toBe(true);
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test('while a form is on its way closes the popup once that is refused', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const { loginResult } = await login({ 'POST /v1/login': () => new Promise((resolve) => (finish = resolve)) });
    act(signInElsewhere);
    await act(async () => finish(reply(422, { message: '用户名或密码不正确' })));
    expect(await loginResult).toBe(true);
    await waitFor(() => expect(openDialogs()).toBe(0));
  });
});
