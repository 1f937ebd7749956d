import type { Draw } from './draw.ts';

const quoteCharacters = 14;

interface Mood {
  words: RegExp;
  answers: string[];
}

/** `{quote}` is the reader's own wording, `{address}` how the speaker calls the reader. */
const moods: Mood[] = [
  {
    words: /不怕|不惧|信你|相信/,
    answers: [
      '{address}说‘{quote}’，这几个字我许久没有听见了，让我再听一回。',
      '‘{quote}’？好。那我便把不敢同旁人说的，也说给{address}听。',
    ],
  },
  {
    words: /后来|然后|接着|继续|往下|说吧|讲吧|请讲/,
    answers: [
      '{address}肯听，我便往下说。只是越往后，灯要拨得越亮些。',
      '‘{quote}’——急什么，夜还长，话要一句一句地走。',
    ],
  },
  {
    words: /你是谁|你叫什么|姓名|何人|来历|身份/,
    answers: [
      '{address}问我来历？名字不过是件衣裳，穿上脱下都容易，要紧的是里头的心。',
      '‘{quote}’——这句话，从前也有人问过。我答了他，他却不敢信。',
    ],
  },
  {
    words: /怕|恐怖|吓|鬼|妖|害我|吃人/,
    answers: [
      '{address}说‘{quote}’，可见心里是怕的。怕便怕罢，肯把怕说出口的人，多半不坏。',
      '世人怕的是獠牙，我见多了的却是笑脸。{address}方才这一怕，倒怕得老实。',
    ],
  },
  {
    words: /喜欢|爱你|娶|嫁|思念|想你|心意|一起走/,
    answers: [
      '‘{quote}’……{address}可知这样的话，说出口便收不回去了？',
      '这话若是戏言，我便当风听；若是真的，{address}且再说一遍。',
    ],
  },
  {
    words: /走吧|告辞|再见|离开|回去|逃/,
    answers: [
      '{address}要走？门没有闩，路也还在，只是夜露正重。',
      '‘{quote}’说得容易。有些门进来时是一扇，出去时便不是那一扇了。',
    ],
  },
  {
    words: /帮|救|替你|我愿意|放心|保护/,
    answers: [
      '{address}肯说‘{quote}’，我便先记下这份情，成与不成，都记着。',
      '多少人听完只是叹气，{address}却要伸手。这双手，将来是要沾上风霜的。',
    ],
  },
  {
    words: /对不起|抱歉|错怪|原谅/,
    answers: ['一句‘{quote}’，抵得过许多解释。我不恼了。', '{address}不必赔礼，人心隔着灯影，谁没有看错的时候。'],
  },
  {
    words: /你好|晚上好|打扰|有人吗|请问|在吗/,
    answers: ['{address}不必多礼，夜里来的都是客，坐下说话。', '许久没有人这样同我招呼了，听着竟有些生疏，又有些暖。'],
  },
  {
    words: /酒|茶|吃|喝|饭/,
    answers: [
      '{address}提起‘{quote}’，倒教这冷清地方有了几分人间烟火。',
      '薄酒粗茶是有的，只看{address}肯不肯同我对坐。',
    ],
  },
  {
    words: /为什么|为何|怎么|怎样|什么|哪里|吗|？|\?/,
    answers: [
      '{address}问‘{quote}’，这话我若照实答，只怕{address}今夜睡不着。',
      '‘{quote}’？问得好。只是答案长着脚，要跟着走几步才看得清。',
      '{address}这一问正问在关节上，容我慢慢说。',
    ],
  },
];

const others = [
  '{address}说‘{quote}’，我听在耳里，也放在心上了。',
  '‘{quote}’——{address}这句话，倒像是替我说的。',
  '原来{address}是这样想的。‘{quote}’，这几个字我会记得。',
];

/** What the speaker says to the reader's words, which it takes up. */
export function echo(words: string, address: string, draw: Draw): string {
  const answers = moods.find((mood) => mood.words.test(words))?.answers ?? others;
  return draw.one(answers).replaceAll('{quote}', quote(words)).replaceAll('{address}', address);
}

/** The reader's first clause, short enough to be repeated, without marks that would nest. */
export function quote(words: string): string {
  const plain = words
    .replace(/[*“”"「」『』<>]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const [clause = ''] = plain.split(/[，。！？；,.!?;\n]/).filter((part) => part.trim());
  const characters = [...(clause.trim() || '……')];
  return characters.length > quoteCharacters
    ? `${characters.slice(0, quoteCharacters).join('')}……`
    : characters.join('');
}
