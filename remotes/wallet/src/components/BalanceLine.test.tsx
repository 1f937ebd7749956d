import { defineRemote, session } from '@liaozhai/shared/runtime';
import { act, openRemote, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import type { ComponentType } from 'react';
import remote from '../remote';

/** A page of another remote that contains only the slot and its own name. */
const page = async () => {
  const slot = remote.slots.find(({ name }) => name === 'my.balance');
  if (!slot) throw new Error('wallet fills no slot my.balance');
  const BalanceLine = (await slot.component()).default as ComponentType;
  const Page = () => (
    <>
      <h1>我的页面</h1>
      <BalanceLine />
    </>
  );
  return { default: Page };
};
const my = defineRemote({ name: 'my', routes: [{ name: 'my', path: '/my', title: '我的', page }] });

test('shows the balance and leads to both pages', async () => {
  openRemote(my, {}, { user: { balance: 1234 } });
  expect(await screen.findByText('1,234')).toBeTruthy();
  expect(screen.getByRole('link', { name: '消费明细' }).getAttribute('href')).toBe('/my/wallet/transactions');
  expect(screen.getByRole('link', { name: '充值' }).getAttribute('href')).toBe('/my/wallet/recharge');
});

test('follows what the server tells and what is shown ahead of it', async () => {
  const { live } = openRemote(my, {}, { user: { balance: 100 } });
  await screen.findByText('100');
  live.push('balance.updated', { balance: 110, version: 2 });
  expect(await screen.findByText('110')).toBeTruthy();
  let undo = () => {};
  act(() => {
    undo = session.balanceShifted(-3);
  });
  expect(screen.getByText('107')).toBeTruthy();
  act(() => undo());
  expect(screen.getByText('110')).toBeTruthy();
});

test('is nothing while nobody is signed in', async () => {
  openRemote(my, {});
  // the page is lazy, so the assertion needs it to be mounted
  await screen.findByRole('heading', { name: '我的页面' });
  expect(screen.queryByText('余额')).toBeNull();
});
