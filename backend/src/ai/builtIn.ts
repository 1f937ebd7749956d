import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Voice } from '../content/content.ts';
import type { Env } from '../env.ts';
import type { Piece, StoryContext, Storyteller } from './storyteller.ts';

/** Thrown when a test asked for it. */
class ScriptedFailure extends Error {}

/** A storyteller without a model: seeded, in the voice of the story, its pace and failures set by `STORYTELLER_…`. */
export function builtInStoryteller(env: Env): Storyteller {
  return {
    async *generate(context, { signal }): AsyncIterable<Piece> {
      const text = composeReply(context);
      const script = scriptOf(env, context);
      await sleep(env.STORYTELLER_START_DELAY_MS, undefined, { signal });
      const pieces = inPieces(text, env.STORYTELLER_PIECE_CHARACTERS);
      for (const [index, piece] of pieces.entries()) {
        if (script !== 'write' && index >= pieces.length / 2) await interrupt(script, signal);
        yield { text: piece };
        await sleep(env.STORYTELLER_PIECE_DELAY_MS, undefined, { signal });
      }
      yield { usage: { totalTokens: text.length } };
    },
    async suggest(context, count, { signal }) {
      await sleep(env.STORYTELLER_SUGGESTION_DELAY_MS, undefined, { signal });
      if (scriptOf(env, context) === 'fail') throw new ScriptedFailure('scripted failure');
      return composeSuggestions(context, count);
    },
  };
}

const lastWords = ({ history }: StoryContext): string =>
  history.filter((line) => line.role === 'user').at(-1)?.text ?? '';

type Script = 'write' | 'fail' | 'hang';

/** A marked line fails or hangs only the first time, so that going on with the reply can succeed. */
function scriptOf(env: Env, context: StoryContext): Script {
  const words = lastWords(context);
  if (context.continuing)
    return new Draw(`${context.seed}|rate`).fraction() < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
  if (env.STORYTELLER_HANG_WORD && words.includes(env.STORYTELLER_HANG_WORD)) return 'hang';
  if (env.STORYTELLER_FAIL_WORD && words.includes(env.STORYTELLER_FAIL_WORD)) return 'fail';
  return new Draw(`${context.seed}|rate`).fraction() < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
}

async function interrupt(script: 'fail' | 'hang', signal: AbortSignal): Promise<void> {
  if (script === 'fail') throw new ScriptedFailure('scripted failure');
  await sleep(2 ** 31 - 1, undefined, { signal });
}

/** The whole text of a reply, or of a continuation. */
export function composeReply(context: StoryContext): string {
  const voice = voiceOf(context);
  const draw = new Draw(`${context.seed}|${lastWords(context)}`);
  const said = context.history.map((line) => line.text).join('\n');
  const fresh = (list: string[]) => {
    const unsaid = list.filter((item) => !said.includes(item));
    return draw.one(unsaid.length > 0 ? unsaid : list);
  };
  const beat = nextBeat(voice, said) ?? fresh(voice.scenery);
  if (context.continuing) return `\n\n*${fresh(voice.gestures)}*\n\n${beat}\n\n“${fresh(voice.sayings)}”`;
  const answer = echo(lastWords(context), voice.address, draw);
  return [
    `*${fresh(voice.gestures)}*`,
    `“${answer}${callback(context, voice)}”`,
    `${fresh(voice.scenery)}${beat}`,
    `“${fresh(voice.sayings)}${fresh(voice.asks)}”`,
  ].join('\n\n');
}

/** Every third turn the speaker comes back to something the reader said before. */
function callback({ history, turn }: StoryContext, { address }: Voice): string {
  if (turn % 3 !== 0) return '';
  const earlier = history.filter((line) => line.role === 'user').slice(0, -1);
  const line = earlier[turn % Math.max(1, earlier.length)];
  return line ? `先前${address}还说过‘${quote(line.text)}’，我不曾忘。` : '';
}

/** The plot goes on with the first step that was not told yet. */
const nextBeat = ({ beats }: Voice, said: string): string | undefined => beats.find((beat) => !said.includes(beat));

/** Lines the reader could say next. */
export function composeSuggestions(context: StoryContext, count: number): string[] {
  const voice = voiceOf(context);
  const said = new Set(context.history.map((line) => line.text));
  const unsaid = voice.replies.filter((reply) => !said.has(reply));
  return new Draw(context.seed).several(unsaid.length >= count ? unsaid : voice.replies, count);
}

function voiceOf({ story }: StoryContext): Voice {
  return story.voice ?? { ...plainVoice, speaker: story.characters[0]?.name ?? plainVoice.speaker };
}

/** For stories that were added without a voice of their own. */
const plainVoice: Voice = {
  speaker: '说书人',
  address: '客官',
  gestures: ['说书人放下醒木，捻了捻灯芯', '说书人合上折扇，侧耳听了听窗外', '说书人抿一口冷茶'],
  scenery: ['灯花爆了一声，影子在墙上晃了晃。', '巷子尽头传来更鼓，一声远似一声。', '雨脚细密，瓦檐下挂起一道帘。'],
  beats: [
    '故事里的人推开了那扇半掩的门。',
    '门后没有人，只有一盏灯，灯下压着一封没有写完的信。',
    '信上的墨迹还是湿的。',
    '他顺着湿痕走去，看见井台边立着一个人影。',
  ],
  sayings: [
    '世上的奇事，十有八九藏在寻常人家的灯下。',
    '故事讲到这里，该由听的人拿主意了。',
    '真与假不过一层窗纸，捅破了反倒无趣。',
  ],
  asks: ['依客官看，接下来该往哪里去？', '若换作客官，敢不敢再走一步？', '客官还想听么？'],
  replies: [
    '我想知道后来怎样',
    '我跟着灯光往前走',
    '先别急，容我想一想',
    '这里面一定有隐情',
    '我把门轻轻推开',
    '我愿意听你说完',
  ],
};

function inPieces(text: string, size: number): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) => characters.slice(index * size, (index + 1) * size).join(''));
}

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
function echo(words: string, address: string, draw: Draw): string {
  const answers = moods.find((mood) => mood.words.test(words))?.answers ?? others;
  return draw.one(answers).replaceAll('{quote}', quote(words)).replaceAll('{address}', address);
}

/** The reader's first clause, short enough to be repeated, without marks that would nest. */
function quote(words: string): string {
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

/** Picks from lists the same way for the same seed. */
class Draw {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A number from 0 up to, not including, 1. */
  fraction(): number {
    this.#count += 1;
    return createHash('sha256').update(`${this.#seed}|${this.#count}`).digest().readUInt32BE() / 2 ** 32;
  }

  /** One item; throws on an empty list. */
  one<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.fraction() * items.length)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  }

  /** Up to `count` different items, in drawn order. */
  several<Item>(items: readonly Item[], count: number): Item[] {
    const rest = [...items];
    const drawn: Item[] = [];
    while (drawn.length < count && rest.length > 0) {
      drawn.push(...rest.splice(Math.floor(this.fraction() * rest.length), 1));
    }
    return drawn;
  }
}
