import { commonText, commonTextsOf } from '../content/content.ts';
import type { Finale, Lore, Meaning, Reply } from '../content/plot.ts';
import { isOpen } from '../content/ways.ts';
import { findFact, type Interpretation, interpret } from './meaning.ts';
import { isAbusive } from './patterns.ts';
import {
  endingAt,
  hasEnded,
  initialProgress,
  offeredReplies,
  type Progress,
  sceneAt,
  type Teller,
  type TurnResult,
} from './progress.ts';
import type { OwnQuestion, ReaderFacts } from './reader.ts';
import { factsOf, findIntroduction, ownQuestionIn, refusesName, repeatable } from './reader.ts';
import { isQuestion, rotate, withoutHosts } from './words.ts';

/** Whether the reader declined, objected, hesitated or wants to leave, so that the scene must not move on. */
const isReluctant = (meaning: Meaning): boolean => ['不', '告别', '回家', '反驳', '稍等', '改口'].includes(meaning);

/** Meanings that the page answers in the margin, also after an ending. */
const pageMeanings: readonly Meaning[] = ['想不开', '用法', '账户', '按钮'];

/** Whether a meaning has no place in the story, so that the story waits. */
const isOutside = (meaning: Meaning): boolean => ['骂人', '胡话', ...pageMeanings].includes(meaning);

/** Returns the answer to the reader's words, or, for null, what happens next. Deterministic. */
export function composeTurn(teller: Teller, before: Progress, words: string | null, variantIndex = 0): TurnResult {
  return new TurnComposer(teller, before, variantIndex).compose(words);
}

class TurnComposer {
  /** What the reader's 人设 says of them. */
  readonly #persona: ReaderFacts;
  readonly #parts: string[] = [];
  /** The opening and the scene's steps before this turn, as the reader has read them. */
  readonly #readText: string;
  readonly #lastSubjectIndex: number | undefined;
  #progress: Progress;

  constructor(
    private readonly teller: Teller,
    progressBefore: Progress,
    private readonly variantIndex: number,
  ) {
    this.#persona = factsOf(teller.reader.persona);
    const steps = sceneAt(teller.plot, progressBefore)?.steps.slice(0, progressBefore.steps) ?? [];
    this.#readText = [teller.opening, ...steps].join('\n');
    const { about, ...progress } = structuredClone(progressBefore);
    this.#lastSubjectIndex = about;
    this.#progress = progress;
    this.#progress.turns += 1;
    this.#progress.idle += 1;
  }

  /** What the reader said of themselves, here or in their 人设. */
  #told(about: OwnQuestion | 'trade'): string | undefined {
    return about === 'words' ? this.#progress.lastWords : (this.#progress[about] ?? this.#persona[about]);
  }

  compose(words: string | null): TurnResult {
    const by = this.#composeParts(words);
    this.#noticeFear();
    if (words !== null) this.#progress.lastWords = repeatable(words);
    return { text: this.#parts.join('\n\n'), progress: this.#progress, by };
  }

  #composeParts(words: string | null): TurnResult['by'] {
    const { plot } = this.teller;
    const isOver = hasEnded(plot, this.#progress);
    const firstInterpretation = words === null ? ({ kind: 'goOn' } as const) : this.#interpret(words);
    if (this.#progress.called && refusesName(words ?? '', this.#progress.called)) delete this.#progress.called;
    const introduction =
      words === null || isOver || firstInterpretation?.kind === 'reply' ? undefined : findIntroduction(words);
    const remainingWords = introduction ? introduction.rest : words;
    const interpretation = introduction ? this.#interpret(introduction.rest) : firstInterpretation;
    if (interpretation?.kind === 'restart' || (interpretation?.kind === 'turnBack' && isOver && !this.#progress.fork))
      return this.#restart();
    if (interpretation?.kind === 'turnBack') return this.#turnBack();
    if (isOver) return this.#stayClosed(interpretation);
    this.#introduceScene(interpretation);
    const { trade, age, home } = factsOf(words ?? '');
    if (trade && (introduction || (interpretation?.kind === 'meaning' && interpretation.meaning === '自述')))
      this.#progress.trade = trade;
    if (age) this.#progress.age = age;
    if (home) this.#progress.home = home;
    if (introduction) {
      this.#progress.called = introduction.name;
      this.#appendNext('introduced');
      if (!interpretation) {
        this.#remindOfChoice();
        return 'meaning';
      }
    }
    if (interpretation?.kind !== 'reply' && this.#answerOwnQuestion(remainingWords ?? '')) return 'meaning';
    switch (interpretation?.kind) {
      case 'reply':
        this.#answerReply(interpretation.reply);
        return 'reply';
      case 'lore':
        for (const fact of interpretation.lore) {
          // a trade that the reader named replaces that of the story
          const isOwnTrade = fact.subjects.includes('我') && fact.aspects.includes('营生') && this.#told('trade');
          if (isOwnTrade) this.#appendNext('trade');
          else this.#tellLore(fact);
        }
        if (interpretation.secondQuestion) this.#appendMeaning(interpretation.secondQuestion);
        this.#remindOfChoice();
        return 'meaning';
      case 'words':
        this.#progress.about = interpretation.index;
        if (!isQuestion(remainingWords ?? '') || !this.#recall(remainingWords ?? '', true))
          this.#appendNext(`words ${interpretation.index}`, plot.byWords[interpretation.index]?.answers ?? []);
        this.#remindOfChoice();
        return 'meaning';
      case 'meaning':
        this.#answerMeaning(interpretation, remainingWords ?? '');
        return 'meaning';
      case 'goOn':
        if (this.variantIndex > 0) this.#tellEvent(this.variantIndex - 1);
        this.#advance();
        return 'goOn';
      default:
        this.#answerOther(withoutHosts(remainingWords ?? ''));
        return 'other';
    }
  }

  /** Answers a question about the reader from what the reader said. */
  #answerOwnQuestion(words: string): boolean {
    const question = ownQuestionIn(words);
    const told = question && this.#told(question);
    if (!told) return false;
    const answers = commonTextsOf(`told ${question}`).map((answer) => answer.replace('{fact}', () => told));
    this.#appendNext(`told ${question}`, answers);
    this.#remindOfChoice();
    return true;
  }

  #interpret(words: string): Interpretation | undefined {
    if (words === '') return undefined;
    const { plot, speaker } = this.teller;
    const { at, used } = this.#progress;
    return interpret(words, {
      plot,
      speaker,
      at,
      lastSubjectIndex: this.#lastSubjectIndex,
      replies: this.#currentReplies(),
      isSpent: (source) =>
        typeof source === 'number'
          ? (used[`words ${source}`] ?? 0) >= (plot.byWords[source]?.answers.length ?? 0)
          : (used[`reply ${at} ${source.line}`] ?? 0) >= source.answers.length,
    });
  }

  /** Tells the first scene's first step before the first answer, so that the speaker is introduced. */
  #introduceScene(interpretation: Interpretation | undefined): void {
    const { at, steps } = this.#progress;
    if (steps > 0 || at !== this.teller.plot.scenes[0]?.id || interpretation?.kind === 'goOn') return;
    if (interpretation?.kind === 'meaning' && isOutside(interpretation.meaning)) return;
    this.#tellNextStep();
  }

  /** Returns the scene's open lines, then those that were said: they are answered but no longer offered. */
  #currentReplies(): Reply[] {
    const { plot } = this.teller;
    const openReplies = offeredReplies(plot, this.#progress);
    const saidReplies = sceneAt(plot, this.#progress)?.replies.filter(
      ({ line, to }) => !to && !openReplies.some((one) => one.line === line),
    );
    return [...openReplies, ...(saidReplies ?? [])];
  }

  #answerReply(reply: Reply): void {
    const { at, said } = this.#progress;
    this.#appendNext(`reply ${at} ${reply.line}`, reply.answers);
    this.#progress.said = [...said.filter((line) => line !== reply.line), reply.line];
    this.#progress.idle = 0;
    const fork = { at, facts: { ...this.#progress.facts } };
    for (const fact of reply.facts) this.#progress.facts[fact] ??= at;
    if (reply.to) this.#enter(reply.to, fork);
    else this.#mentionFact();
  }

  #enter(id: string, fork: NonNullable<Progress['fork']>): void {
    const { plot } = this.teller;
    const scene = plot.scenes.find((one) => one.id === fork.at);
    const ways = new Set(scene?.replies.flatMap(({ to }) => to ?? []));
    if (ways.size > 1) this.#progress.fork = fork;
    this.#progress = { ...this.#progress, at: id, steps: 0, turns: 0, idle: 0, said: [] };
    const ending = endingAt(plot, this.#progress);
    if (ending) this.#end(ending);
    else this.#tellNextStep();
  }

  #end({ id, title, steps }: Finale): void {
    const { endings } = this.teller.plot;
    if (!this.#progress.endings.includes(id)) this.#progress.endings.push(id);
    this.#parts.push(...steps.map((step) => this.#fill(step)));
    this.#parts.push(
      `*全文完 · 结局：${title}（${this.#progress.endings.length}/${endings.length}）*`,
      commonText('ending options'),
    );
  }

  /** Tells the scene's next step, if there is one. */
  #tellNextStep(): boolean {
    const step = sceneAt(this.teller.plot, this.#progress)?.steps[this.#progress.steps];
    if (step === undefined) return false;
    this.#progress.steps += 1;
    this.#progress.idle = 0;
    this.#parts.push(this.#fill(step));
    return true;
  }

  #advance(): void {
    if (this.#tellNextStep()) return;
    const scene = sceneAt(this.teller.plot, this.#progress);
    const onward = scene?.onward;
    const places = [...this.teller.plot.scenes, ...this.teller.plot.endings];
    const place = places.find(({ id }) => id === onward?.to);
    if (onward && place && this.#progress.turns >= onward.after && isOpen(place, Object.keys(this.#progress.facts))) {
      this.#enter(onward.to, { at: this.#progress.at, facts: { ...this.#progress.facts } });
    } else this.#tellEvent();
  }

  /** Tells an event that does not move the plot, so that the choice stays with the reader. */
  #tellEvent(offset = 0): void {
    if (!this.#tellMeanwhile(offset)) this.#appendNext('waiting');
  }

  /** Tells what happens in the scene meanwhile, if it was not used yet. */
  #tellMeanwhile(offset = 0): boolean {
    const scene = sceneAt(this.teller.plot, this.#progress);
    if (!scene) return false;
    this.#progress.idle = 0;
    const count = (this.#progress.used[`meanwhile ${scene.id}`] ?? 0) + offset;
    const sentence = scene.meanwhile[count];
    if (sentence === undefined) return false;
    this.#progress.used[`meanwhile ${scene.id}`] = count + 1;
    this.#parts.push(this.#fill(sentence));
    return true;
  }

  #answerMeaning(interpretation: Extract<Interpretation, { kind: 'meaning' }>, words: string): void {
    const { meaning, fear, secondQuestion } = interpretation;
    const saysFear = /怕|吓|胆|慌|scared|afraid/i.test(words);
    if (fear) this.#progress.fear = fear;
    if (meaning === '记得' && this.#mentionFact(true)) return;
    const hasKnownName = meaning === '我是谁' && this.#progress.called;
    const asksTrade = meaning === '我是谁' && /[做干]什么|营生|职业/.test(words);
    const mayMentionTrade = !this.#progress.used.trade && (meaning === '我是谁' || meaning === '问候');
    const knowsTrade = this.#told('trade') && (asksTrade || mayMentionTrade);
    if (knowsTrade) this.#appendNext('trade');
    else if (hasKnownName) this.#appendNext('known');
    else if (
      meaning === '害怕' &&
      saysFear &&
      this.#told('fear') &&
      (this.#progress.used.fear ?? 0) < commonTextsOf('fear').length
    ) {
      this.#appendNext('fear');
    } else this.#appendMeaning(meaning, words);
    if (secondQuestion) this.#appendMeaning(secondQuestion);
    if (meaning === '好' || meaning === '厌烦') this.#advance();
    else if (!isOutside(meaning)) this.#remindOfChoice(isReluctant(meaning));
  }

  /** Says a fact, in other words each time. A text with marks of its own is used as it is. */
  #tellLore({ subjects, aspects, from, text }: Lore): void {
    const { used } = this.#progress;
    const key = `lore ${subjects[0]} ${aspects[0]} ${from}`;
    const about = this.teller.plot.byWords.findIndex(({ words }) => words.some((word) => subjects.includes(word)));
    if (about >= 0) this.#progress.about = about;
    // every second time without more
    const frames = used[key]
      ? commonTextsOf('lore again')
      : commonTextsOf('lore').flatMap((frame) => ['“{fact}”', frame]);
    const texts = /[“*]/.test(text) ? [text] : frames.map((frame) => frame.replace('{fact}', () => text));
    this.#appendNext(used[key] ? 'lore again' : 'lore', texts);
    used[key] = 1;
  }

  #appendMeaning(meaning: Meaning, words = ''): void {
    // the speaker's own reasons do not explain what others do
    const isOfOthers = meaning === '为什么' && /[我他她它]/.test(words) && !/[你您]/.test(words);
    const ownAnswers = (!isOfOthers && this.teller.plot.byMeaning[meaning]) || [];
    const commonAnswers = rotate(commonTextsOf(meaning), this.teller.speaker);
    this.#appendNext(meaning, [...ownAnswers, ...commonAnswers]);
  }

  /** Answers words that were not understood. The scene goes on after a remark, but not after a question. */
  #answerOther(words: string): void {
    const ownAnswers = this.teller.plot.byMeaning.其他 ?? [];
    const lastSentence = words.match(/[^。！？!?]+[。！？!?]*$/)?.[0] ?? words;
    if (isQuestion(words) && this.#recall(words, false)) this.#remindOfChoice();
    else if (isQuestion(lastSentence)) {
      const isYesOrNo = /(吗|(?<![什怎])么)[?？]?$|是不是|会不会|有没有|能不能/.test(words);
      const isAboutYou = /[你您]/.test(words) && !(isYesOrNo && /[我他她它]/.test(words));
      const kind = isAboutYou ? 'you' : isYesOrNo ? 'whether' : 'other';
      this.#appendNext(`unsure ${kind}`, rotate(commonTextsOf(`unsure ${kind}`), this.teller.speaker));
      this.#remindOfChoice();
    } else {
      this.#appendNext('其他', [...ownAnswers, ...rotate(commonTextsOf('其他'), this.teller.speaker)]);
      // words that were not understood decide nothing: they lead to no other scene
      if (!this.#mentionFact() && !this.#tellNextStep()) this.#tellEvent();
    }
  }

  /** Answers a question with a sentence that the reader has read. Each sentence is used once. */
  #recall(words: string, names: boolean): boolean {
    const { used } = this.#progress;
    const frame = commonTextsOf('recalled')[(used.recalled ?? 0) + this.variantIndex];
    const fact = findFact(this.#readText, words, names);
    if (!frame || !fact || used[`recalled ${fact}`]) return false;
    used.recalled = (used.recalled ?? 0) + 1;
    used[`recalled ${fact}`] = 1;
    this.#parts.push(this.#fill(frame.replace('{fact}', () => fact)));
    return true;
  }

  /** After three turns without progress, goes on with the scene, or only recalls the choice if the reader is reluctant. */
  #remindOfChoice(isReluctant = false): void {
    if (this.#mentionFact() || this.#progress.idle < 3) return;
    // only the reader's choice or wish to go on leads to another scene
    if (isReluctant || !this.#tellNextStep()) this.#tellMeanwhile();
  }

  /** Mentions something that the reader did in an earlier scene. Each fact is mentioned once. */
  #mentionFact(isRequested = false): boolean {
    const { memories } = this.teller.plot;
    const { facts, at, used, idle } = this.#progress;
    if (!isRequested && idle !== 2) return false;
    const fact = Object.keys(facts).find((one) => memories[one] && facts[one] !== at && !used[`memory ${one}`]);
    if (fact === undefined) return false;
    used[`memory ${fact}`] = 1;
    this.#parts.push(this.#fill(memories[fact] ?? ''));
    return true;
  }

  #restart(): 'reply' {
    const { plot, opening } = this.teller;
    const { endings, used, called, trade, fear, age, home } = this.#progress;
    const told = Object.fromEntries(Object.entries({ called, trade, fear, age, home }).filter(([, fact]) => fact));
    this.#progress = { ...initialProgress(plot), endings, used, ...told };
    for (const key of Object.keys(used)) if (/^(memory|meanwhile|reply|lore) /.test(key)) delete used[key];
    this.#parts.push(commonText('restart'), ...opening.split('\n\n').slice(-2));
    return 'reply';
  }

  #turnBack(): 'reply' {
    const { plot } = this.teller;
    const { fork, ...rest } = this.#progress;
    if (!fork) {
      this.#parts.push(commonText('no fork'));
      this.#advance();
      return 'reply';
    }
    this.#progress = { ...rest, ...structuredClone(fork), steps: 0, turns: 0, idle: 0, said: [] };
    this.#progress.steps = sceneAt(plot, this.#progress)?.steps.length ?? 0;
    this.#parts.push(commonText('turn back'));
    this.#tellEvent();
    return 'reply';
  }

  #stayClosed(interpretation: Interpretation | undefined): 'closed' {
    if (interpretation?.kind === 'meaning' && pageMeanings.includes(interpretation.meaning))
      this.#appendMeaning(interpretation.meaning);
    else this.#appendNext('closed');
    this.#parts.push(commonText('ending options'));
    return 'closed';
  }

  /** Says the next text of a list, in a cycle. Each retelling is one text further. */
  #appendNext(list: string, texts: readonly string[] = commonTextsOf(list)): void {
    const count = this.#progress.used[list] ?? 0;
    this.#progress.used[list] = count + 1;
    const text = texts[(count + this.variantIndex) % Math.max(1, texts.length)];
    if (text !== undefined) this.#parts.push(this.#fill(text));
  }

  #noticeFear(): void {
    const { fear } = this.#persona;
    if (!fear || this.#progress.used.fearNear || hasEnded(this.teller.plot, this.#progress)) return;
    if (!this.#parts.some((part) => part.includes(fear) && !part.includes(`怕${fear}`))) return;
    this.#progress.used.fearNear = 1;
    this.#parts.push(this.#fill(commonText('fear nearby')));
  }

  #fill(text: string): string {
    const { speaker, address, reader, plot } = this.teller;
    const scene = sceneAt(plot, this.#progress);
    const addressedName = this.#progress.called ?? this.#persona.address ?? address;
    return text
      .replaceAll('{address}', addressedName)
      .replaceAll('{name}', reader.name && !isAbusive(reader.name) ? reader.name : addressedName)
      .replaceAll('{speaker}', speaker)
      .replaceAll('{place}', scene?.place ?? '')
      .replaceAll('{hour}', scene?.hour === '夜' ? '夜里' : (scene?.hour ?? ''))
      .replaceAll('{fear}', this.#told('fear') ?? '')
      .replaceAll('{trade}', this.#told('trade') ?? '')
      .replaceAll('{lines}', () => this.#describeOffers());
  }

  #describeOffers(): string {
    const lines = offeredReplies(this.teller.plot, this.#progress).slice(0, 2);
    return lines.map(({ line }) => `‘${line}’`).join('或者');
  }
}
