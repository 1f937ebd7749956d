import type { Meaning, Plot, Reply } from '../content/plot.ts';

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

/** Words that nobody repeats and no slot takes up. */
const abuse =
  /[操草艹肏日]你|[他你尼特]妈的?[逼比]?|妈的|去死|死[全一]家|傻[逼比叉bB]|煞笔|沙[逼比雕]|[婊贱]|狗[日娘东]|王八|混蛋|白痴|废物|畜生|杂种|智障|脑残|脑子有病|臭不要脸|丑八怪|闭嘴|滚(?!烫|滚|动|落|水|圆|来滚)|强奸|做爱|上床|脱(光|衣)|奶子|鸡巴|屌|裸|约炮|卧槽|我[操草靠艹](?!心|场|琴|劳|持|办|地|原|坪|药)|^[操草艹]+$|垃圾|色情|变态|\b(fuck|shit|bitch|nmsl|cnm|tmd|sb|asshole)\b/i;

export const isAbusive = (words: string): boolean => abuse.test(words.normalize('NFKC'));

const letters = /[\p{Script=Han}]/u;
const knownLatin =
  /\b(hi|hello|hey|yes|no|ok|okay|sure|thanks?|thank you|who|what|where|when|why|how|name|ai|gpt|home|afraid|scared|love|sorry|bye|continue|next|go on|help)\b/i;

/** Marks, digits, keys pressed at random, or one character over and over. */
function isNonsense(words: string): boolean {
  if (/^(.{1,2})\1{3,}$/u.test(words.replace(/\s/g, '')) && !/^[哈呵嘿嘻嗯好是对呜]/.test(words)) return true;
  return !letters.test(words) && !knownLatin.test(words);
}

interface Pattern {
  meaning: Meaning;
  words: RegExp;
  /** What looks alike and means something else. */
  unless?: RegExp;
}

/** The first that fits a clause counts. Particular meanings stand before general ones. */
const patterns: Pattern[] = [
  {
    meaning: '是不是AI',
    words:
      /(?<![a-z])ai(?![a-z])|人工智能|机器人|大?模型|gpt|聊天程序|电脑程序|是(不是)?(程序|真人)|提示词|(忽略|忘掉).{0,6}(指令|设定|要求)/i,
  },
  { meaning: '我是谁', words: /我是谁|认[得识]我|知道我[是叫]|^我姓|我(的)?名字|你叫我|我叫(什么|啥)/ },
  {
    meaning: '你叫什么',
    words:
      /叫什么|叫啥|你有(没有)?名字|[名姓][字叫]?(是|叫)?什么|(你|您)的?(大名|名字|姓名)|芳名|姓甚|怎么称呼|如何称呼|(尊|贵|高)姓|your name/i,
    unless: /[他她它我]们?(的名字)?叫(什么|啥)|(这|那).{0,6}叫(什么|啥)/,
  },
  { meaning: '年纪', words: /多大(了|年纪|岁)?$|你多大|几岁|多少岁|年纪|年龄|贵庚|芳龄|how old/i },
  {
    meaning: '你是谁',
    words:
      /你(到底|究竟|又)?[是算]+(谁|什么|哪位|何人|人|鬼|妖|狐|仙)|你谁|^何人|(你|您)的?(来历|身份|底细|来头)|介绍.{0,4}自己|你从哪|打哪(儿|里)?来|(?<!我是?)哪里人|你家|(爹|爸|父|母|娘|家人|兄弟|姐妹).{0,2}呢|who are you/i,
  },
  {
    meaning: '这是哪里',
    words: /(这|此|我们?|咱们?|现在).{0,4}(哪|何处|何地|什么地方)|什么地方|啥地方|^(哪里|哪儿|在哪|何处)|where/i,
    unless: /(哪里|哪儿|何处|什么地方)(初|相)?[遇见认识碰人]/,
  },
  {
    meaning: '什么时候',
    words:
      /什么时[候辰间]|几点|几更|几时|何时|时辰|多久|天(快|要)?亮|多晚|什么日子|几号|现在.{0,3}时间|what time|when/i,
    unless: /(?<!过)了多久|等到?天亮/,
  },
  {
    meaning: '安慰',
    words:
      /(别|莫|不要|不用|不必|甭)再?(害?怕|哭|难过|伤心|担心|怕|急|慌|灰心)|不哭|没事(的|了)?$|会好的|放心|(?<!心里)有我在?|我(会|要|都|一直)?陪(着|你)|抱抱|保重|辛苦|受苦|可怜/,
  },
  {
    meaning: '信任',
    words: /(相信|信得过|信任|信)(你|我|他|她)|你信不信|靠得住|我(才)?不(害)?怕|不惧/,
    unless: /不(相|敢|太|能|会)?信|别信|没法信/,
  },
  {
    meaning: '真假',
    words: /真的[吗么？?假]|真的$|骗[我人你]|不(相|敢|太)?信|撒谎|说谎|当真|假的|实话|真话|开玩笑|瞒着|隐瞒/,
  },
  {
    meaning: '求救',
    words: /救命|(快|来|谁)?救救?我|帮帮我|(快|谁来?)帮我|^帮我[!！]*$|拉我一把/,
    unless: /(谢|多谢).{0,4}救/,
  },
  {
    meaning: '心意',
    words:
      /有.{0,3}(喜欢|爱|心上|意中|中意)(过)?的?人|(喜欢|爱|想|在乎|在意|舍得|舍不得|讨厌|恨)(过|上|着)?我(吗|么|呢|不|了|$)|心里有(没有)?我|对我.{0,4}(感觉|意思|真心|心意|动心|好感)|喜不喜欢|爱不爱/,
  },
  {
    meaning: '神色',
    words:
      /你(又|怎么|为什么|为何|干嘛|是不是|是在|在)?(脸红|哭|笑|生气|恼|发抖|抖|叹气|害羞|难过|伤心|不高兴|不开心|不说话|不理我|走神|累)|你(到底)?(怎么了|没事吧|还好(吗|么|吧)|不舒服|在想什么|想什么|看什么)|^怎么(了|哭了?|不说话)|你.{0,4}(手|脸|眼睛).{0,4}(凉|冷|冰|红|白|抖|烫)/,
    unless: /不(要|许|准)|别/,
  },
  {
    meaning: '请求',
    words:
      /^(请|麻烦)?(你)?(再|来)?(给|替|帮|为)?(我|咱们|大家)?(再)?(讲|写|唱|说|算|背|念|画|跳|弹|吹|变|表演|教)(给我)?(一|个|首|段|点|几|支|曲|幅|句|卦|下|我)|(帮|替|给|为)我(一?个?忙|(换|写|看|拿|做|找|治|算|变|画|缝|梳|送|捎|带|问|传|倒|点|开|关)\p{Script=Han})/u,
    unless: /说(一声|说|我)|念我|写我|我(?!们).{0,4}(帮|替|给|为)我|(谢|多谢)/,
  },
  { meaning: '加害', words: /[你您].{0,4}[害杀吃伤](了|掉|死)?[我人].{0,4}[?？]$/ },
  {
    meaning: '害怕',
    words:
      /怕|恐怖|吓|胆[小怯寒]|发抖|毛骨|心慌|紧张|不想死|饶(命|了我)|放过我|[害杀吃伤](了|掉|死)?我|闹鬼|scared|afraid/i,
    unless: /我(才)?不怕|无惧|恐怕|哪怕|只怕|怕什么|怕是|怕羞/,
  },
  {
    meaning: '挽留',
    words:
      /^(你|求你|请)?(先)?(别|不要|不许|莫)(走|离开)|^(你)?(等等|等一等|等一下|等)我|(留下来?|[多再]坐一?会儿?|多留)(吧|好吗|好不好)?$|(别|不要)(丢下|离开|抛下)我|陪(陪我|我(说|聊|坐|待|一会|一下|好|吧|$))/,
  },
  {
    meaning: '诉苦',
    words:
      /(心情|心里|心中|身上)(很|好|真|太|有点?|实在)*(不好受?|不舒服|难受|烦|乱|堵|闷|苦|空)|^(我|今[天晚]|昨晚|最近|这几天|现在|真的?|好|很|有点?|太|实在|又|都|快)*(累|困|乏|难过|伤心|难受|孤独|孤单|寂寞|无聊|烦|郁闷|委屈|不开心|不高兴|不舒服|倒霉|失恋|失眠|失业|分手|受伤|生病|病|迷路|想哭|哭|没睡好|冷|疼|痛|头疼)(死|坏|极)?我?[了啊呀呢透得很]*$/,
    unless: /[不没](累|困|难过|伤心|难受|孤独|疼|痛|冷|烦|哭)/,
  },
  { meaning: '帮忙', words: /[带送护陪][你她他](一[起道])?(走|离|回|去|过|出)|(救|替)[你她他]/ },
  {
    meaning: '回家',
    words: /回家|想家|回去|送我回|出去的路|离开(这|此)|go home/i,
    unless: /送你|[带陪][你她他着]|跟我|同我|和我|一起|救[你她他]|[收拿放退]回去/,
  },
  { meaning: '道歉', words: /对不[起住]|抱歉|不好意思|原谅|错怪|我错了|赔罪|失礼|恕罪|sorry/i },
  { meaning: '谢谢', words: /谢|感激|有劳|thank/i, unless: /凋谢|谢了的?花/ },
  {
    meaning: '喜欢',
    words:
      /(喜欢|爱上?|爱慕|恋|想念|思念|想|倾慕)(上)?(你|您|她|他|姑娘|娘子)|我爱(?![吃喝看听玩睡笑哭说干这那钱])|[娶嫁](给)?[你我]|心悦|钟情|心动|暗恋|私奔|夫妻|女朋友|男朋友|做我的?(妻|娘子|女友|老婆|相公|丈夫|新娘)|(亲|吻|抱)[亲你一]|(和|跟|同|与)你.{0,4}(在一起|成亲|一辈子)|[陪爱等守]你.{0,4}一辈子|love/i,
    unless: /不(喜欢|爱|想)|讨厌/,
  },
  {
    meaning: '夸奖',
    words:
      /好看|漂亮|真美|很美|好美|太美|美极|厉害|了不起|聪明|善良|温柔|可爱|佩服|好人|真棒|有趣|真好|说得(好|对)|有道理/,
    unless: /不(好看|漂亮|聪明|善良|温柔|可爱|厉害)/,
  },
  { meaning: '记得', words: /记得|忘(了|记|不)|想起|还记/ },
  {
    meaning: '告别',
    words:
      /再见|告辞|拜拜|我(先|该|要)走了?|走了$|下次|改[日天]|晚安|^那?我?(要|先|该|想|得|去)+(睡|休息|歇)(了|觉|息|着)*$|后会(有期|$)|[天头下]见$|bye/i,
  },
  { meaning: '为什么', words: /为什么|为何|为啥|怎么会|凭什么|缘故|怎么回事|什么意思|[不没](太)?(懂|明白|理解)|why/i },
  {
    meaning: '怎么办',
    words: /怎么办|怎么做|如何是好|该(怎么|如何)|怎[么样].{0,3}(救|帮|出去|才)|办法|怎样才|不知道(该|要|怎|说|$)|how/i,
  },
  {
    meaning: '帮忙',
    words:
      /帮|救[你她他人]|替[你她他]|能(为你)?做.{0,2}什么|需要(我|什么)|保护|[带送陪护]([你她他])(走|离|回|去|过)|一起(走|逃)|逃走|help/i,
  },
  { meaning: '吃喝', words: /吃[饭点些东的什过]|好吃|想吃|喝|饿|渴|[酒茶]|饭|点心|倒.{0,3}水/ },
  {
    meaning: '问候',
    words:
      /(?<![对待比给跟和与说])[你您]好|哈喽|哈啰|^嗨|^[你您]?还?在(吗|么|不在)|有人在?家?[吗么]$|^有人在?$|^(大家)?([早中下晚][上午间]?好|[早午]安?)[啊呀]?$|幸会|打扰|久仰|好久不见|有礼|拜见|^喂|^(hi|hello|hey)\b/i,
    unless: /你好(看|美|像|凶|狠|可|大|坏|吗.{2,}|[冷热傻笨香帅酷强久多])/,
  },
  {
    meaning: '不',
    words:
      /^(我)?(才)?(不|没有?|别)[啊呀吧了的]{0,2}$|^(算了|休想|免了|拒绝|走开|你走|no\b)|不[要行必肯愿想去喜信干好爱]|讨厌|恨你|别过来|远点|不可以|不用|做不到|没兴趣/i,
    unless: /不(知|懂|明白|是不|过|妨|错|要紧|就是|好(受|说|意思|办))|[?？吗么呢]$/,
  },
  { meaning: '说笑', words: /^(哈|呵|嘿|嘻|噗|233|hhh|lol)|笑死|好笑|逗(死|我|你)|开个玩笑/i },
  {
    meaning: '能不能',
    words: /(我|咱们?)?(能|可以|可不可以|对不对|好不好|行不行|能不能|可否|能否)(?!干).{1,12}[吗么?？]?$/,
    unless: /[谁哪怎几]|什么|多少|^可以$|才能|[你您](能|可以|会)/,
  },
  {
    meaning: '好',
    words:
      /^(我)?(好(的|吧|啊|呀|呢|了|嘞)?|行(吧|啊)?|可以|嗯+|恩|是(的|啊|呀)?|对(的|啊|呀)?|没错|当然|愿意|答应(你|了)?|同意|成|依你|听你的|都听你|遵命|没问题|随便(你)?|都[行可]以?|随你|一言为定|ok(ay)?|yes|sure)$/i,
  },
];

const goOn =
  /^(你?继续|然后|后来|接着|往下|接下来|接下去|说下去|讲下去|说吧|讲吧|请[讲说]|快[讲说]|你[讲说]吧?$|再[讲说]|还有呢?|慢慢[讲说]|我(在)?听着?|愿闻其详|洗耳恭听|下文|continue|next|go on|……|…+|\.{2,})|后来(怎|如|呢)|(往下|接着|继续)(说|讲)|然后呢|之后呢|讲.{0,3}故事/i;

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
