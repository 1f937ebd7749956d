import { type Finale, isOpen, type Meaning, type Reply } from '../content/plot.ts';
import * as common from './answers.ts';
import {
  asksSomething,
  factIn,
  introductionIn,
  isAbusive,
  type Persona,
  personaOf,
  type Understood,
  understand,
} from './meaning.ts';
import {
  begin,
  endingAt,
  hasEnded,
  offeredReplies,
  type Progress,
  sceneAt,
  type Teller,
  type Told,
} from './progress.ts';

/** Whether the reader declined, objected, hesitated or wants to leave, so that the scene must not move on. */
const isReluctant = (meaning: Meaning): boolean => ['不', '告别', '回家', '反驳', '稍等'].includes(meaning);

/** Returns the answer to the reader's words, or, for null, what happens next. Deterministic. */
export function tell(teller: Teller, before: Progress, words: string | null, telling = 0): Told {
  return new Turn(teller, before, telling).take(words);
}

class Turn {
  readonly #teller: Teller;
  readonly #telling: number;
  readonly #persona: Persona;
  readonly #parts: string[] = [];
  /** The opening and the scene's steps before this turn, as the reader has read them. */
  readonly #read: string;
  readonly #about: number | undefined;
  #progress: Progress;
  #fear: string | undefined;
  #meanwhile: Told['meanwhile'];

  constructor(teller: Teller, before: Progress, telling: number) {
    this.#teller = teller;
    this.#telling = telling;
    this.#persona = personaOf(teller.reader.persona);
    this.#fear = this.#persona.fear;
    const steps = sceneAt(teller.plot, before)?.steps.slice(0, before.steps) ?? [];
    this.#read = [teller.opening, ...steps].join('\n');
    const { about, ...progress } = structuredClone(before);
    this.#about = about;
    this.#progress = progress;
    this.#progress.turns += 1;
    this.#progress.idle += 1;
  }

  take(words: string | null): Told {
    const by = this.#take(words);
    this.#noticeFear();
    const text = this.#parts.join('\n\n');
    return { text, progress: this.#progress, by, ...(this.#meanwhile && { meanwhile: this.#meanwhile }) };
  }

  #take(words: string | null): Told['by'] {
    const { plot } = this.#teller;
    const ended = hasEnded(plot, this.#progress);
    const first = words === null ? ({ kind: 'goOn' } as const) : this.#understand(words);
    const introduced = words === null || ended || first?.kind === 'reply' ? undefined : introductionIn(words);
    const said = introduced ? introduced.rest : words;
    const meant = introduced ? this.#understand(introduced.rest) : first;
    if (meant?.kind === 'restart' || (meant?.kind === 'turnBack' && ended && !this.#progress.fork))
      return this.#restart();
    if (meant?.kind === 'turnBack') return this.#turnBack();
    if (ended) return this.#stayClosed();
    this.#setScene(meant);
    if (introduced) {
      this.#progress.called = introduced.called;
      this.#say('introduced', common.introduced);
      if (!meant) {
        this.#remindOfChoice();
        return 'meaning';
      }
    }
    switch (meant?.kind) {
      case 'reply':
        this.#answerReply(meant.reply);
        return 'reply';
      case 'words':
        this.#progress.about = meant.index;
        if (!asksSomething(said ?? '') || !this.#recall(said ?? '', true))
          this.#say(`words ${meant.index}`, plot.byWords[meant.index]?.answers ?? []);
        this.#remindOfChoice();
        return 'meaning';
      case 'meaning':
        this.#answerMeaning(meant, said ?? '');
        return 'meaning';
      case 'goOn':
        if (this.#telling > 0) this.#say('waiting', common.waiting);
        this.#goOn();
        return 'goOn';
      default:
        this.#answerOther(said ?? '');
        return 'other';
    }
  }

  #understand(words: string): Understood | undefined {
    if (words === '') return undefined;
    const { plot, speaker } = this.#teller;
    const { at, used } = this.#progress;
    return understand(words, {
      plot,
      speaker,
      about: this.#about,
      offered: this.#repliesHere(),
      isSpent: (told) =>
        typeof told === 'number'
          ? (used[`words ${told}`] ?? 0) >= (plot.byWords[told]?.answers.length ?? 0)
          : (used[`reply ${at} ${told.line}`] ?? 0) >= told.answers.length,
    });
  }

  /** Tells the first scene's first step before the first answer, so that the speaker is introduced. */
  #setScene(meant: Understood | undefined): void {
    const { at, steps } = this.#progress;
    if (steps > 0 || at !== this.#teller.plot.scenes[0]?.id || meant?.kind === 'goOn') return;
    if (meant?.kind === 'meaning' && (meant.meaning === '骂人' || meant.meaning === '胡话')) return;
    this.#step();
  }

  /** Returns the scene's open lines, then those that were said: they are answered but no longer offered. */
  #repliesHere(): Reply[] {
    const { plot } = this.#teller;
    const open = offeredReplies(plot, this.#progress);
    const said = sceneAt(plot, this.#progress)?.replies.filter(
      ({ line, to }) => !to && !open.some((one) => one.line === line),
    );
    return [...open, ...(said ?? [])];
  }

  #answerReply(reply: Reply): void {
    const { at, said } = this.#progress;
    this.#say(`reply ${at} ${reply.line}`, reply.answers);
    this.#progress.said = [...said.filter((line) => line !== reply.line), reply.line];
    this.#progress.idle = 0;
    const before = { at, facts: { ...this.#progress.facts } };
    for (const fact of reply.facts) this.#progress.facts[fact] ??= at;
    if (reply.to) this.#enter(reply.to, before);
    else this.#remember();
  }

  #enter(id: string, from: NonNullable<Progress['fork']>): void {
    const { plot } = this.#teller;
    const scene = plot.scenes.find((one) => one.id === from.at);
    const ways = new Set(scene?.replies.flatMap(({ to }) => to ?? []));
    if (ways.size > 1) this.#progress.fork = from;
    this.#progress = { ...this.#progress, at: id, steps: 0, turns: 0, idle: 0, said: [] };
    const ending = endingAt(plot, this.#progress);
    if (ending) this.#end(ending);
    else this.#step();
  }

  #end({ id, title, steps }: Finale): void {
    const { endings } = this.#teller.plot;
    if (!this.#progress.endings.includes(id)) this.#progress.endings.push(id);
    this.#parts.push(...steps.map((step) => this.#fill(step)));
    this.#parts.push(`*全文完 · 结局：${title}（${this.#progress.endings.length}/${endings.length}）*`, common.waysOn);
  }

  /** Tells the scene's next step, if there is one. */
  #step(): boolean {
    const step = sceneAt(this.#teller.plot, this.#progress)?.steps[this.#progress.steps];
    if (step === undefined) return false;
    this.#progress.steps += 1;
    this.#progress.idle = 0;
    this.#parts.push(this.#fill(step));
    return true;
  }

  #goOn(): void {
    if (this.#step()) return;
    const scene = sceneAt(this.#teller.plot, this.#progress);
    const onward = scene?.onward;
    const places = [...this.#teller.plot.scenes, ...this.#teller.plot.endings];
    const place = places.find(({ id }) => id === onward?.to);
    if (onward && place && this.#progress.turns >= onward.after && isOpen(place, Object.keys(this.#progress.facts))) {
      this.#enter(onward.to, { at: this.#progress.at, facts: { ...this.#progress.facts } });
    } else this.#wait();
  }

  /** Tells an event that does not move the plot, so that the choice stays with the reader. */
  #wait(): void {
    const scene = sceneAt(this.#teller.plot, this.#progress);
    if (!scene) return;
    this.#progress.idle = 0;
    const count = this.#progress.used[`meanwhile ${scene.id}`] ?? 0;
    const sentence = scene.meanwhile[count];
    if (sentence === undefined) {
      this.#say('waiting', common.waiting);
      return;
    }
    this.#progress.used[`meanwhile ${scene.id}`] = count + 1;
    this.#meanwhile = { scene, sentence };
    this.#parts.push(this.#fill(sentence));
  }

  #answerMeaning({ meaning, fear }: { meaning: Meaning; fear?: string }, words: string): void {
    const { byMeaning } = this.#teller.plot;
    const saysFear = /怕|吓|胆|慌|scared|afraid/i.test(words);
    if (fear) this.#fear = fear;
    if (meaning === '记得' && this.#remember(true)) return;
    const isKnown = meaning === '我是谁' && this.#progress.called;
    const knowsTrade =
      this.#persona.trade && !this.#progress.used.trade && (meaning === '我是谁' || meaning === '问候');
    if (isKnown) this.#say('known', common.known);
    else if (knowsTrade) this.#say('trade', common.trades);
    else if (meaning === '害怕' && saysFear && this.#fear && (this.#progress.used.fear ?? 0) < common.fears.length) {
      this.#say('fear', common.fears);
    } else this.#say(meaning, [...(byMeaning[meaning] ?? []), ...common.commonAnswers[meaning]]);
    if (meaning === '好') this.#goOn();
    else if (meaning !== '骂人' && meaning !== '胡话') this.#remindOfChoice(isReluctant(meaning));
  }

  /** Answers words that were not understood. The scene goes on after a remark, but not after a question. */
  #answerOther(words: string): void {
    const own = this.#teller.plot.byMeaning.其他 ?? [];
    if (asksSomething(words) && this.#recall(words, false)) this.#remindOfChoice();
    else if (asksSomething(words)) {
      const isYesOrNo = /(吗|(?<![什怎])么)[?？]?$|是不是|会不会|有没有|能不能/.test(words);
      const isAboutYou = /[你您]/.test(words) && !(isYesOrNo && /[我他她它]/.test(words));
      const kind = isAboutYou ? 'you' : isYesOrNo ? 'whether' : 'other';
      this.#say(`unsure ${kind}`, common.unsure[kind]);
      this.#remindOfChoice();
    } else {
      this.#say('其他', [...own, ...common.commonAnswers.其他]);
      if (!this.#remember()) this.#goOn();
    }
  }

  /** Answers a question with a sentence that the reader has read. Each sentence is used once. */
  #recall(words: string, names: boolean): boolean {
    const { used } = this.#progress;
    const frame = common.recalled[(used.recalled ?? 0) + this.#telling];
    const fact = factIn(this.#read, words, names);
    if (!frame || !fact || used[`recalled ${fact}`]) return false;
    used.recalled = (used.recalled ?? 0) + 1;
    used[`recalled ${fact}`] = 1;
    this.#parts.push(this.#fill(frame.replace('{fact}', () => fact)));
    return true;
  }

  /** After three turns without progress, goes on with the scene, or only recalls the choice if the reader is reluctant. */
  #remindOfChoice(isReluctant = false): void {
    if (this.#remember() || this.#progress.idle < 3) return;
    if (isReluctant) this.#wait();
    else this.#goOn();
  }

  /** Mentions something that the reader did in an earlier scene. Each fact is mentioned once. */
  #remember(isAsked = false): boolean {
    const { memories } = this.#teller.plot;
    const { facts, at, used, idle } = this.#progress;
    if (!isAsked && idle !== 2) return false;
    const fact = Object.keys(facts).find((one) => memories[one] && facts[one] !== at && !used[`memory ${one}`]);
    if (fact === undefined) return false;
    used[`memory ${fact}`] = 1;
    this.#parts.push(this.#fill(memories[fact] ?? ''));
    return true;
  }

  #restart(): 'reply' {
    const { plot, opening } = this.#teller;
    const { endings, used, called } = this.#progress;
    this.#progress = { ...begin(plot), endings, used, ...(called && { called }) };
    for (const key of Object.keys(used)) if (/^(memory|meanwhile|reply) /.test(key)) delete used[key];
    this.#parts.push(common.begunAgain, ...opening.split('\n\n').slice(-2));
    return 'reply';
  }

  #turnBack(): 'reply' {
    const { plot } = this.#teller;
    const { fork, ...rest } = this.#progress;
    if (!fork) {
      this.#parts.push(common.noFork);
      this.#goOn();
      return 'reply';
    }
    this.#progress = { ...rest, ...structuredClone(fork), steps: 0, turns: 0, idle: 0, said: [] };
    this.#progress.steps = sceneAt(plot, this.#progress)?.steps.length ?? 0;
    this.#parts.push(common.turnedBack);
    this.#wait();
    return 'reply';
  }

  #stayClosed(): 'closed' {
    this.#say('closed', common.closed);
    this.#parts.push(common.waysOn);
    return 'closed';
  }

  /** Says the next text of a list, in a cycle. Each retelling is one text further. */
  #say(list: string, tellings: readonly string[]): void {
    const count = this.#progress.used[list] ?? 0;
    this.#progress.used[list] = count + 1;
    const telling = tellings[(count + this.#telling) % Math.max(1, tellings.length)];
    if (telling !== undefined) this.#parts.push(this.#fill(telling));
  }

  #noticeFear(): void {
    const { fear } = this.#persona;
    if (!fear || this.#progress.used.fearNear || hasEnded(this.#teller.plot, this.#progress)) return;
    if (!this.#parts.some((part) => part.includes(fear) && !part.includes(`怕${fear}`))) return;
    this.#progress.used.fearNear = 1;
    this.#parts.push(this.#fill(common.fearNear));
  }

  #fill(text: string): string {
    const { speaker, address, reader, plot } = this.#teller;
    const scene = sceneAt(plot, this.#progress);
    const called = this.#progress.called ?? this.#persona.address ?? address;
    return text
      .replaceAll('{address}', called)
      .replaceAll('{name}', reader.name && !isAbusive(reader.name) ? reader.name : called)
      .replaceAll('{speaker}', speaker)
      .replaceAll('{place}', scene?.place ?? '')
      .replaceAll('{hour}', scene?.hour === '夜' ? '夜里' : (scene?.hour ?? ''))
      .replaceAll('{fear}', this.#fear ?? '')
      .replaceAll('{trade}', this.#persona.trade ?? '');
  }
}

export interface Replay {
  progress: Progress;
  /** The rest of a reply that was cut off; undefined if another storyteller wrote the text. */
  rest: string | undefined;
}

/** Computes the progress after a reply and its continuations. */
export function replay(teller: Teller, before: Progress, words: string, body: string, telling: number): Replay {
  if (body === '') return { progress: before, rest: undefined };
  const first = tell(teller, before, words, telling);
  let { text, progress } = first;
  while (body.length > text.length && body.startsWith(text)) {
    const more = tell(teller, progress, null);
    text += `\n\n${more.text}`;
    progress = more.progress;
  }
  if (text.startsWith(body)) return { progress, rest: text.slice(body.length) };
  return { progress: first.progress, rest: undefined };
}
