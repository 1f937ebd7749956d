import * as v from 'valibot';

const points = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000));

/** Prices and rewards, in whole points. `PRICES` contains only the fields that differ. */
export const pricesSchema = v.strictObject({
  signUpGift: v.optional(points, 100),
  /** Price of a message, by the length of its story. */
  storyPrices: v.optional(
    v.strictObject({
      short: v.optional(points, 2),
      long: v.optional(points, 3),
    }),
    {},
  ),
  /** Price of a message in any story, by the model in `AI_MODEL`. */
  modelPrices: v.optional(v.record(v.string(), points), {}),
  continuePrice: v.optional(points, 1),
  suggestionPrice: v.optional(points, 1),
  /** Rewards for the 1st, 2nd … consecutive day. The last one repeats. */
  checkInRewards: v.optional(v.pipe(v.array(points), v.minLength(1), v.maxLength(31)), [10, 12, 14, 16, 18, 20, 30]),
  inviteReward: v.optional(
    v.strictObject({
      inviter: v.optional(points, 50),
      invitee: v.optional(points, 20),
    }),
    {},
  ),
});

export type Prices = v.InferOutput<typeof pricesSchema>;

export const defaultPrices: Prices = v.parse(pricesSchema, {});

/** Returns the prices for a model; undefined is the built-in storyteller. */
export function pricesFor(prices: Prices, model: string | undefined): Prices {
  const price = model === undefined ? undefined : prices.modelPrices[model];
  return price === undefined ? prices : { ...prices, storyPrices: { short: price, long: price } };
}

/** Returns the points for a check-in on a day of a streak (1-based). */
export const checkInReward = ({ checkInRewards }: Prices, streak: number): number =>
  checkInRewards[Math.min(streak, checkInRewards.length) - 1] ?? 0;

/** Returns the prices in the shape of `GET /v1/capabilities`. */
export const presentPrices = (prices: Prices) => ({
  sign_up_gift: prices.signUpGift,
  story_prices: prices.storyPrices,
  continue_price: prices.continuePrice,
  suggestion_price: prices.suggestionPrice,
  check_in_rewards: prices.checkInRewards,
  invite_reward: prices.inviteReward,
});
