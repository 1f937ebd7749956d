import { describe, expect, test } from '@rstest/core';
import { checkInDto } from './fixtures';
import { avatarChoices, inviteLink, toAvatars, toCheckIn, toProfile, unsavedEdits } from './model';
import { toProductRules } from './model/productRules';

describe('unsaved edits', () => {
  const saved = toProfile({ name: '宁采臣', avatar: null, gender: 'male', persona: '' });

  test('are those that differ from what is saved', () => {
    expect(unsavedEdits(saved, { name: '宁生', persona: '' })).toEqual({ name: '宁生' });
  });

  test('are gone once typed back', () => {
    expect(unsavedEdits(saved, { name: '宁采臣' })).toEqual({});
  });
});

test('a second check-in of the day awards nothing, whatever else the server says', () => {
  expect(toCheckIn(checkInDto({ already_checked_in: true, awarded: 16 })).awarded).toBe(0);
});

test('an invite link carries the code whole', () => {
  expect(inviteLink('https://liaozhai.example', 'A&B')).toBe('https://liaozhai.example/?invite=A%26B');
});

describe('avatars on offer', () => {
  test.each([
    ['bare', ['/a.svg'], ['/a.svg']],
    ['in data', { data: ['/a.svg', '/b.svg'] }, ['/a.svg', '/b.svg']],
    ['with foreign addresses and rubbish left out', ['https://elsewhere.example/a.svg', 7, null, '/a.svg'], ['/a.svg']],
    ['with hosts that look like paths left out', ['//elsewhere.example/a.svg', '/\\elsewhere.example/a.svg', '//'], []],
    ['absent', null, []],
  ])('%s', (_how, body, expected) => {
    expect(toAvatars(body)).toEqual(expected);
  });

  test('include the present one', () => {
    expect(avatarChoices(['/a.svg'], '/mine.svg')).toEqual(['/mine.svg', '/a.svg']);
    expect(avatarChoices(['/a.svg'], '/a.svg')).toEqual(['/a.svg']);
  });
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
