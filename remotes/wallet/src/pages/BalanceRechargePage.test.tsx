import { openRemote, screen } from '@liaozhai/shared/testing';
import { afterEach, expect, test } from '@rstest/core';
import remote from '../remote';

const path = '/my/wallet/recharge';
const user = { id: 'u-7', balance: 38 };
const me = { 'GET /v1/user': { data: { id: 'u-7', name: '宁采臣', username: 'a1', balance: 38 } } };
const rechargePackages = [
  { id: 'small', points: 60, priceCents: 600 },
  { id: 'large', points: 1180, priceCents: 9800, label: '最划算' },
];

/** The configuration as the page carries it. */
function configure(config: unknown) {
  const element = document.createElement('script');
  element.type = 'application/json';
  element.id = 'liaozhai-config';
  element.textContent = JSON.stringify(config);
  document.body.append(element);
}

afterEach(() => document.getElementById('liaozhai-config')?.remove());

test('without a provider it says that nothing can be paid, and how to get points', async () => {
  configure({ rechargePackages });
  openRemote(remote, me, { path, user });
  expect(await screen.findByRole('heading', { name: '充值还没有开通' })).toBeTruthy();
  expect(screen.getByText('38')).toBeTruthy();
  expect(screen.getByText('1,180 点')).toBeTruthy();
  expect(screen.getByText('¥98.00')).toBeTruthy();
  expect(screen.getByRole('link', { name: /每日签到/ }).getAttribute('href')).toBe('/my');
  expect(screen.queryByRole('link', { name: /支付/ })).toBeNull();
  expect(screen.queryByRole('radio')).toBeNull();
});

test('with a provider the chosen package leads to its checkout', async () => {
  configure({ rechargePackages, paymentProvider: { name: '某某支付', checkoutUrl: 'https://pay.example/start' } });
  const { user: person } = openRemote(remote, me, { path, user });
  expect(await screen.findByRole('link', { name: '去支付 ¥6.00' })).toBeTruthy();
  await person.click(screen.getByRole('radio', { name: /1,180 点/ }));
  const link = new URL(screen.getByRole('link', { name: '去支付 ¥98.00' }).getAttribute('href') ?? '');
  expect(link.origin).toBe('https://pay.example');
  expect(link.searchParams.get('package')).toBe('large');
  expect(link.searchParams.get('user')).toBe('u-7');
  expect(link.searchParams.get('return')).toBe(`${location.origin}${path}`);
});

test('an address that is no place to pay reads as not open', async () => {
  configure({ rechargePackages, paymentProvider: { name: '某某支付', checkoutUrl: 'javascript:alert(1)' } });
  openRemote(remote, me, { path, user });
  expect(await screen.findByRole('heading', { name: '充值还没有开通' })).toBeTruthy();
});

test('whoever comes back from paying sees what arrived', async () => {
  configure({ rechargePackages });
  let balance = 38;
  openRemote(remote, { 'GET /v1/user': () => ({ data: { ...me['GET /v1/user'].data, balance } }) }, { path, user });
  await screen.findByText('38');
  balance = 98;
  document.dispatchEvent(new Event('visibilitychange'));
  expect(await screen.findByText('98')).toBeTruthy();
});
