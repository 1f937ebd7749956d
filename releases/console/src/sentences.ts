import { CHECKS, createSentenceParser, fill } from '../../src/sentences';
import { SENTENCES } from '../../src/sentenceTable';
import { FAILURES, ROLES, VERBS } from './words';

const OTHERS: Record<string, string> = {
  'the store': '存储',
  'auto-stop': '自动中止',
  console: '发布台',
  ...{ Mon: '周一', Tue: '周二', Wed: '周三', Thu: '周四', Fri: '周五', Sat: '周六', Sun: '周日' },
  // outcomes of a proposal or a schedule
  ...{ approved: '已批准', rejected: '已驳回', withdrawn: '已撤回', expired: '已过期', interrupted: '已中断' },
  ...{ set: '设定', paused: '已暂停', continued: '已继续', cancelled: '已取消', waits: '等待', ended: '已结束' },
  ...{ refused: '未通过检查', revoked: '设定者已离开' },
};

const readSentence = createSentenceParser();
const named = Object.entries({ ...FAILURES, ...VERBS, ...ROLES }).map(([name, [chinese]]) => [name, chinese]);
const words: Record<string, string> = { ...Object.fromEntries(named), ...CHECKS, ...OTHERS };

const UNITS: Record<string, string> = { m: '分钟后', h: '小时后', d: '天后' };
const STEP = /^(\d+(?:\.\d+)?)@(?:now|(\d+)([mhd]))$/;

/** Translates a word, a step of a schedule or a list; other text stays unchanged. */
function translatePart(text: string): string {
  // the log adds the id of the token
  if (text.startsWith('local console')) return text.replace('local console', '本机发布台');
  if (Object.hasOwn(words, text)) return words[text] ?? text;
  const [, percent, span, unit = ''] = STEP.exec(text) ?? [];
  if (percent) return `${percent}% ${span ? `${span} ${UNITS[unit]}` : '现在'}`;
  const items = text.split(/,\s?/);
  const translated = items.length > 1 ? items.map(translateSentence) : items;
  return translated.join() === items.join() ? text : translated.join('、');
}

function translateSentence(text: string): string {
  const match = readSentence(text);
  if (!match) return translatePart(text);
  const values = Object.entries(match.values).map(([name, value]) => [name, translateSentence(value)]);
  return fill(SENTENCES[match.kind][1], Object.fromEntries(values));
}

/** Translates text of the server to Chinese; unknown text stays unchanged. */
export function inChinese(text: string): string {
  const parts = text.split('; ');
  const translated = parts.map(translateSentence);
  return translated.join() === parts.join() ? text : translated.join('；');
}
