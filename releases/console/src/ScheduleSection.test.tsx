import { describe, expect, test } from '@rstest/core';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ScheduleView } from './api';
import { formats } from './language';
import {
  agendaWith,
  button,
  choose,
  dialog,
  instant,
  openPage,
  section,
  server,
  summary,
} from './testing/consoleFixture';

const later = 'chat@1.1.0+dddddddddddd';
const other = 'chat@1.2.0+eeeeeeeeeeee';

/** Plans the running candidate of stories, and a build of chat whose canary has not begun. */
function planBoth() {
  const { schedules } = agendaWith();
  const [running] = schedules;
  if (!running) throw new Error('nothing is planned');
  server.agenda = agendaWith({ schedules: [running, { ...running, name: 'chat', builds: [later], taken: 0 }] });
}

const openBuilds = async (name: string, ...builds: string[]) => {
  server.builds = builds.map(summary);
  await userEvent.click(within(section('构建')).getByText(name, { selector: 'strong' }));
};

describe('the question of a change names the schedule that it ends', () => {
  test.each(['中止灰度 stories', '全量上线 stories', '回退 stories'])('%s', async (name) => {
    planBoth();
    await openPage();
    await userEvent.click(button(name));
    await waitFor(() => expect(dialog().textContent).toContain('stories 的定时扩大随之结束'));
    expect(dialog().textContent).not.toContain('chat 的定时扩大');
  });

  test('a build that goes live ends a schedule of its remote, whether its canary runs or not', async () => {
    planBoth();
    await openPage();
    await openBuilds('stories', 'stories@1.2.0+ffffffffffff');
    await userEvent.click(await screen.findByRole('button', { name: '上线 stories@1.2.0+ffffffffffff' }));
    expect(within(dialog()).getByText('stories 的定时扩大随之结束')).toBeTruthy();
    await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    await openBuilds('chat', other);
    await userEvent.click(await screen.findByRole('button', { name: `上线 ${other}` }));
    expect(within(dialog()).getByText('chat 的定时扩大随之结束')).toBeTruthy();
  });

  test.each([
    ['the planned build', later],
    ['another build', other],
  ])('a canary of %s ends the schedule of its remote', async (_, build) => {
    planBoth();
    await openPage();
    await openBuilds('chat', later, other);
    await choose(build, '灰度 5%');
    expect(within(dialog()).getByText('chat 的定时扩大随之结束')).toBeTruthy();
  });

  test('a killed build ends its schedule', async () => {
    planBoth();
    server.effect = { ...server.effect, build: later, name: 'chat', live: false, shown: [], lost: [] };
    await openPage();
    await openBuilds('chat', later);
    await choose(later, '禁用');
    expect(await within(dialog()).findByText('chat 的定时扩大随之结束')).toBeTruthy();
  });
});

describe('a schedule whose candidate does not run yet', () => {
  test.each([
    ['停掉计划', '灰度不会开始'],
    ['暂停', '到点也不开始灰度，直到有人点「继续」'],
  ])('%s says what becomes of the canary that would begin', async (name, line) => {
    planBoth();
    await openPage();
    await userEvent.click(within(screen.getByRole('region', { name: '计划 chat' })).getByRole('button', { name }));
    expect(within(dialog()).getByText(line)).toBeTruthy();
    expect(within(dialog()).getByRole('button', { name: '取消' })).toBeTruthy();
  });
});

test('a schedule that only a manager may continue says so, and offers others to end it', async () => {
  const [planned] = agendaWith().schedules;
  if (!planned) throw new Error('nothing is planned');
  const paused = { by: 'gate', at: instant(60), refusal: 'the token of 小李, who made it, was revoked', revoked: true };
  server.agenda = agendaWith({ schedules: [{ ...planned, paused, mayContinue: false }] });
  await openPage();
  expect(screen.getByText('设定者已离开的计划，只有管理者能接手')).toBeTruthy();
  expect([button('继续').disabled, button('停掉计划').disabled]).toEqual([true, false]);
});

describe('a step shows no time that it cannot keep', () => {
  const linesWith = async (parts: Partial<ScheduleView>) => {
    server.agenda = agendaWith({ schedules: agendaWith().schedules.map((each) => ({ ...each, ...parts })) });
    await openPage();
    const plan = screen.getByRole('region', { name: '计划 stories' });
    return [...within(plan).getAllByRole('listitem'), within(plan).getByText(/^下一步/)].map(
      (line) => line.textContent,
    );
  };

  test('while it waits, and where it is paused', async () => {
    const next = { percent: 25, due: instant(60) };
    const waiting = { kind: 'tooFew', tried: 12, control: 90, enough: 30 } as const;
    expect(await linesWith({ next, waiting })).toEqual(['10%', '25%', '所有人', '下一步：25% 的访客']);
    cleanup();
    const paused = { by: '小李', at: instant(60), refusal: '' };
    expect(await linesWith({ paused })).toEqual(['10%', '25%', '所有人', '下一步：25% 的访客']);
  });

  test('after one that is overdue, it counts from now', async () => {
    const [, , last] = await linesWith({ next: { percent: 25, due: instant(4 * 3600) } });
    const soonest = formats.recent(new Date(Date.now() + 179 * 60_000).toISOString());
    const latest = formats.recent(new Date(Date.now() + 180 * 60_000).toISOString());
    expect([`所有人，${soonest}`, `所有人，${latest}`]).toContain(last);
  });
});

describe('the form of a schedule', () => {
  const openForm = () => userEvent.click(screen.getByText('定时扩大', { selector: 'summary' }));
  const shares = () => screen.getAllByLabelText<HTMLInputElement>(/访客 %$/).map(({ value }) => value);

  test('adds steps whose shares rise, and offers none where none fits', async () => {
    server.percent = 75;
    await openPage();
    await openForm();
    for (const expected of ['88 100', '88 94 100', '88 94 97 100', '88 94 97 99 100', '88 94 97 99 99.5 100']) {
      await userEvent.click(button('加一步'));
      expect(shares().join(' ')).toBe(expected);
    }
    await userEvent.clear(screen.getByLabelText('6. 访客 %'));
    await userEvent.type(screen.getByLabelText('6. 访客 %'), '99.6');
    expect(screen.queryByRole('button', { name: '加一步' })).toBeNull();
  });

  test.each([
    ['1. 访客 %', '10'],
    ['2. 访客 %', '25'],
    ['2. 多久后', '1'],
  ])('says before it asks that the steps do not rise (%s: %s)', async (label, value) => {
    await openPage();
    await openForm();
    await userEvent.clear(screen.getByLabelText(label));
    await userEvent.type(screen.getByLabelText(label), value);
    await userEvent.click(button('定时扩大 stories'));
    expect(screen.getByText(/^步骤 10% 现在、.* 没有逐步增大。每一步要比前一步晚，比例也更大$/)).toBeTruthy();
    expect(screen.queryByRole('alertdialog')).toBeNull();
  });

  test('says how late a step may be, and asks nothing about a later one', async () => {
    await openPage();
    await openForm();
    expect(screen.getByText('每一步都要在 30 天之内')).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText('2. 单位'), '天');
    const span = screen.getByLabelText<HTMLInputElement>('2. 多久后');
    for (const [days, isValid] of [
      ['31', false],
      ['30', true],
    ] as const) {
      await userEvent.clear(span);
      await userEvent.type(span, days);
      await userEvent.click(button('定时扩大 stories'));
      expect([span.validity.valid, screen.queryByRole('alertdialog') !== null]).toEqual([isValid, isValid]);
    }
  });

  test('is not offered where everyone has the candidate already', async () => {
    server.percent = 100;
    await openPage();
    expect(screen.queryByText('定时扩大', { selector: 'summary' })).toBeNull();
  });
});
