import { toProductRules } from '@liaozhai/shared/format';
import { expect, test } from '@rstest/core';
import { supportQuestions } from './supportQuestions';

const answersOf = (config: unknown, canDelete = false): Record<string, string> =>
  Object.assign({}, ...Object.values(supportQuestions(toProductRules(config), canDelete)));

const answerTo = (question: string, config: unknown) => answersOf(config)[question];

test('the answers quote the figures of this site', () => {
  const config = {
    checkInRewards: [10, 12, 30],
    inviteReward: { inviter: 50, invitee: 20 },
    storyPrices: { short: 2, long: 3 },
    continuePrice: 1,
  };
  expect(answerTo('聊天怎么收费？', config)).toContain('每发一条消息 2–3 点');
  expect(answerTo('聊天怎么收费？', config)).not.toContain('灵感');
  expect(answerTo('签到有什么奖励？', config)).toContain('第 1 天 10、第 2 天 12、第 3 天 30 点，之后每天 30 点');
  expect(answerTo('怎样邀请好友？', config)).toContain('你得 50 点，好友得 20 点');
});

test('without figures no answer invents one', () => {
  for (const answer of Object.values(answersOf({}))) expect(answer).not.toMatch(/\d 点|undefined|NaN|Infinity/);
});

test('how to delete the account depends on whether the server can', () => {
  const answer = (canDelete: boolean) => answersOf({}, canDelete)['怎样注销账号？'];
  expect(answer(true)).toContain('「账号与安全」');
  expect(answer(false)).toContain('应用里没有自助注销');
});
