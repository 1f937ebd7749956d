import {
  oddBodies,
  oddRows,
  openRemote,
  programmersWords,
  refuseToDraw,
  screen,
  waitFor,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { ticketDto, userDto } from './fixtures';
import remote from './remote';

const bodies = oddBodies({ ...userDto(), deletion_at: '2026-12-01 08:00:00', unread_answers: 1, minor: null });

describe('我的 and its pages stand with any value in a field of the user', () => {
  test.each(bodies)('$name', async (body) => {
    const capabilities = ['account.delete', 'account.email', 'account.devices'] as const;
    openRemote(remote, { 'GET /v1/user': { data: body } }, { path: '/my', user: body, capabilities });
    const card = await screen.findByRole('region', { name: '每日签到' });
    expect(card.textContent).toMatch(/签到，领|签到$|今日已签到/);
    expect(programmersWords()).toEqual([]);
  });
});

test('个人资料 stands with any value in a field of the user', async () => {
  for (const body of bodies) {
    const { unmount } = openRemote(remote, {}, { path: '/my/profile', user: body });
    expect(await screen.findByLabelText('昵称')).toBeTruthy();
    expect(programmersWords()).toEqual([]);
    unmount();
  }
});

test('账号与安全 stands with any address, devices and end of the account', async () => {
  const device = {
    id: 'd',
    user_agent: 'Mozilla/5.0 (iPhone) Safari',
    last_used_at: '2026-11-25T08:00:00Z',
    is_current: false,
  };
  const devices = [...oddRows(device), ...oddBodies(device).map((row, at) => ({ ...row, id: `whole-${at}` })), device];
  const email = { email: 'ning@example.org', verified_at: '2026-11-22T08:01:00Z', pending: null };
  for (const body of oddBodies(email)) {
    const handlers = { 'GET /v1/user/email': { data: body }, 'GET /v1/user/sessions': { data: devices } };
    const capabilities = ['account.email', 'account.devices', 'account.delete'] as const;
    const user = userDto({ deletion_at: 'bald' });
    const { unmount } = openRemote(remote, handlers, { path: '/my/security', user, capabilities });
    await waitFor(() => expect(screen.getAllByText(/iPhone/).length).toBeGreaterThan(0));
    expect(screen.getByText(/这个账号即将注销/)).toBeTruthy();
    expect(programmersWords()).toEqual([]);
    unmount();
  }
});

test('客服中心 stands with any value in a field of a ticket, and shows every ticket', async () => {
  const good = { ...ticketDto(), answer: '已经补上', answered_at: '2026-11-23T04:00:00Z' };
  const rows = [...oddRows(good), good];
  const handlers = { 'GET /v1/support/tickets': { data: rows } };
  openRemote(remote, handlers, { path: '/my/support', user: userDto(), capabilities: ['support.tickets'] });
  await waitFor(() => expect(document.querySelectorAll('details').length).toBeGreaterThanOrEqual(rows.length));
  expect(programmersWords()).toEqual([]);
});

describe('a row that throws leaves a line in its place, and the others stay', () => {
  test('in 客服中心', async () => {
    refuseToDraw('崂山道士');
    const rows = ['画皮', '崂山道士', '婴宁'].map((body, at) => ({ ...ticketDto(), id: `k-${at}`, body }));
    const handlers = { 'GET /v1/support/tickets': { data: rows } };
    openRemote(remote, handlers, { path: '/my/support', user: userDto(), capabilities: ['support.tickets'] });
    await waitFor(() => expect(screen.getAllByText('婴宁').length).toBeGreaterThan(0));
    expect(screen.getAllByText('这一条暂时显示不出来')).toHaveLength(1);
  });

  test('among the devices', async () => {
    refuseToDraw('安卓');
    const devices = ['iPhone', 'Android 9'].map((system, at) => ({
      id: `d-${at}`,
      user_agent: `Mozilla/5.0 (${system}) Safari`,
      last_used_at: '2026-11-25T08:00:00Z',
      is_current: false,
    }));
    const handlers = { 'GET /v1/user/sessions': { data: devices } };
    const capabilities = ['account.devices'] as const;
    openRemote(remote, handlers, { path: '/my/security', user: userDto(), capabilities });
    expect(await screen.findByText(/iPhone/)).toBeTruthy();
    expect(screen.getAllByText('这一条暂时显示不出来')).toHaveLength(1);
  });
});
