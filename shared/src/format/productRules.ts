import { formatNumber, formatPoints } from './numbers';

/** Prices and gifts that users see, in points; undefined unless configured. */
export type ProductRules = ReturnType<typeof toProductRules>;

const toPoints = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const toPointsList = (value: unknown) => (Array.isArray(value) ? value.map(toPoints) : []);

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Parses the site's rules: `{ signUpGift, checkInRewards, inviteReward, storyPrices … }`, each optional. */
export function toProductRules(config: unknown) {
  const rules = toRecord(config);
  const invite = toRecord(rules.inviteReward);
  return {
    signUpGift: toPoints(rules.signUpGift),
    /** for day 1, 2, … in a row; the last one repeats; undefined where unreadable */
    checkInRewards: toPointsList(rules.checkInRewards),
    inviterReward: toPoints(invite.inviter),
    inviteeReward: toPoints(invite.invitee),
    /** one per kind of story */
    messagePrices: toPointsList(Object.values(toRecord(rules.storyPrices))).filter((price) => price !== undefined),
    continuePrice: toPoints(rules.continuePrice),
    suggestionPrice: toPoints(rules.suggestionPrice),
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
