import { formatNumber, formatPoints } from './numbers';

/** The part of the product's rules that people see; what the site does not configure stays undefined. */
export interface ProductRules {
  /** points */
  signUpGift: number | undefined;
  /** points for the first, second … day in a row; the last one repeats */
  checkInRewards: readonly number[];
  inviterReward: number | undefined;
  inviteeReward: number | undefined;
  /** points a message costs, one price per kind of story */
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

/** Reads the rules as the site configures them, `{ signUpGift, checkInRewards, inviteReward, storyPrices … }`; each may be missing. */
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

/**
 * What a new account starts with, by the site's rules: `注册即送 100 点，约 33 条`, counted by this price or by the dearest
 * story's; '' where the rules promise nothing.
 */
export function signUpGiftText(config: unknown, pricePerMessage?: number): string {
  const { signUpGift, messagePrices } = toProductRules(config);
  if (!signUpGift) return '';
  const price = pricePerMessage ?? Math.max(0, ...messagePrices);
  const messages = price > 0 ? Math.floor(signUpGift / price) : 0;
  return `注册即送 ${formatPoints(signUpGift)}${messages > 0 ? `，约 ${formatNumber(messages)} 条` : ''}`;
}
