/** How long to wait, the longer the coarser, rounded up: 30 秒 · 15 分钟 · 24 小时. */
export function formatWait(seconds: number): string {
  if (seconds < 120) return `${seconds} 秒`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} 分钟` : `${Math.ceil(seconds / 3600)} 小时`;
}
