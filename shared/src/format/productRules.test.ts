import { describe, expect, test } from '@rstest/core';
import { signUpGiftText, toProductRules } from './productRules';

const table: [rules: Record<string, unknown>, price: number | undefined, text: string][] = [
  [{ signUpGift: 100, storyPrices: { short: 2, long: 3 } }, undefined, '注册即送 100 点，约 33 条'],
  [{ signUpGift: 100, storyPrices: { short: 2, long: 3 } }, 2, '注册即送 100 点，约 50 条'],
  [{ signUpGift: 1000 }, 4, '注册即送 1,000 点，约 250 条'],
  [{ signUpGift: 100 }, undefined, '注册即送 100 点'],
  // free stories do not count
  [{ signUpGift: 100, storyPrices: { long: 3 } }, 0, '注册即送 100 点'],
  [{ signUpGift: 2 }, 3, '注册即送 2 点'],
  [{ signUpGift: 100, storyPrices: { short: '2', long: -1 } }, undefined, '注册即送 100 点'],
  [{ signUpGift: 0 }, 3, ''],
  [{ signUpGift: '100' }, 3, ''],
  [{}, 3, ''],
];

test.each(table)('by the rules %j a message at %s: %s', (rules, price, text) => {
  expect(signUpGiftText(rules, price)).toBe(text);
});

describe('product rules', () => {
  test('are read as the site configures them', () => {
    const rules = toProductRules({
      signUpGift: 100,
      checkInRewards: [10, 12],
      inviteReward: { inviter: 50, invitee: 20 },
      storyPrices: { short: 2, long: 3 },
      continuePrice: 1,
    });
    expect(rules.checkInRewards).toEqual([10, 12]);
    expect(rules.inviterReward).toBe(50);
    expect(rules.messagePrices).toEqual([2, 3]);
    expect(rules.suggestionPrice).toBeUndefined();
  });

  test('keep the place of a day whose reward is unreadable', () => {
    expect(toProductRules({ checkInRewards: ['十', 12, -1, 16] }).checkInRewards).toEqual([
      undefined,
      12,
      undefined,
      16,
    ]);
  });

  test.each([[undefined], [null], ['rules'], [{ checkInRewards: 'ten', inviteReward: 5, signUpGift: -1 }]])(
    'survive %j',
    (config) => {
      const rules = toProductRules(config);
      expect(rules.checkInRewards).toEqual([]);
      expect(rules.signUpGift).toBeUndefined();
      expect(rules.inviterReward).toBeUndefined();
    },
  );
});
