import { endpoints } from '@liaozhai/shared/contract';
import { request, session, toApiError } from '@liaozhai/shared/runtime';

const compoundSurnames =
  '欧阳 司马 上官 诸葛 慕容 令狐 皇甫 尉迟 公孙 东方 南宫 宇文 长孙 独孤 端木 百里 夏侯 司徒 轩辕 澹台'.split(' ');
const surnames = [
  ...'赵钱孙李周吴郑王冯陈沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁韦柳袁唐薛雷贺汤罗顾孟黄萧尹姚邵宁封耿',
];
const givenCharacters: Record<Gender, string[]> = {
  male: [...'文武浩然宇轩明远志毅子墨云飞景行承泽君豪博书砚松柏川岳逸尘北辰岱山鹤鸣长风安'],
  female: [...'婉清雪莲月华秋水若兰芷瑶琴韵诗涵梦蝶小倩素贞青凤娇娜阿绣香玉霜晚棠锦宁灵'],
};

const COMPOUND_PERCENT = 20;

/** Returns a Chinese-style name: one surname in five is compound; one or two given-name characters by gender. */
export function makeNickname(gender: Gender): string {
  const surname = randomBelow(100) < COMPOUND_PERCENT ? randomOf(compoundSurnames) : randomOf(surnames);
  const length = 1 + randomBelow(2);
  return surname + Array.from({ length }, () => randomOf(givenCharacters[gender])).join('');
}

/** Uniformly distributed integer in [0, limit), from the browser's cryptographic generator. */
export function randomBelow(limit: number): number {
  const range = 2 ** 32;
  const fairLimit = range - (range % limit);
  const [draw = 0] = crypto.getRandomValues(new Uint32Array(1));
  return draw < fairLimit ? draw % limit : randomBelow(limit);
}

function randomOf<Item>(items: ArrayLike<Item>): Item {
  return items[randomBelow(items.length)] as Item;
}

export const randomDigits = (count: number): string => Array.from({ length: count }, () => randomBelow(10)).join('');

export type Gender = 'male' | 'female';

const ATTEMPT_DELAYS_MS = [0, 2_000, 10_000, 60_000];

const currentUser = () => {
  const current = session.current();
  return current.status === 'member' ? current.user : null;
};

/**
 * Saves the gender chosen at registration, whose request has no field for it. Retries after network and server errors, and gives
 * up if the server refuses it, the user signs out, or the profile gets a gender meanwhile. Never rejects.
 */
export async function saveGender(gender: Gender): Promise<void> {
  const owner = currentUser();
  const isWanted = () => {
    const user = currentUser();
    return user !== null && user.id === owner?.id && user.gender === owner.gender;
  };
  for (const pauseMs of ATTEMPT_DELAYS_MS) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (!isWanted()) return;
    try {
      await request({ url: endpoints.user, method: 'PUT', body: { gender } });
      if (isWanted()) session.userPatched({ gender });
      return;
    } catch (cause) {
      const { kind } = toApiError(cause);
      const isFinal = kind !== 'offline' && kind !== 'timeout' && kind !== 'server' && kind !== 'tooOften';
      if (isFinal) return console.warn('the gender was refused', kind);
    }
  }
}
