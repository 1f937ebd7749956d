import { openRemote, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const open = () =>
  openRemote(remote, { 'GET /v1/user': { data: userDto() } }, { path: '/my/support', user: userDto() });

test('a question opens to its answer', async () => {
  const { user } = open();
  const question = await screen.findByText('怎样修改密码？');
  await user.click(question);
  expect(question.closest('details')?.open).toBe(true);
});

test('without a configured contact the page says so', async () => {
  open();
  expect(await screen.findByText(texts.support.noContact)).toBeTruthy();
});

test('the diagnostics name the account and can be copied whole', async () => {
  const { user } = open();
  await user.click(await screen.findByRole('button', { name: texts.support.copyDiagnostics }));
  const copied = await navigator.clipboard.readText();
  expect(copied).toContain(`${texts.support.userId}：u-1`);
  expect(copied).toContain(`${texts.support.browser}：${navigator.userAgent}`);
});
