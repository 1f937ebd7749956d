import { formatNumber, formatPoints } from './numbers';

/** Prices and gifts that users see, in points; undefined unless configured. */
export interface ProductRules {
  /** points */
  signUpGift: number | undefined;
  /** points for day 1, 2, … in a row; the last one repeats */
  checkInRewards: readonly number[];
  inviterReward: number | undefined;
  inviteeReward: number | undefined;
  /** price of a message in points, one per kind of story */
  messagePrices: readonly number[];
  continuePrice: number | undefined;
  suggestionPrice: number | undefined;
}

const points = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const pointsList = (value: unknown): number[] =>
  Array.isArray(value) ? value.map(points).filter((reward) => reward !== undefined) : [];

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Parses the site's rules: `{ signUpGift, checkInRewards, inviteReward, storyPrices … }`, each optional. */
export function toProductRules(config: unknown): ProductRules {
  const rules = record(config);
  const invite = record(rules.inviteReward);
  return {
    signUpGift: points(rules.signUpGift),
    checkInRewards: pointsList(rules.checkInRewards),
    inviterReward: points(invite.inviter),
    inviteeReward: points(invite.invitee),
    messagePrices: pointsList(Object.values(record(rules.storyPrices))),
    continuePrice: points(rules.continuePrice),
    suggestionPrice: points(rules.suggestionPrice),
  };
}

/** Text for the gift of a new account: `注册即送 100 点，约 33 条`, by this price or the highest one; '' without a gift. */
export function signUpGiftText(config: unknown, pricePerMessage?: number): string {
  const { signUpGift, messagePrices } = toProductRules(config);
  if (!signUpGift) return '';
  const price = pricePerMessage ?? Math.max(0, ...messagePrices);
  const messages = price > 0 ? Math.floor(signUpGift / price) : 0;
  return `注册即送 ${formatPoints(signUpGift)}${messages > 0 ? `，约 ${formatNumber(messages)} 条` : ''}`;
}
