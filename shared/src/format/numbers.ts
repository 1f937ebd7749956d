let decimalFormat: Intl.NumberFormat | undefined;

/** `1,234` */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '—';
  // created lazily: the locale data costs 50 ms on a slow phone
  decimalFormat ??= new Intl.NumberFormat('zh-CN', { maximumFractionDigits: 2 });
  return decimalFormat.format(value);
}

/** Points as `1,234 点`, with U+2212 as the minus sign. */
export const formatPoints = (points: number): string => `${withMinus(points)} 点`;

/** Change of a balance with its sign: `+50 点`, `−3 点`; zero has none. */
export const formatSignedPoints = (points: number): string => `${points > 0 ? '+' : ''}${withMinus(points)} 点`;

// U+2212 is as wide as the plus sign, so that columns of figures align
const withMinus = (points: number) => formatNumber(points).replace('-', '−');

/** Waiting time in a suitable unit, rounded up: 30 秒 · 15 分钟 · 24 小时. */
export function formatWait(seconds: number): string {
  if (seconds < 120) return `${seconds} 秒`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} 分钟` : `${Math.ceil(seconds / 3600)} 小时`;
}
