import type { Meaning, Plot, Reply } from '../content/plot.ts';
import { abuse, goOn, patterns } from './patterns.ts';

/** What a reader's line is about, as far as words show it. */
export type Understood =
  | { kind: 'reply'; reply: Reply }
  | { kind: 'words'; index: number }
  | { kind: 'meaning'; meaning: Meaning; fear?: string }
  | { kind: 'goOn' }
  | { kind: 'restart' }
  | { kind: 'turnBack' };

export const restartLine = '重新开始';
export const turnBackLine = '换一种走向';

export const isAbusive = (words: string): boolean => abuse.test(words.normalize('NFKC'));

const letters = /[\p{Script=Han}]/u;
const knownLatin =
  /\b(hi|hello|hey|yes|no|ok|okay|sure|thanks?|thank you|who|what|where|when|why|how|name|ai|gpt|home|afraid|scared|love|sorry|bye|continue|next|go on|help)\b/i;

/** Marks, digits, keys pressed at random, or one character over and over. */
function isNonsense(words: string): boolean {
  if (/^(.{1,2})\1{3,}$/u.test(words.replace(/\s/g, '')) && !/^[哈呵嘿嘻嗯好是对呜]/.test(words)) return true;
  return !letters.test(words) && !knownLatin.test(words);
}

const clausesOf = (words: string): string[] =>
  words
    .normalize('NFKC')
    .split(/[，。！？；,.!?;\n]+/)
    .map((clause) => clause.trim())
    .filter(Boolean);

/** Characters that carry meaning: marks and spaces are typed one way or another. */
export const plain = (words: string): string => words.normalize('NFKC').replace(/[\p{P}\p{S}\s]/gu, '');

const isQuestion = (words: string): boolean =>
  /[?？]|[吗么呢]$|谁|什么|哪|怎|为何|为啥|几[个时点岁更天年次回]|几$|多少|(\p{Script=Han})[不没]\1|吧[?？]/u.test(
    words.trim(),
  ) ||
  // a request expects something in return, as a question does
  /^(请|给我|替我|帮我|为我)?(讲|写|唱|说|算|背|念|画)(个|一|首|段|点|几)/.test(words.trim());

const pairsOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));

/** Whether a line says what another one says, by the pairs of characters that they share. */
function isLike(said: string, line: string): boolean {
  const [left, right] = [pairsOf(said), pairsOf(line)];
  const rest = [...right];
  const shared = left.filter((pair) => {
    const at = rest.indexOf(pair);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  }).length;
  // most of both, or nearly all of a shorter wording
  return shared >= 0.6 * right.length || (shared >= 3 && shared >= 0.7 * left.length);
}

const introduction =
  /(?<![别不莫甭休])(?:我[就也]?(?:名?叫|的名字[是叫]|的名字|姓.[，,]?(?:名|字))|(?:你|您)?(?:就|可以|以后|往后)*(?:称呼?我为?|(?:叫|喊|唤)我))(?:做|作)?[“"‘「]?([\p{Script=Han}A-Za-z·]{1,5}?|[A-Za-z]{6,12})[”"’」]?(?:就(?:好|行)|即可|吧|好了|啦|了|呀|啊)?(?=[，。！？；,.!?;~～…\s]|$)/u;
/** Words that follow 我叫 or 叫我 and are nobody's name. */
const noName =
  /^(什么|啥|谁|怎|如何|[你您他她它我]|人|来|去|走|等|死|看|听|说|滚|做|先(?!生)|别|不|一|再|快|好|没|过|进|出|回)/;

/** How the reader says in the story that they are called, and what else they say. */
export function introductionIn(words: string): { called: string; rest: string } | undefined {
  const introduced = introduction.exec(words.normalize('NFKC'));
  const called = introduced?.[1];
  if (!introduced || !called || noName.test(called) || isAbusive(called)) return undefined;
  if (isQuestion(clausesOf(words).find((clause) => clause.includes(introduced[0])) ?? '')) return undefined;
  const rest = introductionIn(words.slice(introduced.index + introduced[0].length));
  if (rest) return rest;
  const others = clausesOf(words.normalize('NFKC').replace(introduced[0], '')).filter(
    (clause) => !/^(我|你|您)?(别|不要|莫)(再)?(叫|喊|称呼)我/.test(clause) && !introduction.test(clause),
  );
  return { called, rest: others.join('，') };
}

const isNegated = (clause: string, word: string): boolean =>
  new RegExp(`(不|别|没|莫|勿|休|甭)[^，。]{0,3}${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`).test(clause);

/** The line on offer that the reader's words are, or come near to. */
function replyMeant(words: string, offered: readonly Reply[]): Reply | undefined {
  const said = plain(words);
  const asks = isQuestion(words);
  // a question is no decision, and a decision is no question
  const alike = offered.filter(({ line, to }) => isQuestion(line) === asks || !to);
  const near = alike.find(({ line }) => isLike(said, plain(line)));
  if (near) return near;
  const clauses = clausesOf(words);
  return alike.find((reply) =>
    reply.words.some((word) => clauses.some((clause) => clause.includes(word) && !isNegated(clause, word))),
  );
}

/** The third person as subject of a clause. */
const thirdPerson =
  /^(?:那|可|但|不过|而|所以|难道|其实|听说|[你您我](?:说|看|觉得|知道|听说|猜|认为))*([他她它])(?!妈|娘的)/;

/** Meanings that a clause about somebody else may have; the others are about the speaker or the reader. */
const isOfAnybody = (meaning: Meaning): boolean => ['求救', '安慰', '为什么', '怎么办'].includes(meaning);

/** 他, 她 or 它, whichever the plot's stage directions call its speaker by; undefined where they call them by none. */
function pronounOf({ byMeaning }: Plot): string | undefined {
  const deeds =
    Object.values(byMeaning)
      .flat()
      .join('')
      .match(/\*[^*]*\*/g)
      ?.join('') ?? '';
  const [first] = ['他', '她', '它']
    .map((pronoun) => ({ pronoun, count: deeds.split(pronoun).length - 1 }))
    .sort((one, other) => other.count - one.count);
  return first && first.count > 0 ? first.pronoun : undefined;
}

export interface Listening {
  plot: Plot;
  speaker: string;
  /** The lines on offer here and now. */
  offered: readonly Reply[];
  /** Whether each of its answers was given: a second time they would be the same. */
  isSpent?: (told: Reply | number) => boolean;
  /** Whom or what the turn before was about, as an index of `byWords`. */
  about?: number | undefined;
}

/** What a line means; undefined where its words show nothing. */
export function understand(
  words: string,
  { plot, speaker, offered, isSpent = () => false, about }: Listening,
): Understood | undefined {
  const said = plain(words);
  if (said === restartLine) return { kind: 'restart' };
  if (said === turnBackLine) return { kind: 'turnBack' };
  const exact = offered.find(({ line }) => plain(line) === said);
  if (exact) return { kind: 'reply', reply: exact };
  if (isAbusive(words)) return { kind: 'meaning', meaning: '骂人' };
  if (patterns[0]?.words.test(words)) return { kind: 'meaning', meaning: patterns[0].meaning };
  if (/^[\s….。]+$/.test(words) || goOn.test(words.trim())) return { kind: 'goOn' };
  if (isNonsense(words)) return { kind: 'meaning', meaning: '胡话' };
  const reply = replyMeant(
    words,
    offered.filter((one) => one.to || !isSpent(one)),
  );
  if (reply) return { kind: 'reply', reply };
  const named = plot.byWords
    .map(({ words: names }, index) => ({ names, index }))
    .filter(({ index }) => !isSpent(index));
  const all = clausesOf(words);
  // a name in front is an address: “燕先生，你好”
  const clauses = all.filter((clause) => all.length === 1 || !named.some(({ names }) => names.includes(clause)));
  const before = named.find(({ index }) => index === about);
  const speakerPronoun = pronounOf(plot);
  const isOfOther = (clause: string) => {
    const pronoun = thirdPerson.exec(clause)?.[1];
    return pronoun !== undefined && (before !== undefined || pronoun !== speakerPronoun);
  };
  const mentions = (clause: string) =>
    named.find(({ names }) => names.some((name) => clause.includes(name))) ?? (isOfOther(clause) ? before : undefined);
  const isSpeaker = ({ names }: { names: string[] }) => names.some((name) => speaker.includes(name));
  const subject = clauses.map(mentions).find((one) => one && !isSpeaker(one));
  const asks = isQuestion(words);
  const meanings = clauses.flatMap((clause) => {
    const whole = asks && clause === clauses.at(-1) ? `${clause}？` : clause;
    const index = patterns.findIndex(
      ({ words: like, unless }) => (like.test(clause) || like.test(whole)) && !unless?.test(whole),
    );
    const meaning = patterns[index]?.meaning;
    const isMeant =
      meaning && (!isOfOther(clause) || isOfAnybody(meaning) || (meaning === '害怕' && clause.includes('我')));
    return isMeant ? [{ index, clause, meaning }] : [];
  });
  const last = meanings.find(({ clause }) => clause === clauses.at(-1) && !mentions(clause));
  if (subject && !(last && isFelt(last.meaning))) return { kind: 'words', index: subject.index };
  const [first] = meanings.sort((one, other) => one.index - other.index);
  if (first) {
    const fear = first.meaning === '害怕' ? fearIn(first.clause) : undefined;
    return { kind: 'meaning', meaning: first.meaning, ...(fear && { fear }) };
  }
  const self = clauses.map(mentions).find(Boolean);
  return self && { kind: 'words', index: self.index };
}

/** What counts more than the name of somebody in the same breath: “我不想娶松姑，我想娶你”. */
const isFelt = (meaning: Meaning): boolean =>
  ['喜欢', '心意', '信任', '真假', '道歉', '谢谢', '安慰', '求救', '帮忙', '告别', '害怕'].includes(meaning);

export const asksSomething = isQuestion;

/** Words of a question that say nothing of what it is about. */
const empty =
  /为什么|什么|怎么样?|[这那下上]?一?[只个位座]|[这那][些样]|哪[里儿个些]?|多少|几[个次时]?|是不是|有没有|有些?|[谁何吗呢么吧啊呀你您我咱他她它们这那的了过着是在有里上下被把和跟与]/gu;

/** The sentences of a text, each with the speech and the deeds in it. */
const sentencesOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => line.match(/(?:“[^”]*”|\*[^*]*\*|[^。！？“*])+[。！？]*/gu) ?? []);

/** The sentence of a text that has nearly all of what a question asks about. One that names somebody has to ask more than that. */
export function factIn(text: string, question: string, names: boolean): string | undefined {
  if (!/谁|什么|哪|怎|何|多少|几/.test(question)) return undefined;
  const about = clausesOf(question)
    .map((clause) => plain(clause.replace(empty, '')))
    .join('');
  const topics = [...new Set(about)];
  const isPlace = /哪[里儿]|何处|什么地方/.test(question);
  if (topics.length < (isPlace && !names ? 2 : 3)) return undefined;
  const pairs = pairsOf(about);
  const best = sentencesOf(text)
    .filter(
      (sentence) =>
        pairs.some((pair) => sentence.includes(pair)) &&
        !sentence.endsWith('？') &&
        (!isPlace || sentence.includes('在')),
    )
    .map((sentence) => ({
      sentence,
      share: topics.filter((letter) => sentence.includes(letter)).length / topics.length,
    }))
    .sort((one, other) => other.share - one.share)[0];
  return best && best.share >= 0.75 ? best.sentence.trim() : undefined;
}

/** What somebody says they fear. */
function fearIn(words: string): string | undefined {
  const [, fear] =
    /(?<![不没别莫可恐哪只生])(?:害)?怕(?:的是|见|遇见|听)?([\p{Script=Han}]{1,4}?)(?=[，。；、！\s]|了|得|和|怕|$)/u.exec(
      words,
    ) ?? [];
  return fear && !/^[你您我他她了得是死的羞吗么呢什]/.test(fear) && !isAbusive(fear) ? fear : undefined;
}

/** What a reader's 人设 says that a speaker can take up. */
export interface Persona {
  address?: string;
  fear?: string;
  trade?: string;
}

const trades =
  '匠|师傅|画师|医师|琴师|厨师|镖师|书生|学生|郎中|大夫|中医|道士|和尚|商人|货郎|剑客|侠客|捕快|将军|农夫|渔夫|樵夫|猎户|裁缝|厨子|秀才|举人|先生|账房|掌柜|教师|老师|医生|护士|程序员|工程师|律师|记者|作家|诗人|歌女|绣娘|仵作|官差|县令|车夫|船家|茶商|药商';
const namedTrade = new RegExp(
  `(?:是|做|当|职业[是:]?|身份[是:]?)(?:一)?(?:个|名|位)?(\\p{Script=Han}{0,4}(?:${trades}))`,
  'u',
);
/** A clause that is no more than a description: 28岁女程序员. */
const bareTrade = new RegExp(`(${trades})$`, 'u');
const isOfNoTrade = new RegExp(`[不非没](?:是|做|当)|[想要][当做]|讨厌|喜欢(?!.*的)|叫我|称|怕(?:${trades})$`);

/** A clause about a relative, a friend or anybody else. */
const ofRelative =
  /^(?:我的?|家)?(?:[爹爸父娘妈母哥弟姐妹妻夫]|老[婆公]|丈夫|相公|师[父傅]|朋友|[儿女]子|女儿|祖|爷|奶|家人)/;

export function personaOf(text: string): Persona {
  const traits = text.replaceAll('、', '，');
  const own = clausesOf(traits).filter((clause) => !ofRelative.test(clause) && !thirdPerson.test(clause));
  const firstOf = (read: (clause: string) => string | undefined) =>
    own.map(read).find((word) => word !== undefined && !isAbusive(word));
  const address =
    introductionIn(traits)?.called ??
    firstOf(
      (clause) => /^(?:我的?)?(?:名字|姓名|昵称|称呼)[是:]\s*(\p{Script=Han}{1,6}|[A-Za-z]{1,12})$/u.exec(clause)?.[1],
    );
  // 只怕 in the midst of a story means perhaps, among traits it does not
  const fear = firstOf((clause) => fearIn(clause.replace(/^(我)?[就只也]怕/, '怕')));
  const trade = firstOf((clause) =>
    isOfNoTrade.test(clause) ? undefined : (namedTrade.exec(clause)?.[1] ?? bareTrade.exec(clause)?.[1]),
  );
  return { ...(address && { address }), ...(fear && { fear }), ...(trade && { trade }) };
}
