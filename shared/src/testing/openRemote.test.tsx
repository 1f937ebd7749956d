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

test('HTML from strings is refused during a test, as in the page', () => {
  const element = document.createElement('p');
  openRemote(remote, {}, { user: {} });
  expect(() => {
    element.innerHTML = '';
  }).toThrow('innerHTML: the policy of the product');
  expect(() => document.write('<b></b>')).toThrow('write');
  expect(() => element.insertAdjacentHTML('beforeend', '<b></b>')).toThrow('insertAdjacentHTML');
});

test('HTML from strings is possible after the test', () => {
  const element = document.createElement('p');
  element.innerHTML = '<b></b>';
  expect(element.children).toHaveLength(1);
});
