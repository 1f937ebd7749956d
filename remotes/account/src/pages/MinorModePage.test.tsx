import { defineRemote, type MinorDto, request, session, store, useLocation } from '@liaozhai/shared/runtime';
import { act, oddBodies, openRemote, programmersWords, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import type { ComponentType } from 'react';
import { minorTexts } from '../components/minorTexts';
import { userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const rules = { from: '22:00', to: '06:00', minutes_a_day: 40, extension_minutes: 30 };
const minor = (patch: Partial<MinorDto> = {}): MinorDto => ({
  on: true,
  blocked: null,
  seconds_left: 1500,
  resumes_at: null,
  reset_at: null,
  rules,
  ...patch,
});
const off = { on: false, rules };
const blocked = minor({ blocked: 'limit', seconds_left: 0, resumes_at: '2026-11-22T22:00:00.000000Z' });

const open = (handlers: Record<string, unknown>, status: MinorDto | null = null) =>
  openRemote(remote, handlers, {
    path: '/my/minor',
    user: userDto({ minor: status }),
    capabilities: ['account.minor'],
  });

const pinField = () => screen.findByLabelText(minorTexts.guardian);
const said = (text: string) =>
  waitFor(() => expect(store.getState().toasts.map((toast) => toast.text)).toContain(text));
const refused = (field: string, text: string) => ({
  status: 422,
  body: { message: text, errors: { [field]: [text] } },
});

describe('turning it on', () => {
  test('says what it allows, and takes four digits that were given twice', async () => {
    const { user, requests } = open({
      'GET /v1/user/minor': { data: off },
      'PUT /v1/user/minor': { data: minor() },
    });
    expect(await screen.findByText('每天 22:00 到次日 06:00 不能使用')).toBeTruthy();
    expect(screen.getByText('每天最多用 40 分钟，到时由监护人决定是否再用一会儿')).toBeTruthy();
    const turnOn = screen.getByRole('button', { name: minorTexts.turnOn });
    await user.type(screen.getByLabelText(minorTexts.newPin), '12');
    await user.click(turnOn);
    expect(await screen.findByText(minorTexts.pinWrong)).toBeTruthy();
    await user.type(screen.getByLabelText(minorTexts.newPin), '34');
    await user.type(screen.getByLabelText(minorTexts.pinAgain), '1243');
    await user.click(turnOn);
    expect(await screen.findByText(minorTexts.mismatch)).toBeTruthy();
    expect(requests.filter(({ method }) => method === 'PUT')).toEqual([]);
    await user.clear(screen.getByLabelText(minorTexts.pinAgain));
    await user.type(screen.getByLabelText(minorTexts.pinAgain), '１２３４');
    await user.click(turnOn);
    await said(minorTexts.turnedOn);
    expect(requests.find(({ method }) => method === 'PUT')?.body).toEqual({ pin: '1234' });
    expect((await screen.findByRole('timer')).textContent).toMatch(/^2[45]:\d\d$/);
  });
});

test.each<[string, object]>([
  ['no body', { status: 204 }],
  ['an empty object', {}],
  ['a sentence', { message: '已开启' }],
])('a change that is confirmed by %s is fetched', async (_name, confirmation) => {
  let now = off as MinorDto;
  const { user } = open({
    'GET /v1/user/minor': () => ({ data: now }),
    'GET /v1/user': () => userDto({ minor: now.on ? now : null }),
    'PUT /v1/user/minor': () => {
      now = minor();
      return confirmation;
    },
  });
  await user.type(await screen.findByLabelText(minorTexts.newPin), '1234');
  await user.type(screen.getByLabelText(minorTexts.pinAgain), '1234');
  await user.click(screen.getByRole('button', { name: minorTexts.turnOn }));
  await said(minorTexts.turnedOn);
  expect(await screen.findByRole('timer')).toBeTruthy();
  await waitFor(() => expect(session.current()).toMatchObject({ user: { minor: { seconds_left: 1500 } } }));
});

describe('a change whose answer says the opposite is a failure', () => {
  const failed = () =>
    waitFor(() => {
      const toasts = store.getState().toasts.map(({ kind, text }) => [kind, text]);
      expect(toasts).toEqual([['error', '服务暂时不可用，请稍后再试']]);
    });

  test('of turning it on', async () => {
    const { user } = open({ 'GET /v1/user/minor': { data: off }, 'PUT /v1/user/minor': { data: off } });
    await user.type(await screen.findByLabelText(minorTexts.newPin), '1234');
    await user.type(screen.getByLabelText(minorTexts.pinAgain), '1234');
    await user.click(screen.getByRole('button', { name: minorTexts.turnOn }));
    await failed();
  });

  test('of turning it off', async () => {
    const on = { data: minor() };
    const { user } = open({ 'GET /v1/user/minor': on, 'POST /v1/user/minor/unlock': on }, minor());
    await user.type(await pinField(), '1234');
    await user.click(screen.getByRole('button', { name: minorTexts.turnOff }));
    await failed();
  });
});

test.each([[{ on: false, rules }], [[]], [{}], [0]])('the mode is off where the user has %j', async (status) => {
  const user: Record<string, unknown> = { ...userDto(), minor: status };
  openRemote(
    remote,
    { 'GET /v1/user/minor': { data: off } },
    { path: '/my/minor', user, capabilities: ['account.minor'] },
  );
  expect(await screen.findByRole('button', { name: minorTexts.turnOn })).toBeTruthy();
  expect(session.current()).toMatchObject({ user: { minor: null } });
});

test('what the state lacks costs its own line', async () => {
  open({ 'GET /v1/user/minor': { data: { on: 'vielleicht' } } }, { ...minor(), seconds_left: undefined });
  expect((await screen.findByRole('timer')).textContent).toBe('—');
  expect(screen.getByRole('button', { name: minorTexts.turnOff })).toBeTruthy();
});

describe('turning it off', () => {
  test('accepts the PIN; a wrong one is reported at its field', async () => {
    let isRight = false;
    const wrong = '监护密码不正确，还可以试 4 次';
    const { user, requests } = open(
      {
        'GET /v1/user/minor': { data: minor() },
        'POST /v1/user/minor/unlock': () => (isRight ? { data: off } : refused('pin', wrong)),
      },
      minor(),
    );
    await user.type(await pinField(), '0000');
    await user.click(screen.getByRole('button', { name: minorTexts.turnOff }));
    expect(await screen.findByText(wrong)).toBeTruthy();
    isRight = true;
    await user.type(await pinField(), '1234');
    await user.click(screen.getByRole('button', { name: minorTexts.turnOff }));
    await said(minorTexts.turnedOff);
    expect(requests.at(-1)?.body).toEqual({ pin: '1234', off: true });
    expect(await screen.findByRole('button', { name: minorTexts.turnOn })).toBeTruthy();
  });

  test('says what is refused for a field that the form lacks', async () => {
    const problem = '设备数量已满';
    const { user } = open(
      { 'GET /v1/user/minor': { data: minor() }, 'POST /v1/user/minor/unlock': refused('device', problem) },
      minor(),
    );
    await user.type(await pinField(), '1234');
    await user.click(screen.getByRole('button', { name: minorTexts.turnOff }));
    await said(problem);
  });

  test('without the PIN accepts the password, a day after the request', async () => {
    const asked = minor({ reset_at: new Date(Date.now() + 3_600_000).toISOString() });
    const { user, requests } = open(
      { 'GET /v1/user/minor': { data: minor() }, 'POST /v1/user/minor/reset': { data: asked } },
      minor(),
    );
    await user.click(await screen.findByText(minorTexts.forgotten));
    await user.type(screen.getByLabelText(minorTexts.password), '１３５７９０');
    await user.click(screen.getByRole('button', { name: minorTexts.ask }));
    expect(await screen.findByText(/已申请用登录密码关闭/)).toBeTruthy();
    expect(requests.at(-1)?.body).toEqual({ password: '135790' });
    expect(screen.queryByLabelText(minorTexts.password)).toBeNull();
    act(() => session.userPatched({ minor: { ...asked, reset_at: new Date(Date.now() - 1000).toISOString() } }));
    expect(await screen.findByRole('button', { name: minorTexts.resetNow })).toBeTruthy();
  });
});

describe('while it is on', () => {
  /** The slot above a screen, as the host mounts it. */
  const page = async () => {
    const slot = remote.slots.find(({ name }) => name === 'minor');
    if (!slot) throw new Error('account fills no slot minor');
    const MinorGuard = (await slot.component()).default as ComponentType<{ pathname: string }>;
    const Page = () => (
      <>
        <h1>书架</h1>
        <MinorGuard pathname={useLocation().pathname} />
      </>
    );
    return { default: Page };
  };
  const screens = defineRemote({
    name: 'screens',
    routes: ['/explore', '/my/wallet/recharge'].map((path) => ({ name: path, path, title: '书架', page })),
  });
  const guard = (handlers: Record<string, unknown>, status: MinorDto | null, path = '/explore') =>
    openRemote(screens, handlers, { path, user: userDto({ minor: status }) });
  const wholeScreen = () => screen.findByRole('dialog', { name: minorTexts.blocked.limit });

  test('nothing is asked or shown of who has it off', async () => {
    const { requests } = guard({}, null);
    await screen.findByText('书架');
    expect(requests).toEqual([]);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('the whole screen says when it goes on, and the PIN lets it go on immediately', async () => {
    const { user, requests } = guard(
      { 'POST /v1/user/minor/use': { data: blocked }, 'POST /v1/user/minor/unlock': { data: minor() } },
      blocked,
    );
    const face = within(await wholeScreen());
    expect(face.getByText('未成年人模式下，每天最多用 40 分钟。')).toBeTruthy();
    expect(face.getByText(/06:00 起可以继续/)).toBeTruthy();
    await user.type(face.getByLabelText(minorTexts.guardian), '1234');
    await user.click(face.getByRole('button', { name: minorTexts.extend(30) }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(requests.find(({ url }) => url === '/v1/user/minor/unlock')?.body).toEqual({ pin: '1234' });
  });

  const states = [
    ...[0, '0', false, 'no', 'none', ''].map((value) => [value, false] as const),
    ...[1, true, 'LIMIT', 'curfew'].map((value) => [value, true] as const),
  ];
  test.each(states)('the whole screen is shown where the server says blocked: %j → %s', async (value, expected) => {
    const handlers = { 'GET /v1/user': { data: { ...userDto(), version: 2, minor: { ...minor(), blocked: value } } } };
    guard(handlers, minor());
    await act(() => session.refresh());
    await waitFor(() => expect(screen.queryByRole('dialog') !== null).toBe(expected));
  });

  test('a report that is answered after the PIN does not block again', async () => {
    let answerReport = (_answer: object) => {};
    const { user } = guard(
      {
        'POST /v1/user/minor/use': () => new Promise<object>((resolve) => (answerReport = resolve)),
        'POST /v1/user/minor/unlock': { data: minor() },
      },
      blocked,
    );
    const face = within(await wholeScreen());
    await user.type(face.getByLabelText(minorTexts.guardian), '1234');
    await user.click(face.getByRole('button', { name: minorTexts.extend(30) }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await act(async () => answerReport({ data: blocked }));
    expect(session.current()).toMatchObject({ user: { minor: { blocked: null } } });
  });

  test('signing out shows that it is under way', async () => {
    let end = (_answer: object) => {};
    const { user } = guard(
      {
        'POST /v1/user/minor/use': { data: blocked },
        'POST /v1/logout': () => new Promise<object>((resolve) => (end = resolve)),
      },
      blocked,
    );
    const signOut = within(await wholeScreen()).getByRole('button', { name: texts.signOut.action });
    await user.click(signOut);
    expect(signOut.getAttribute('aria-busy')).toBe('true');
    await act(async () => end({ status: 204 }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  test('a call that is refused brings the whole screen, although this page knew of time left', async () => {
    let isOver = false;
    guard(
      {
        'POST /v1/user/minor/use': () => ({ data: isOver ? blocked : minor() }),
        'POST /v1/messages': { status: 403, body: { message: '用完了', code: 'minor_mode', reason: 'limit' } },
      },
      minor(),
    );
    await screen.findByText('书架');
    isOver = true;
    await expect(request({ url: '/v1/messages', method: 'POST' })).rejects.toMatchObject({ kind: 'minorMode' });
    expect(await wholeScreen()).toBeTruthy();
  });

  test('says once that little is left', async () => {
    const few = minor({ seconds_left: 200 });
    guard({ 'POST /v1/user/minor/use': { data: few } }, few);
    await said(minorTexts.fewLeft(5));
  });

  test('cannot recharge', async () => {
    guard({ 'POST /v1/user/minor/use': { data: minor() } }, minor(), '/my/wallet/recharge');
    expect(await screen.findByRole('alertdialog', { name: minorTexts.noRecharge })).toBeTruthy();
  });
});

test('the page stands with any value in a field of the mode', async () => {
  for (const state of oddBodies({ ...minor(), resumes_at: '2026-11-22 22:00:00', reset_at: '2026-11-22 22:00:00' }, [
    'on',
  ])) {
    const { unmount } = open({ 'GET /v1/user/minor': { data: state } }, state);
    expect(await screen.findByRole('button', { name: minorTexts.turnOff })).toBeTruthy();
    expect(programmersWords()).toEqual([]);
    unmount();
  }
});
