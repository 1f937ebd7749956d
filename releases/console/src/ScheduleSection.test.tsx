import { describe, expect, test } from '@rstest/core';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { agendaWith, button, choose, dialog, openPage, section, server, summary } from './testing/consoleFixture';

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

  test('a canary ends the schedule of the same build, and leaves that of another build', async () => {
    planBoth();
    await openPage();
    await openBuilds('chat', later, other);
    await choose(other, '灰度 5%');
    expect(dialog().textContent).not.toContain('定时扩大');
    await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    await choose(later, '灰度 5%');
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
