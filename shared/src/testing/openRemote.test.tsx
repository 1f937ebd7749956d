import { expect, test } from '@rstest/core';
import { defineRemote, toast } from '../runtime';
import { openRemote } from './openRemote';

const remote = defineRemote({
  name: 'tasks',
  routes: [
    {
      name: 'list',
      path: '/tasks',
      title: '任务',
      requiresAuth: true,
      page: async () => ({
        default: () => (
          <button type="button" onClick={() => toast('已收下')}>
            收下
          </button>
        ),
      }),
    },
  ],
});

test('a page’s toasts show, as in the host', async () => {
  const { user, findByRole, findByText } = openRemote(remote, {}, { user: {} });
  await user.click(await findByRole('button', { name: '收下' }));
  expect(await findByText('已收下')).toBeTruthy();
});

test('a page that needs a signed-in user is not opened to a visitor', () => {
  expect(() => openRemote(remote, {})).toThrow('/tasks needs a signed-in user');
});
