import { formatNumber, formatPoints } from './numbers';

const amount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;

/**
 * What a new account starts with, by the site's rules: `注册即送 100 点，约 33 条`, counted by this price or by the dearest
 * story's; '' where the rules promise nothing.
 */
export function signUpGiftText(rules: Record<string, unknown>, pricePerMessage?: number): string {
  const gift = amount(rules.signUpGift);
  if (gift === undefined) return '';
  const { storyPrices } = rules;
  const all = typeof storyPrices === 'object' && storyPrices !== null ? Object.values(storyPrices) : [];
  const price = pricePerMessage ?? Math.max(0, ...all.flatMap((each) => amount(each) ?? []));
  const messages = price > 0 ? Math.floor(gift / price) : 0;
  return `注册即送 ${formatPoints(gift)}${messages > 0 ? `，约 ${formatNumber(messages)} 条` : ''}`;
}
