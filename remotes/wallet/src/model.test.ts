import { rowsOf, withNewest } from '@liaozhai/shared/format';
import { describe, expect, test } from '@rstest/core';
import { transactionDto } from './fixtures';
import { checkoutAddress, checkoutLink, type TransactionPage, toTransaction, yuan } from './model';

const page = (...ids: string[]): TransactionPage => ({
  items: ids.map((id) => toTransaction(transactionDto({ id }))),
  nextCursor: null,
});
const idsOf = (pages: TransactionPage[]) => pages.map((each) => each.items.map((row) => row.id));

describe('the ledger', () => {
  test('what an account starts with is a gift, and no recharge', () => {
    expect(toTransaction({ id: '9', type: 'gift', amount: 100, description: '新人见面礼' }).kind).toBe('gift');
  });

  test('an unknown kind is read as other, a missing balance as unknown', () => {
    const row = toTransaction({ id: '9', type: 'lottery', amount: 5, created_at: '2026-11-20T04:00:00Z' });
    expect(row).toMatchObject({ id: '9', kind: 'other', amount: 5, balanceAfter: undefined, description: '' });
  });

  test('a row is shown once even where pages repeat it', () => {
    expect(rowsOf([page('c', 'b'), page('b', 'a')]).map((row) => row.id)).toEqual(['c', 'b', 'a']);
  });

  test('what was booked since goes on top', () => {
    expect(idsOf(withNewest([page('b'), page('a')], page('c', 'b')))).toEqual([['c', 'b'], ['a']]);
  });

  test('starts again when more was booked than one page tells', () => {
    expect(idsOf(withNewest([page('b'), page('a')], page('f', 'e')))).toEqual([['f', 'e']]);
  });

  test('an empty answer takes nothing away', () => {
    expect(idsOf(withNewest([page('a')], page()))).toEqual([['a']]);
  });
});

describe('paying', () => {
  const here = 'https://liaozhai.example/my/wallet/recharge';

  test.each([
    [600, '6.00'],
    [1, '0.01'],
    [123456, '1234.56'],
  ])('%d cents', (cents, text) => expect(yuan(cents)).toBe(text));

  test('the provider receives the package, the reader and the way back', () => {
    const purchase = { packageId: 'p 6', userId: 'u-1', returnUrl: here };
    expect(checkoutLink(new URL('https://pay.example/start?shop=1'), purchase)).toBe(
      'https://pay.example/start?shop=1&package=p+6&user=u-1&return=https%3A%2F%2Fliaozhai.example%2Fmy%2Fwallet%2Frecharge',
    );
  });

  test('a path is a page of this site', () => {
    expect(checkoutAddress('/pay', here)?.href).toBe('https://liaozhai.example/pay');
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'http://'])('%s is no place to pay', (address) =>
    expect(checkoutAddress(address, here)).toBeUndefined(),
  );
});
