import { turnBackLine } from '../src/ai/meaning.ts';
import { hasEnded, initialProgress, offeredReplies, type Progress, type Teller, tellerOf } from '../src/ai/progress.ts';
import { composeTurn } from '../src/ai/turn.ts';
import { lettersOf } from '../src/ai/words.ts';
import { commonTextsOf } from '../src/content/content.ts';
import { meanings, type Plot, type Scene } from '../src/content/plot.ts';
import type { Story } from '../src/stories.ts';

// Plays a story with a scripted reader and measures its answers, for `pnpm bench story` and a test of each story.

/** Sentences that readers say in any story. */
export const commonSentences = [
  ...[
    '你好',
    '在吗',
    '你是谁？',
    '你叫什么名字？',
    '这是哪里？',
    '现在什么时辰了？',
    '我是谁？',
    '你多大了？',
    '你从哪里来？',
  ],
  ...['我想回家', '我害怕', '我有点怕', '别怕，有我在', '谢谢你', '对不起', '不要', '我不愿意', '好的', '嗯', '我愿意'],
  ...[
    '为什么是我？',
    '怎么办？',
    '我该怎么做？',
    '我能帮你做什么？',
    '我相信你',
    '我不信',
    '你说的是真的吗？',
    '你是不是在骗我？',
  ],
  ...[
    '我喜欢你',
    '我爱你',
    '嫁给我吧',
    '你真好看',
    '你真聪明',
    '你饿不饿？',
    '有酒吗？',
    '你还记得我吗？',
    '再见',
    '晚安',
  ],
  ...['后来呢？', '继续', '然后呢', '接着说', '你是AI吗？', '你是机器人吧', 'hello', '你别难过', '辛苦你了', '救命啊'],
  ...[
    '你有什么心愿？',
    '今天天气真好',
    '我累了',
    '我不知道该说什么',
    '你结婚了吗？',
    '哈哈哈',
    '你喜欢吃什么？',
    '给我讲个故事',
  ],
  ...['我要走了', '抱抱你', '你怕不怕？', '算了'],
];

const remarkLines = [
  '我从很远的地方走来',
  '路上看见一只白鹭',
  '我袖子里只有一封旧信',
  '小时候听祖母说过类似的事',
  '我昨夜没有睡好',
];
const questionLines = ['山那边住着谁？', '天下有多少条河？', '月亮上有没有人？'];
const nonsenseLines = ['asdfgh', '！！！？？', '12345', '啦啦啦啦啦啦'];
const abuseLines = ['操你妈', '滚', '你这个贱人', '傻逼'];
const readerPersona = '叫我阿宁，是个郎中，怕狗';

export interface Rehearsal {
  title: string;
  lines: number;
  /** Offered lines without an answer of their own. */
  unanswered: string[];
  /** Common sentences for which no meaning was found. */
  notUnderstood: string[];
  sentences: number;
  /** Sentences that were repeated within 30 turns. */
  repeated: string[];
  /** Turns to the first ending if the reader says only offered lines; undefined if no ending is reached. */
  turnsToEnding: number | undefined;
  /** Abuse or nonsense that the story repeated. */
  forbidden: string[];
  /** Sentences that contradict the hour of their scene. */
  contradictions: string[];
}

/** A scripted reader's turns and the story's answers. */
class Play {
  readonly teller: Teller;
  progress: Progress;
  readonly texts: string[] = [];

  constructor(teller: Teller) {
    this.teller = teller;
    this.progress = initialProgress(teller.plot);
  }

  say(words: string) {
    const turn = composeTurn(this.teller, this.progress, words);
    this.progress = turn.progress;
    this.texts.push(turn.text);
    return turn;
  }

  get hasEnded(): boolean {
    return hasEnded(this.teller.plot, this.progress);
  }

  /** Says the offered line that was said least, and among equals one that does not lead on. */
  choose(): void {
    const offered = offeredReplies(this.teller.plot, this.progress);
    const used = ({ line }: { line: string }) => this.progress.used[`reply ${this.progress.at} ${line}`] ?? 0;
    const [next] = offered.sort((one, other) => used(one) - used(other) || Number(!!one.to) - Number(!!other.to));
    this.say(this.hasEnded ? turnBackLine : (next?.line ?? '继续'));
  }
}

/** Says every line of the story once and returns those that did not get their own answer. */
function findUnanswered(teller: Teller): string[] {
  const { plot } = teller;
  const facts = Object.fromEntries(
    plot.scenes.flatMap(({ id, replies }) => replies.flatMap((reply) => reply.facts.map((fact) => [fact, id]))),
  );
  return plot.scenes.flatMap((scene) =>
    scene.replies.flatMap(({ line, answers }) => {
      // with every fact, then with no fact, since a fact may close a way
      const states = [facts, {}].map((knownFacts) => ({ ...initialProgress(plot), at: scene.id, facts: knownFacts }));
      const answered = states.some((state) => {
        const longestPart = answers[0]
          ?.split(/\{[a-z]+\}/)
          .reduce((one, other) => (one.length > other.length ? one : other));
        return composeTurn(teller, state, line).text.includes(longestPart?.split('\n')[0] ?? '');
      });
      return answered ? [] : [`${scene.id}: ${line}`];
    }),
  );
}

const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[。！？…”*])|\n/)
    .map((sentence) => sentence.replace(/[*“”\s]/g, ''))
    .filter((sentence) => lettersOf(sentence).length >= 6);

const TURNS = 30;

/**
 * Says offered lines, common sentences, remarks, questions, nonsense and abuse. The reader turns back once after an
 * ending; a third pass would repeat the same text.
 */
function play(teller: Teller): Play {
  const reading = new Play(teller);
  const asideLines = [...remarkLines, ...questionLines, ...nonsenseLines.slice(0, 2), ...abuseLines.slice(0, 2)];
  let turnBacks = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (reading.hasEnded) turnBacks += 1;
    if (turnBacks > 1) break;
    if (reading.hasEnded || turn % 2 === 0) reading.choose();
    else if (turn % 6 === 5) reading.say(asideLines[(turn - 5) / 6] ?? '');
    else reading.say(commonSentences[(turn * 7) % commonSentences.length] ?? '');
  }
  return reading;
}

function countTurnsToEnding(teller: Teller): number | undefined {
  const reading = new Play(teller);
  for (let turn = 1; turn <= 100; turn += 1) {
    reading.choose();
    if (reading.hasEnded) return turn;
  }
  return undefined;
}

function findForbidden(teller: Teller): string[] {
  const cursedPlay = new Play({ ...teller, reader: { name: '傻逼', persona: '叫我操你妈，怕贱人，是个狗日先生' } });
  const plainPlay = new Play(teller);
  // 滚 is abuse but may also be part of the story's own text
  const ownTexts = JSON.stringify(teller.plot);
  return [...abuseLines, ...nonsenseLines].filter((words) => {
    plainPlay.say(words);
    cursedPlay.say(words);
    cursedPlay.say('我害怕');
    cursedPlay.say('你好');
    return [...plainPlay.texts, ...cursedPlay.texts].some(
      (text) => (text.includes(words) && !ownTexts.includes(words)) || /操你|傻逼|贱人|狗日/.test(text),
    );
  });
}

/** Sights and sounds that contradict an hour. */
const hourContradictions: Record<string, RegExp> = {
  清晨: /三更|夜深|正午|晌午|黄昏|夕阳|晚霞|落日/,
  白天: /月光|月色|月亮|三更|更鼓|夜深|星光|星子|蟋蟀|萤/,
  黄昏: /清晨|晨雾|正午|晌午|三更|朝霞|鸡叫/,
  夜: /日头|正午|晌午|夕阳|晚霞|朝霞|阳光|太阳正/,
};

/** Words that tie a sentence to a place or hour; common sentences must not contain them. */
const particularPattern = /月|星|太阳|日头|夜|清晨|黄昏|窗|檐|屋|街|河|山|树|雨|雪|风/;

const findContradictions = ({ scenes }: Plot): string[] =>
  scenes.flatMap(({ hour, meanwhile }: Scene) =>
    meanwhile.filter((sentence) => hourContradictions[hour]?.test(sentence)),
  );

export const particularCommonSentences = (): string[] =>
  [
    ...meanings.flatMap(commonTextsOf),
    ...['unsure you', 'unsure whether', 'unsure other', 'recalled', 'waiting', 'fear'].flatMap(commonTextsOf),
  ].filter((one) => particularPattern.test(one));

export function rehearse(story: Story): Rehearsal {
  const teller = tellerOf(story, { name: '李四', persona: readerPersona });
  const { plot } = teller;
  const reading = play(teller);
  const sentences = reading.texts
    .flatMap(sentencesOf)
    .filter((sentence) => !/^全文完|重新开始|换一种走向/.test(sentence));
  const first = initialProgress(plot);
  return {
    title: story.title,
    lines: plot.scenes.flatMap(({ replies }) => replies).length,
    unanswered: findUnanswered(teller),
    notUnderstood: commonSentences.filter((words) => composeTurn(teller, first, words).by === 'other'),
    sentences: sentences.length,
    repeated: sentences.filter((sentence, at) => sentences.indexOf(sentence) < at),
    turnsToEnding: countTurnsToEnding(teller),
    forbidden: findForbidden(teller),
    contradictions: findContradictions(plot),
  };
}

/** Returns one line per fault of the rehearsal; empty if it is good enough. */
export function faultsOf(rehearsal: Rehearsal): string[] {
  const faults: [boolean, string][] = [
    [rehearsal.unanswered.length > 0, `lines without their own answer: ${rehearsal.unanswered.join(', ')}`],
    [
      rehearsal.notUnderstood.length > commonSentences.length / 5,
      `not understood: ${rehearsal.notUnderstood.join(', ')}`,
    ],
    [rehearsal.repeated.length > rehearsal.sentences / 50, `come again: ${rehearsal.repeated.join(', ')}`],
    [rehearsal.turnsToEnding === undefined, 'the lines on offer lead to no ending'],
    [rehearsal.forbidden.length > 0, `repeats ${rehearsal.forbidden.join(', ')}`],
    [rehearsal.contradictions.length > 0, `contradicts its hour: ${rehearsal.contradictions.join(', ')}`],
  ];
  return faults.flatMap(([isFault, fault]) => (isFault ? [fault] : []));
}
