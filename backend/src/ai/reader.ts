import { isAbusive, isInDanger } from './patterns.ts';
import { clausesOf, isQuestion, thirdPersonPattern } from './words.ts';

const introductionPattern =
  /(?<![别不莫甭休])(?:我[就也]?(?:名?叫|的名字[是叫]|的名字|姓.[，,]?(?:名|字))|(?<!\p{L})(?:[你您那请都就也]|大家|人人|别人|朋友们?|可以|以后|往后|不如|还是)*(?:称呼?我为?|(?:叫|喊|唤)我))(?:做|作)?[“"‘「]?([\p{Script=Han}A-Za-z·]{1,5}?|[A-Za-z]{6,12})[”"’」]?(?:就(?:好|行)|即可|吧|好了|啦|了|呀|啊)?(?=[，。！？；,.!?;~～…\s]|$)/u;
/** A surname alone: the speaker adds 君, which fits everybody. */
const surnamePattern = /我(?:免贵)?姓(?!什|啥|甚)(\p{Script=Han}{1,2})(?=[，。！；,.!;~～…\s]|$)/u;
/** Words after 我叫 or 叫我 that are not a name. */
const nonNamePattern =
  /^(什么|啥|谁|怎|如何|[你您他她它我]|人|来|去|走|等|死|看|听|说|滚|做|先(?!生)|别|不|一|再|快|好|没|过|进|出|回|吃|喝|睡|起|帮|买|车|加班|开会|外卖|爸|爹|爷|奶|妈|大爷|祖宗|傻|笨|猪|狗)|了$/;

/** Finds the name by which the reader introduces themselves, and the rest of the line. */
export function findIntroduction(words: string): { name: string; rest: string } | undefined {
  const text = words.normalize('NFKC');
  const surname = introductionPattern.test(text) ? null : surnamePattern.exec(text);
  const match = surname ?? introductionPattern.exec(text);
  const name = surname ? `${surname[1]}君` : match?.[1];
  if (!match || !name || nonNamePattern.test(name) || isAbusive(name)) return undefined;
  if (isQuestion(clausesOf(words).find((clause) => clause.includes(match[0])) ?? '')) return undefined;
  const rest = findIntroduction(words.slice(match.index + match[0].length));
  if (rest) return rest;
  const others = clausesOf(text.replace(match[0], '')).filter(
    (clause) => !/^(我|你|您)?(别|不要|莫)(再)?(叫|喊|称呼)我/.test(clause) && !introductionPattern.test(clause),
  );
  return { name, rest: others.join('，').replace(/^[你您]呢$/, '你叫什么') };
}

/** Whether a line asks not to be called by a name any more. */
export const refusesName = (words: string, name: string): boolean =>
  new RegExp(`(?:别|不要|不许|莫)再?(?:叫|喊|唤|称呼?)我(?:为|做)?${name}`).test(words);

/** Finds what the words say that somebody fears. */
export function findFear(words: string): string | undefined {
  const [, fear] =
    /(?<![不没别莫可恐哪只生])(?:害)?怕(?:的是|见|遇见|听)?([\p{Script=Han}]{1,4}?)(?=[，。；、！\s]|了|得|和|怕|$)/u.exec(
      words,
    ) ?? [];
  return fear && !/^(?:[你您我他她了得是死的羞吗么呢什]|[事生]$)/.test(fear) && !isAbusive(fear) ? fear : undefined;
}

/** What readers said of themselves, in their 人设 or in the conversation. */
export interface ReaderFacts {
  address?: string;
  fear?: string;
  trade?: string;
  /** Such as 十八岁. */
  age?: string;
  /** Where they are from, such as 从长安来 or 家在苏州. */
  home?: string;
}

const trades =
  '匠|师傅|画师|医师|琴师|厨师|镖师|书生|学生|郎中|大夫|中医|道士|和尚|商人|货郎|剑客|侠客|捕快|将军|农夫|渔夫|樵夫|猎户|裁缝|厨子|秀才|举人|先生|账房|掌柜|教师|老师|医生|护士|程序员|工程师|律师|记者|作家|诗人|歌女|绣娘|仵作|官差|县令|车夫|船家|茶商|药商';
const namedTradePattern = new RegExp(
  `(?:是|做|当|职业[是:]?|身份[是:]?)(?:一)?(?:个|名|位)?(\\p{Script=Han}{0,4}(?:${trades}))`,
  'u',
);
/** A clause that ends with a trade, such as 28岁女程序员. */
const bareTradePattern = new RegExp(`(${trades})$`, 'u');
const noTradePattern = new RegExp(`[不非没](?:是|做|当)|[想要][当做]|讨厌|喜欢(?!.*的)|叫我|称|怕(?:${trades})$`);

const agePattern =
  /^(?:我|在下|小生)?(?:今年|其实|才|刚|满|已经?|都|也|是|快)*([\d一二三四五六七八九十百]{1,4}岁)(?=[了的呢啊]*$|[男女])/u;
const homePattern =
  /^(?:我|在下|小生)?(?:也|就|是|其实|原|本)*((?:来自|老?家在|住在)\p{Script=Han}{2,5}|从(?![来前小此今没不未早])\p{Script=Han}{2,5}?来|是\p{Script=Han}{1,3}(?<![外异他本])[东西南北京津海江河湖山川州阳安城镇乡村国门]人)(?:的|此|这里)*$/u;

/** A clause about a relative, a friend or anybody else. */
const relativePattern =
  /^(?:我的?|家)?(?:[爹爸父娘妈母哥弟姐妹妻夫]|老[婆公]|丈夫|相公|师[父傅]|朋友|[儿女]子|女儿|祖|爷|奶|家人)/;

/** Finds what a text says of its author. */
export function factsOf(text: string): ReaderFacts {
  const traits = text.replaceAll('、', '，');
  const ownClauses = clausesOf(traits).filter(
    (clause) => !relativePattern.test(clause) && !thirdPersonPattern.test(clause),
  );
  const firstMatch = (read: (clause: string) => string | undefined) =>
    ownClauses.map(read).find((word) => word !== undefined && !isAbusive(word));
  const address =
    findIntroduction(traits)?.name ??
    firstMatch(
      (clause) =>
        /^(?:我的?)?(?:(?:名字|姓名|昵称|称呼|网名|name)(?:叫做?|[是:])|外号|绰号|名叫|姓.名)\s*(\p{Script=Han}{1,6}|[A-Za-z]{1,12})$/iu.exec(
          clause,
        )?.[1],
    );
  // in a story 只怕 means “perhaps”, in a list of traits “fears only”
  const fear = firstMatch((clause) => findFear(clause.replace(/^(我)?[就只也]怕/, '怕')));
  const trade = firstMatch((clause) =>
    noTradePattern.test(clause)
      ? undefined
      : (namedTradePattern.exec(clause)?.[1] ?? bareTradePattern.exec(clause)?.[1]),
  );
  const age = firstMatch((clause) => agePattern.exec(clause)?.[1]);
  const home = firstMatch((clause) => (isQuestion(clause) ? undefined : homePattern.exec(clause)?.[1]));
  const facts = { address, fear, trade, age, home };
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact)) as ReaderFacts;
}

/** Questions of readers about themselves. */
const ownQuestions = {
  fear: /我(最|到底|究竟)?(害)?怕(的是)?(什么|啥)/,
  age: /我(?!们)[^你您他她它]{0,4}(几岁|多大|多少岁|什么年纪)/,
  home: /我(?!们)[^你您他她它]{0,3}(从(哪[里儿]?|何处|什么地方)来(?!看|找|做)|来自(哪|何处|什么地方)|是(哪|何处|什么地方).{0,2}人|[家住][住在]*(哪|何处|什么地方))/,
  words: /我(刚刚?|刚才|方才|上一?句|前面)(都|又)?(说|讲|问)(了|过|的)*(是)?(些)?(什么|啥|到哪)/,
};

export type OwnQuestion = keyof typeof ownQuestions;

/** Returns what a line asks about its author: one of the facts, or their last words. */
export const ownQuestionIn = (words: string): OwnQuestion | undefined =>
  (Object.keys(ownQuestions) as OwnQuestion[]).find((each) => ownQuestions[each].test(words));

/** Length up to which a reader's line is repeated. */
const MAX_REPEATED_LETTERS = 40;

/** Returns a line as an answer may repeat it; undefined for abuse and for a line without words. */
export function repeatable(words: string): string | undefined {
  if (isAbusive(words) || isInDanger(words) || !/\p{Script=Han}{2}/u.test(words)) return undefined;
  const letters = [...words.replace(/[*“”‘’\s]+/g, ' ').trim()];
  const beginning = letters.slice(0, MAX_REPEATED_LETTERS).join('');
  return letters.length > MAX_REPEATED_LETTERS ? `${beginning}……` : beginning;
}
