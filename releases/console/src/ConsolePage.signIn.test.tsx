import { beforeEach, describe, expect, test } from '@rstest/core';
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { readToken } from './api';
import { ConsolePage } from './ConsolePage';
import { agendaWith, button, dialog, look, openPage, openSettings, server } from './testing/consoleFixture';

describe('signing in', () => {
  test('the token of the address goes to this tab alone and leaves the address', () => {
    sessionStorage.clear();
    location.hash = '#token=lz_new_token';
    expect(readToken()).toBe('lz_new_token');
    expect(location.hash).toBe('');
    expect(readToken()).toBe('lz_new_token');
  });

  test.each(['#settings&token=lz_new_token', '#token=lz_new_token&settings'])('the view of %s stays', (hash) => {
    sessionStorage.clear();
    location.hash = hash;
    expect(readToken()).toBe('lz_new_token');
    expect(location.hash).toBe('#settings');
  });

  test('without a token the page requests one; a wrong one is reported, the right one opens the page', async () => {
    sessionStorage.clear();
    render(<ConsolePage />);
    await userEvent.type(await screen.findByLabelText('访问令牌'), 'lz_wrong');
    await userEvent.click(button('进入'));
    expect((await screen.findByRole('alert')).textContent).toContain('令牌无效');
    expect(sessionStorage).toHaveLength(0);
    await userEvent.type(screen.getByLabelText('访问令牌'), `${server.token}{Enter}`);
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
    await userEvent.click(button('退出'));
    expect(await screen.findByLabelText('访问令牌')).toBeTruthy();
    expect(sessionStorage).toHaveLength(0);
  });

  test.each([
    ['where the page asks for a token', null],
    ['where another one is in use', 'lz_new'],
  ])('a link with a token, pasted over the open page, signs in %s', async (_, renewed) => {
    if (renewed) {
      await openPage();
      server.token = renewed;
    } else {
      sessionStorage.clear();
      render(<ConsolePage />);
      await screen.findByLabelText('访问令牌');
    }
    location.hash = `#token=${server.token}`;
    fireEvent(window, new Event('hashchange'));
    await waitFor(() => expect(sessionStorage.getItem('liaozhai-console-token')).toBe(server.token));
    expect(location.hash).toBe('');
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
  });

  test('a token that ends while the page is open leads back to signing in', async () => {
    await openPage();
    server.token = 'another';
    look();
    expect((await screen.findByRole('alert')).textContent).toContain('令牌无效');
    expect(screen.queryByText(/状态 7/)).toBeNull();
  });

  test('a server that fails is named with its own words', async () => {
    server.away = true;
    render(<ConsolePage />);
    const told = (await screen.findByRole('alert')).textContent;
    expect(told).toContain('发布存储暂时无法访问');
    expect(told).toContain('the store is away');
    server.away = false;
    await userEvent.click(button('重试'));
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
  });

  test.each([
    ['to sign in', false, '访问令牌'],
    ['where the server fails', true, '重试'],
  ])('the page %s has one main part with its heading', async (_, away, words) => {
    if (!away) sessionStorage.clear();
    server.away = away;
    render(<ConsolePage />);
    await screen.findByText(words);
    expect(within(screen.getByRole('main')).getByRole('heading', { level: 1 }).textContent).toBe('发布台');
    expect(within(screen.getByRole('main')).getByText(words)).toBeTruthy();
  });
});

describe('signing in as a person', () => {
  beforeEach(() => sessionStorage.clear());

  test('is offered next to the token if the console has a provider', async () => {
    server.session = { offered: true, signedIn: false };
    render(<ConsolePage />);
    expect((await screen.findByRole('link', { name: '单点登录' })).getAttribute('href')).toBe('/auth/login');
    await userEvent.type(screen.getByLabelText('访问令牌'), `${server.token}{Enter}`);
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
  });

  test('shows who is at work and what the groups give together, and signs out for good', async () => {
    server.session = { offered: true, signedIn: true };
    const grant = { role: 'deployer', name: 'stories' } as const;
    server.me = { ...grant, person: '李华', more: [{ role: 'deployer', name: 'chat' }] };
    await openPage();
    expect(screen.getAllByText('李华 · 部署者 · stories、部署者 · chat')[0]).toBeTruthy();
    expect([button('回退 chat'), button('回退 stories')].every(Boolean)).toBe(true);
    expect(screen.queryByRole('button', { name: '整体回退' })).toBeNull();
    await userEvent.click(button('退出'));
    await screen.findByRole('link', { name: '单点登录' });
    expect(server.session.signedIn).toBe(false);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('that ends while the page is open says that the session is over, not that a token is wrong', async () => {
    server.session = { offered: true, signedIn: true };
    await openPage();
    server.session.signedIn = false;
    look();
    expect((await screen.findByRole('alert')).textContent).toBe('登录已结束，请重新登录');
  });

  test('that ends while a reason is being typed keeps it for the same question after signing in again', async () => {
    server.session = { offered: true, signedIn: true };
    await openPage();
    const ask = () => userEvent.click(button('回退 chat'));
    const reason = async () => {
      await screen.findByRole('alertdialog');
      return within(dialog()).getByLabelText<HTMLInputElement>('原因（会写入记录）');
    };
    await ask();
    await userEvent.type(await reason(), '封面不见了');
    server.session.signedIn = false;
    look();
    await screen.findByText('登录已结束，请重新登录');
    cleanup();
    server.session.signedIn = true;
    await openPage();
    await ask();
    expect((await reason()).value).toBe('封面不见了');
    await userEvent.click(button('取消'));
    await userEvent.click(button('退出'));
    expect(sessionStorage.length).toBe(0);
  });

  test('that ends while a form is half typed keeps every form for its channel, until the change is made', async () => {
    server.session = { offered: true, signedIn: true };
    server.agenda = agendaWith({ schedules: [] });
    const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);
    const type = (label: string, value: string) => fireEvent.input(field(label), { target: { value } });
    const open = (form: string) => userEvent.click(screen.getByText(form, { selector: 'summary' }));
    const openForms = () => document.querySelectorAll('details[open] form').length;
    await openPage();
    await open('定时扩大');
    type('2. 多久后', '6');
    await userEvent.click(button('加一步'));
    await openSettings();
    for (const form of ['新增通知', '开启双人批准', '为一个人打开', '新增冻结期']) await open(form);
    type('地址（https）', 'https://bot.example/ho');
    type('提议等待多久（小时）', '12');
    type('请求', 'chat@http://localhost:3102');
    type('给谁（会写入记录）', '张伟');
    await userEvent.selectOptions(field('时区'), 'Europe/Berlin');
    await userEvent.selectOptions(field('何时'), '一次');
    type('到', '2026-12-24T18:00');
    server.session.signedIn = false;
    look();
    await screen.findByText('登录已结束，请重新登录');
    cleanup();
    server.session.signedIn = true;
    location.hash = '';
    await openPage();
    expect(screen.getAllByLabelText<HTMLInputElement>(/多久后$/).map(({ value }) => value)).toEqual(['1', '6', '7']);
    await openSettings();
    expect(openForms()).toBe(4);
    expect(
      ['地址（https）', '提议等待多久（小时）', '请求', '给谁（会写入记录）', '何时', '到'].map(
        (label) => field(label).value,
      ),
    ).toEqual(['https://bot.example/ho', '12', 'chat@http://localhost:3102', '张伟', 'once', '2026-12-24T18:00']);
    await userEvent.selectOptions(field('何时'), '每周');
    expect(field('时区').value).toBe('Europe/Berlin');
    await userEvent.click(button('开启双人批准'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '开启双人批准' }));
    await waitFor(() => expect(server.posted()).toHaveLength(1));
    await userEvent.click(button('新增通知'));
    await userEvent.click(await screen.findByRole('button', { name: '知道了' }));
    expect(field('地址（https）').value).toBe('');
    for (const [channel, count] of [
      ['preview', 0],
      ['production', 2],
    ] as const) {
      await userEvent.selectOptions(field('通道'), channel);
      await screen.findByText(/^状态 \d+，/);
      await openSettings();
      expect(openForms()).toBe(count);
    }
    history.replaceState(null, '', location.pathname);
  });

  test('that the server refuses a change is said in the language of the page', async () => {
    server.session = { offered: true, signedIn: true };
    await openPage();
    server.failing.abort = [401, { message: 'no valid token', cure: 'Set RELEASES_TOKEN.' }];
    await userEvent.click(button('中止灰度 stories'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '中止灰度' }));
    expect(await screen.findByText('令牌无效或已失效')).toBeTruthy();
    expect(screen.queryByText('no valid token')).toBeNull();
  });

  test.each([
    ['away', /暂时无法访问.*访问令牌/, '/auth/login'],
    ['noAccess', /没有角色/, '/auth/login?again'],
    ['anything', /日志/, '/auth/login'],
  ])('that failed (%s) is reported in words, once', async (failure, words, href) => {
    server.session = { offered: true, signedIn: false };
    location.hash = `#sign-in=${failure}`;
    render(<ConsolePage />);
    expect((await screen.findByRole('alert')).textContent).toMatch(words);
    expect(screen.getByRole('link', { name: '单点登录' }).getAttribute('href')).toBe(href);
    expect(location.hash).toBe('');
  });
});
