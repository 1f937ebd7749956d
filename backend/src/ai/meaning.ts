import type { Lore, Meaning, Plot, Reply } from '../content/plot.ts';
import { commonLore, findLore } from './lore.ts';
import { compoundWords, goOnPattern, isAbusive, isInDanger, type Pattern, patterns } from './patterns.ts';
import { findFear } from './reader.ts';
import { bigramsOf, clausesOf, isQuestion, lettersOf, spell, thirdPersonPattern, withoutHosts } from './words.ts';

/** The interpretation of a reader's line. */
export type Interpretation =
  | { kind: 'reply'; reply: Reply }
  | { kind: 'lore'; lore: Lore[]; secondQuestion?: Meaning }
  | { kind: 'words'; index: number }
  | { kind: 'meaning'; meaning: Meaning; fear?: string; secondQuestion?: Meaning }
  | { kind: 'goOn' }
  | { kind: 'restart' }
  | { kind: 'turnBack' };

export const restartLine = '重新开始';
export const turnBackLine = '换一种走向';
const restartPattern = /^(我[想要])?(重新开始|从头(开始|再来|来过)|重新来过?|重来|重玩)(一[次遍])?吧?$/;
const turnBackPattern = /^(我[想要])?(换一?[种个](走向|结局)|回到(岔路口|上一步)|读档)吧?$/;

const hanLetter = /[\p{Script=Han}]/u;
const latinWords =
  /\b(hi|hello|hey|yes|no|ok|okay|sure|thanks?|thank you|understand|lol|ha(ha)+|good night|wait|go away|beautiful|ghost|human|fox|who|what|where|when|why|how|name|ai|gpt|home|afraid|scared|love|sorry|bye|continue|next|go on|help)\b/i;

/** Whether a line is only marks, digits or random keys, or repeats one or two characters. */
function isNonsense(words: string): boolean {
  if (/^(.{1,2})\1{3,}$/u.test(words.replace(/\s/g, '')) && !/^[哈呵嘿嘻嗯好是对呜]/.test(words)) return true;
  return !hanLetter.test(words) && !latinWords.test(words);
}

/** Pairs of letters, without those that any question about anybody has. */
const significantPairsOf = (text: string): string[] =>
  bigramsOf(text.replaceAll('她', '他')).filter((pair) => /[^你您我他是的为什么怎样]/.test(pair));

/** Whether two texts begin with pronouns of different persons. */
function haveDifferentSubjects(words: string, line: string): boolean {
  const [subject, other] = [words, line].map((text) =>
    /^[你您我他她它]/.exec(text)?.[0].replace('您', '你').replace('她', '他'),
  );
  return subject !== undefined && other !== undefined && subject !== other;
}

/** Whether two texts are similar, by the share of their pairs of letters. */
function isLike(words: string, line: string): boolean {
  const [left, right] = [significantPairsOf(words), significantPairsOf(line)];
  const unmatchedPairs = [...right];
  const shared = left.filter((pair) => {
    const at = unmatchedPairs.indexOf(pair);
    if (at >= 0) unmatchedPairs.splice(at, 1);
    return at >= 0;
  }).length;
  // most pairs of the line, and of the words if the line is short; or nearly all pairs of shorter words
  const isMost = shared >= Math.max(0.6 * right.length, Math.min(3, right.length));
  if (isMost && (right.length > 5 || shared >= 0.6 * left.length)) return true;
  return shared >= 3 && shared >= 0.7 * left.length;
}

const isNegated = (clause: string, word: string): boolean =>
  new RegExp(`(不|别|没|莫|勿|休|甭)[^，。]{0,3}${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`).test(clause);

/** Words of a clause that do not change which offered line it means. */
const lightWords =
  /自己|大家|今[天晚夜]|现在|马上|立刻|已经|一[定起同]|决定|打算|觉得|愿意|应该|可以|姑娘|小姐|娘子|夫人|公子|先生|道长|师父|什么|怎[么样]|为何|多少|[我你您他她它咱们这那哪谁个些样里边的地得了着过吧罢呢啊呀哦嘛么吗啦就也都还又再才只可便却把被给让要想会能该肯是在有很太真先一二两三几点下次回遍来去上进出到和跟同与请为何]/gu;

/** Whether a clause says little else than the keyword of an offered line: every eighth letter may be of something else. */
function isAbout(clause: string, word: string, { line, words }: Reply, names: readonly string[]): boolean {
  if (!clause.includes(word) || isNegated(clause, word)) return false;
  const replyLetters = line + words.join('');
  const rest = names.reduce((text, name) => text.replace(name, ''), clause.replace(word, ''));
  const otherLetters = [...lettersOf(rest.replace(lightWords, ''))].filter((letter) => !replyLetters.includes(letter));
  return otherLetters.length <= Math.floor(lettersOf(clause).length / 8);
}

/** Finds the offered line that is similar to the reader's words, else one that a clause is about. */
function findReply(
  words: string,
  replies: readonly Reply[],
  isMeant: (clause: string, reply: Reply) => boolean,
): Reply | undefined {
  const isAsking = isQuestion(words);
  const clauses = clausesOf(words);
  // a line that leads on matches only if both or neither of the two are questions
  return replies.find(
    (reply) =>
      (isQuestion(reply.line) === isAsking || !reply.to) &&
      clauses.some((clause) => !haveDifferentSubjects(clause, reply.line) && isMeant(clause, reply)),
  );
}

/** The end of the words before a negated verb. In 要不要 nothing is negated. */
const negationPattern = /(?:^|[^有会想要肯能敢好])[不没别未戒][有曾会想要肯能敢再太很用必]?$/;
/** Meanings that a negation takes away. In the others it is part of the meaning, as in 别杀我. */
const isOfAffirmation = (meaning: Meaning): boolean =>
  ['谢谢', '喜欢', '夸奖', '安慰', '诉苦', '亲近', '吃喝'].includes(meaning);

/** Whether a clause about somebody else can have this meaning. The others are about the speaker or the reader. */
const mayConcernOthers = (meaning: Meaning): boolean => ['求救', '为什么', '怎么办'].includes(meaning);

/** Returns the pronoun (他, 她 or 它) of the plot's speaker, from its stage directions; undefined if they have none. */
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

/**
 * Returns where a clause has a name of the story, or -1. A question such as 怎么死 has to be about the speaker. A name of
 * one letter is the last one of its word: 贼亮 is no thief, 核桃 no core.
 */
function placeOf(name: string, clause: string): number {
  if (/怎|何/.test(name) && !/^[你您]?$/.test(clause.slice(0, clause.indexOf(name)).replace(/[是会又]|当初|到底/g, '')))
    return -1;
  if (name.length > 1) return clause.indexOf(name);
  const isWord = new RegExp(`${name}[子儿里上下中们]?$`);
  const masked = clause.replace(compoundWords, (word) => '　'.repeat(word.length));
  const places = [...wordSegmenter.segment(clause)]
    .filter(({ segment }) => isWord.test(segment))
    .map(({ segment, index }) => index + segment.lastIndexOf(name));
  return places.find((place) => masked[place] === name) ?? -1;
}

const wordSegmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** Whether the reader wants to be taught. What they want to learn is not the subject. */
const isWishToLearn = (clause: string): boolean =>
  /(?:想|要|教|[跟向和同][你您]).{0,4}学|教[我给]|拜[你您].{0,2}师|收我.{0,2}徒/.test(clause);

export interface InterpretationContext {
  plot: Plot;
  speaker: string;
  /** Lines that the scene offers. */
  replies: readonly Reply[];
  /** Whether all answers of a line, or of an entry of `byWords`, were used: they would repeat. */
  isSpent?: (source: Reply | number) => boolean;
  /** Subject of the previous turn, as an index of `byWords`. */
  lastSubjectIndex?: number | undefined;
  /** Id of the current scene. */
  at?: string;
}

/** Interprets a line by its words; undefined if nothing matches. */
export function interpret(
  line: string,
  { plot, speaker, replies, isSpent = () => false, lastSubjectIndex, at }: InterpretationContext,
): Interpretation | undefined {
  const spelled = spell(line);
  const words = withoutHosts(spelled);
  const letters = lettersOf(spelled);
  if (restartPattern.test(letters)) return { kind: 'restart' };
  if (turnBackPattern.test(letters)) return { kind: 'turnBack' };
  const exactReply = replies.find((one) => lettersOf(one.line) === letters);
  if (exactReply) return { kind: 'reply', reply: exactReply };
  if (isInDanger(spelled)) return { kind: 'meaning', meaning: '想不开' };
  if (isAbusive(words)) return { kind: 'meaning', meaning: '骂人' };
  if (patterns[0]?.words.test(words)) return { kind: 'meaning', meaning: patterns[0].meaning };
  if (/^[\s….。]+$/.test(words) || goOnPattern.test(words.trim())) return { kind: 'goOn' };
  if (isNonsense(words)) return { kind: 'meaning', meaning: '胡话' };
  const openReplies = replies.filter((one) => one.to || !isSpent(one));
  const similarReply = findReply(words, openReplies, (_, { line }) => isLike(letters, lettersOf(line)));
  if (similarReply) return { kind: 'reply', reply: similarReply };
  const subjects = plot.byWords
    .map(({ words: names }, index) => ({ names, index }))
    .filter(({ index }) => !isSpent(index));
  const lastSubject = subjects.find(({ index }) => index === lastSubjectIndex);
  const speakerPronoun = pronounOf(plot);
  // without an antecedent 她 in a question is the speaker, unless the story says whom it means
  const ownPronoun =
    !lastSubject && !plot.lore.some((fact) => fact.subjects.includes(speakerPronoun ?? ''))
      ? speakerPronoun
      : undefined;
  const allClauses = clausesOf(words).map((clause) =>
    ownPronoun && isQuestion(clause) && clause.startsWith(ownPronoun)
      ? clause.replace(/^[他她它](?!们)/, '你')
      : clause,
  );
  // a clause that is only a name addresses somebody: “燕先生，你好”
  const clauses = allClauses.filter(
    (clause) => allClauses.length === 1 || !subjects.some(({ names }) => names.includes(clause)),
  );
  const isOfOther = (clause: string) => {
    const pronoun = thirdPersonPattern.exec(clause)?.[1];
    return pronoun !== undefined && (lastSubject !== undefined || pronoun !== speakerPronoun);
  };
  // of several names in a clause the first one is its subject
  const mentionedSubject = (clause: string) =>
    (isWishToLearn(clause) ? apprenticeship : undefined) ??
    subjects
      .flatMap((subject) => {
        const places = subject.names.map((name) => placeOf(name, clause)).filter((place) => place >= 0);
        return places.length > 0 ? [{ subject, place: Math.min(...places) }] : [];
      })
      .sort((one, other) => one.place - other.place)[0]?.subject ??
    (isOfOther(clause) ? lastSubject : undefined);
  const apprenticeship = subjects.find((one) => one.names.some((name) => /^学|拜师|徒/.test(name)));
  const isSpeaker = ({ names }: { names: string[] }) => names.some((name) => speaker.includes(name));
  const isAsking = isQuestion(words);
  const isAsked = (clause: string) =>
    isQuestion(clause) || words.includes(`${clause}？`) || words.includes(`${clause}?`);
  const sceneIds = plot.scenes.slice(0, plot.scenes.findIndex(({ id }) => id === at) + 1).map(({ id }) => id);
  const ownNames = plot.byWords.flatMap(({ words: names }) => (isSpeaker({ names }) ? names : []));
  const loreContext = {
    lore: [...commonLore, ...plot.lore],
    speakerNames: [speaker, ...ownNames],
    lastNames: lastSubject?.names ?? [],
    sceneIds,
  };
  const loreByClause = new Map(clauses.map((clause) => [clause, isAsked(clause) && findLore(clause, loreContext)]));
  const subject = clauses.map(mentionedSubject).find((one) => one && !isSpeaker(one));
  const isMeant = ({ meaning, words: pattern }: Pattern, clause: string) => {
    if (meaning === '害怕') return clause.includes('我') || !(isOfOther(clause) || isAsked(clause));
    if (isOfAffirmation(meaning) && negationPattern.test(clause.slice(0, Math.max(0, clause.search(pattern)))))
      return false;
    return !isOfOther(clause) || mayConcernOthers(meaning);
  };
  const meanings = clauses.flatMap((clause) => {
    const question = isAsking && clause === clauses.at(-1) ? `${clause}？` : clause;
    const index = patterns.findIndex(
      ({ words: pattern, unless }) => (pattern.test(clause) || pattern.test(question)) && !unless?.test(question),
    );
    const pattern = patterns[index];
    return pattern && isMeant(pattern, clause) ? [{ index, clause, meaning: pattern.meaning }] : [];
  });
  const lore = [...loreByClause.values()].filter((fact) => fact !== undefined && fact !== false);
  if (lore.length > 0) {
    const lastAnswered = clauses.findLastIndex((clause) => loreByClause.get(clause));
    const second = meanings.find(
      ({ clause }) => !loreByClause.get(clause) && (isAsked(clause) || clauses.indexOf(clause) > lastAnswered),
    );
    return { kind: 'lore', lore: lore.slice(0, 2), ...(second && { secondQuestion: second.meaning }) };
  }
  const names = [speaker, ...plot.byWords.flatMap((one) => one.words.filter((name) => name.length > 1))];
  const reply = findReply(words, openReplies, (clause, one) =>
    one.words.some((word) => isAbout(clause, word, one, names)),
  );
  if (reply) return { kind: 'reply', reply };
  const lastMeaning = meanings.find(({ clause }) => clause === clauses.at(-1) && !mentionedSubject(clause));
  if (subject && !(lastMeaning && isEmotional(lastMeaning.meaning))) return { kind: 'words', index: subject.index };
  const [firstMeaning] = meanings.sort((one, other) => one.index - other.index);
  if (firstMeaning) {
    const isFear = firstMeaning.meaning === '害怕' && !isAsked(firstMeaning.clause);
    const fear = isFear ? findFear(firstMeaning.clause) : undefined;
    const secondQuestion = meanings.find(({ meaning, clause }) => meaning !== firstMeaning.meaning && isAsked(clause));
    return {
      kind: 'meaning',
      meaning: firstMeaning.meaning,
      ...(fear && { fear }),
      ...(secondQuestion && isAsked(firstMeaning.clause) && { secondQuestion: secondQuestion.meaning }),
    };
  }
  const speakerSubject = clauses.map(mentionedSubject).find(Boolean);
  return speakerSubject && { kind: 'words', index: speakerSubject.index };
}

/** Whether a meaning takes precedence over a name in the same line: “我不想娶松姑，我想娶你”. */
const isEmotional = (meaning: Meaning): boolean =>
  ['喜欢', '心意', '信任', '真假', '道歉', '谢谢', '安慰', '求救', '帮忙', '告别', '害怕'].includes(meaning);

/** Words of a question that do not belong to its topic. */
const stopWords =
  /为什么|什么|时候|怎么样?|[这那下上]?一?[只个位座]|[这那][些样]|哪[里儿个些]?|多少|几[个次时]?|是不是|有没有|有些?|[谁何吗呢么吧啊呀你您我咱他她它们这那的了过着是在有里上下被把和跟与]/gu;

/** Splits a text into sentences. A quotation and a `*deed*` are each one sentence. */
const sentencesOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => line.match(/(?:“[^”]*”|\*[^*]*\*|[^。！？“*])+[。！？]*/gu) ?? []);

/**
 * Finds the sentence of a text that contains at least three quarters of a question's topic. The topic needs three
 * characters, or two for a place, unless the question names somebody.
 */
export function findFact(text: string, question: string, namesSomebody: boolean): string | undefined {
  if (!/谁|什么|哪|怎|何|多少|几/.test(question) || /[叫姓]什么|名字/.test(question)) return undefined;
  const topic = clausesOf(question)
    .map((clause) => lettersOf(clause.replace(stopWords, '')))
    .join('');
  const topicLetters = [...new Set(topic)];
  const isPlace = /哪[里儿]|何处|什么地方/.test(question);
  if (topicLetters.length < (isPlace && !namesSomebody ? 2 : 3)) return undefined;
  const pairs = bigramsOf(topic);
  const bestSentence = sentencesOf(text)
    .filter(
      (sentence) =>
        pairs.some((pair) => sentence.includes(pair)) &&
        !sentence.endsWith('？') &&
        (!isPlace || sentence.includes('在')),
    )
    .map((sentence) => ({
      sentence,
      share: topicLetters.filter((letter) => sentence.includes(letter)).length / topicLetters.length,
    }))
    .sort((one, other) => other.share - one.share)[0];
  return bestSentence && bestSentence.share >= 0.75 ? bestSentence.sentence.trim() : undefined;
}
