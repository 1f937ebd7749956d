/** The part of the product's rules that is told to people; what the site does not configure stays undefined. */
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

/** Reads the rules as the site configures them, `{ signUpGift, checkInRewards, inviteReward, storyPrices … }`, whatever is missing. */
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
