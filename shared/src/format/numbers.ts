let decimal: Intl.NumberFormat | undefined;

/** `1,234` */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '—';
  // made when first needed: the locale's data costs a slow phone 50 ms, which no start should pay
  decimal ??= new Intl.NumberFormat('zh-CN', { maximumFractionDigits: 2 });
  return decimal.format(value);
}

/** An amount of points: `1,234 点`, below zero with a true minus sign. */
export const formatPoints = (points: number): string => `${withMinus(points)} 点`;

/** A change of the balance, sign always shown: `+50 点`, `−3 点`; zero has none. */
export const formatSignedPoints = (points: number): string => `${points > 0 ? '+' : ''}${withMinus(points)} 点`;

// U+2212 is as wide as the plus, so that a column of figures stays even.
const withMinus = (points: number) => formatNumber(points).replace('-', '−');

/** How long to wait, the longer the coarser, rounded up: 30 秒 · 15 分钟 · 24 小时. */
export function formatWait(seconds: number): string {
  if (seconds < 120) return `${seconds} 秒`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} 分钟` : `${Math.ceil(seconds / 3600)} 小时`;
}
