const MINUTE = 60_000;

/** 刚刚, 5 分钟前, 3 小时前, then month, day and time. */
export function relativeTime(instant: string, now: Date): string {
  const at = new Date(instant);
  const minutes = Math.floor((now.getTime() - at.getTime()) / MINUTE);
  if (minutes < 1) return '刚刚';
  if (minutes < 60) return `${minutes} 分钟前`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} 小时前`;
  const time = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  const year = at.getFullYear() === now.getFullYear() ? '' : `${at.getFullYear()}年`;
  return `${year}${at.getMonth() + 1}月${at.getDate()}日 ${time}`;
}

export const nameOf = (id: string): string => id.split('@')[0] ?? id;

/** The version of a build id with the beginnings of its hashes, short enough for a phone: 1.0.0-dev.s8055 · e845. */
export const versionOf = (id: string): string =>
  (id.split('@')[1] ?? id).replace(/(-dev\.s?[0-9a-f]{4})[0-9a-f]+/, '$1').replace(/\+(.{4}).*/, ' · $1');

const PHRASES: [RegExp, string][] = [
  [/ for ([\d.]+) %$/, '（$1% 的访客）'],
  [/ as in state (\d+)$/, '（同状态 $1）'],
  [/^made the channel$/, '建立通道'],
  [/^signed the same state anew$/, '延长签名有效期'],
];

/** What an action of the log was about, in the reader's language and with short build names. */
export function subjectOf(what: string): string {
  const said = PHRASES.reduce((text, [phrase, instead]) => text.replace(phrase, instead), what);
  return said.replace(/[a-z][a-z0-9-]*@[\w.+-]+/g, (id) => `${nameOf(id)} ${versionOf(id)}`).replaceAll(' · ', '·');
}
