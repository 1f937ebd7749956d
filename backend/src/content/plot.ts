import { explore } from './ways.ts';

/*
 * The plot of a story: scenes with offered lines, answers by meaning, endings. It is written in Markdown, in the format
 * of content/README.md.
 */

const hours = ['清晨', '白天', '黄昏', '夜'] as const;

/** Meanings of a reader's words in any story. They are the labels in a story's `## Answers`. */
export const meanings = [
  '你是谁',
  '你叫什么',
  '这是哪里',
  '什么时候',
  '回家',
  '告别',
  '害怕',
  '加害',
  '想不开',
  '安慰',
  '谢谢',
  '道歉',
  '不',
  '好',
  '问候',
  '喜欢',
  '夸奖',
  '我是谁',
  '看我',
  '为什么',
  '怎么办',
  '吃喝',
  '年纪',
  '信任',
  '帮忙',
  '求救',
  '心意',
  '神色',
  '请求',
  '能不能',
  '说笑',
  '诉苦',
  '挽留',
  '没听清',
  '反驳',
  '威胁',
  '警觉',
  '赠物',
  '亲近',
  '心愿',
  '稍等',
  '本事',
  '真假',
  '记得',
  '是不是AI',
  '用法',
  '账户',
  '按钮',
  '改口',
  '选择',
  '吩咐',
  '厌烦',
  '自述',
  '骂人',
  '胡话',
  '其他',
] as const;

export type Meaning = (typeof meanings)[number];

const requiredMeanings: readonly Meaning[] = ['你是谁', '这是哪里', '害怕', '其他'];

/** A line that the reader may say in a scene. */
export interface Reply {
  line: string;
  /** Other words with the same meaning. */
  words: string[];
  /** Id of the scene or ending that it leads to. */
  to?: string;
  facts: string[];
  /** Versions of its answer; further ones are for 换一种说法. */
  answers: string[];
}

export interface Scene {
  id: string;
  title: string;
  place: string;
  hour: string;
  needs: string[];
  forbids: string[];
  /** Next scene after a number of turns without a choice. */
  onward?: { after: number; to: string };
  steps: string[];
  replies: Reply[];
  meanwhile: string[];
}

export interface Finale {
  id: string;
  title: string;
  needs: string[];
  forbids: string[];
  steps: string[];
}

/** Something that the speaker knows and says in answer to a question. */
export interface Lore {
  /** Names; 你 is the speaker, 我 the reader, an empty name the scene. */
  subjects: string[];
  aspects: string[];
  /** Id of the first scene where it holds. */
  from?: string;
  /** Whether it holds in any story, in each scene. */
  isCommon?: boolean;
  text: string;
}

export interface Plot {
  /** The first scene follows the opening. */
  scenes: Scene[];
  endings: Finale[];
  byMeaning: Partial<Record<Meaning, string[]>>;
  /** Answers to words that belong to this story. */
  byWords: { words: string[]; answers: string[] }[];
  /** Sentences in which the speaker mentions a fact, by fact. */
  memories: Record<string, string>;
  lore: Lore[];
}

/** A fault in one line of a story, with its remedy. */
export interface Fault {
  line: number;
  cure: string;
}

interface NumberedLine {
  text: string;
  number: number;
}

export interface Section {
  heading: string;
  number: number;
  lines: NumberedLine[];
}

/** Splits text at headings of one level. The text above the first one is a section without a heading. */
export function sectionsOf(lines: NumberedLine[], mark: string): Section[] {
  const sections: Section[] = [{ heading: '', number: lines[0]?.number ?? 0, lines: [] }];
  for (const line of lines) {
    if (line.text.startsWith(mark)) {
      sections.push({ heading: line.text.slice(mark.length).trim(), number: line.number, lines: [] });
    } else sections.at(-1)?.lines.push(line);
  }
  return sections;
}

export const numberLines = (text: string, firstNumber: number): NumberedLine[] =>
  text.split('\n').map((line, index) => ({ text: line, number: firstNumber + index }));

interface Paragraph {
  text: string;
  number: number;
}

function paragraphsOf(lines: NumberedLine[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let isOpen = false;
  for (const { text, number } of lines) {
    const words = text.trim();
    const last = paragraphs.at(-1);
    if (words === '') isOpen = false;
    else if (isOpen && last) last.text += words;
    else {
      paragraphs.push({ text: words, number });
      isOpen = true;
    }
  }
  return paragraphs;
}

interface Item {
  label: string;
  number: number;
  answers: Paragraph[];
}

export const idPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const headPattern =
  /^(?<line>[^[\]→+]+?)\s*(\[(?<words>[^\]]+)\])?\s*(→\s*(?<to>[a-z0-9-]+)?(?<facts>(\s*\+[a-z0-9-]+)*))?$/;

const lorePattern = /^- (?<head>[^：@]+?)\s*(@(?<from>[a-z0-9-]+))?：(?<words>.+)$/;

/** Reads labels with their tellings: `- label` above `  - telling`. A further indented line is a new paragraph. */
export function readItems(section: Section, addFault: (line: number, cure: string) => void): Item[] {
  const items: Item[] = [];
  for (const { text, number } of section.lines) {
    if (text.trim() === '') continue;
    const item = items.at(-1);
    const lastAnswer = item?.answers.at(-1);
    if (text.startsWith('- ')) items.push({ label: text.slice(2).trim(), number, answers: [] });
    else if (/^\s+- /.test(text) && item) item.answers.push({ text: text.trim().slice(2).trim(), number });
    else if (/^\s{2,}/.test(text) && lastAnswer) lastAnswer.text += `\n\n${text.trim()}`;
    else addFault(number, 'begin the line with "- ", or with "  - " for what belongs to the line above');
  }
  for (const item of items) {
    if (item.answers.length === 0) addFault(item.number, 'has no answer; write one below it, after "  - "');
  }
  return items;
}

/** Reads a story's sections and collects all faults for the writer. */
export class PlotReader {
  readonly faults: Fault[] = [];
  readonly #lineNumbers = new Map<string, number>();

  read(sections: Section[], cast: string[]): Plot {
    const plot: Plot = { scenes: [], endings: [], byMeaning: {}, byWords: [], memories: {}, lore: [] };
    for (const section of sections) this.#readSection(plot, section);
    this.#checkPlot(plot, cast, sections[0]?.number ?? 1);
    return plot;
  }

  #addFault(line: number, cure: string): void {
    this.faults.push({ line, cure });
  }

  #readSection(plot: Plot, section: Section): void {
    const [kind = '', id = '', ...title] = section.heading.split(/\s+/);
    if (kind === 'Scene') plot.scenes.push(this.#readScene(section, id, title.join(' ')));
    else if (kind === 'Ending') plot.endings.push(this.#readEnding(section, id, title.join(' ')));
    else if (section.heading === 'Answers') this.#readAnswers(plot, section);
    else if (section.heading === 'Memory') this.#readMemories(plot, section);
    else if (section.heading === 'Lore') this.#readLore(plot, section);
    else
      this.#addFault(
        section.number,
        `"## ${section.heading}" is no section; write Scene, Ending, Answers, Memory or Lore`,
      );
  }

  #registerId(section: Section, id: string, title: string): void {
    if (!idPattern.test(id) || !title) {
      this.#addFault(section.number, 'write an id in small letters, digits and hyphens, then a title');
    }
    if (this.#lineNumbers.has(id))
      this.#addFault(section.number, `there is a scene or ending ${id} already; rename one`);
    this.#lineNumbers.set(id, section.number);
  }

  #readScene(section: Section, id: string, title: string): Scene {
    this.#registerId(section, id, title);
    const [head, ...parts] = sectionsOf(section.lines, '### ');
    const { fields, steps } = this.#readFields(head?.lines ?? [], ['place', 'hour', 'needs', 'then']);
    const scene: Scene = {
      id,
      title,
      place: fields.get('place')?.text ?? '',
      hour: fields.get('hour')?.text ?? '',
      ...this.#parseNeeds(fields.get('needs')?.text),
      steps: this.#checkSteps(section, steps, 160),
      replies: [],
      meanwhile: [],
    };
    if (!scene.place) this.#addFault(section.number, 'write "place: " and where the scene is below its heading');
    if (!(hours as readonly string[]).includes(scene.hour)) {
      this.#addFault(section.number, `write "hour: " and one of ${hours.join(', ')} below the heading`);
    }
    const onward = fields.get('then');
    if (onward) {
      const [, after, to] = /^after (\d+) → ([a-z0-9-]+)$/.exec(onward.text) ?? [];
      if (after && to) scene.onward = { after: Number(after), to };
      else this.#addFault(onward.number, 'write "then: after 8 → id"');
    }
    for (const part of parts) {
      if (part.heading === 'Replies') scene.replies = this.#readReplies(part);
      else if (part.heading === 'Meanwhile') scene.meanwhile = this.#readSentences(part);
      else this.#addFault(part.number, `"### ${part.heading}" is no part of a scene; write Replies or Meanwhile`);
    }
    if (scene.replies.length < 2) this.#addFault(section.number, 'offer at least 2 replies below "### Replies"');
    if (scene.meanwhile.length < 2) this.#addFault(section.number, 'write at least 2 sentences below "### Meanwhile"');
    return scene;
  }

  #readEnding(section: Section, id: string, title: string): Finale {
    this.#registerId(section, id, title);
    const { fields, steps } = this.#readFields(section.lines, ['needs']);
    return { id, title, ...this.#parseNeeds(fields.get('needs')?.text), steps: this.#checkSteps(section, steps, 400) };
  }

  #readFields(lines: NumberedLine[], names: string[]) {
    const fields = new Map<string, Paragraph>();
    let start = 0;
    for (const { text, number } of lines) {
      const [, name = '', value = ''] = /^([a-z]+):\s*(.*)$/.exec(text.trim()) ?? [];
      if (!name) break;
      if (names.includes(name)) fields.set(name, { text: value.trim(), number });
      else this.#addFault(number, `there is no field ${name}; write ${names.join(', ')}`);
      start += 1;
    }
    return { fields, steps: paragraphsOf(lines.slice(start)) };
  }

  #parseNeeds(text = ''): Pick<Scene, 'needs' | 'forbids'> {
    const facts = text.split(/[,，、]/).map((fact) => fact.trim());
    return {
      needs: facts.filter((fact) => fact && !fact.startsWith('not ')),
      forbids: facts.filter((fact) => fact.startsWith('not ')).map((fact) => fact.slice('not '.length).trim()),
    };
  }

  #checkSteps(section: Section, steps: Paragraph[], max: number): string[] {
    if (steps.length === 0) this.#addFault(section.number, 'tell what happens in at least one paragraph');
    return steps.map((step) => this.#checkProse(step, max));
  }

  #checkProse({ text, number }: Paragraph, max: number): string {
    if ([...text].length > max) this.#addFault(number, `is longer than ${max} characters; divide it`);
    const count = (mark: string) => text.split(mark).length - 1;
    if (count('*') % 2 === 1) this.#addFault(number, 'has a * without its other one; close *…*');
    if (count('“') !== count('”')) this.#addFault(number, 'has a “ without its ”; close “…”');
    const unknownSlot = text.match(/\{[^}]*\}/g)?.find((slot) => !/^\{(address|name|place|hour)\}$/.test(slot));
    if (unknownSlot)
      this.#addFault(number, `${unknownSlot} is not filled in; use {address}, {name}, {place} or {hour}`);
    return text;
  }

  #readItems(section: Section): Item[] {
    return readItems(section, (line, cure) => this.#addFault(line, cure));
  }

  #checkAnswers(item: Item): string[] {
    return item.answers.map((answer) => this.#checkProse(answer, 240));
  }

  #readReplies(section: Section): Reply[] {
    return this.#readItems(section).map((item) => {
      const { line = item.label, words, to, facts } = headPattern.exec(item.label)?.groups ?? {};
      if (!headPattern.test(item.label))
        this.#addFault(item.number, 'write it like "- line [other words] → scene +fact"');
      this.#lineNumbers.set(`reply ${line.trim()}`, item.number);
      if ([...line].length > 20) this.#addFault(item.number, 'shorten the line to 20 characters');
      return {
        line: line.trim(),
        words: words?.split(/[\s、]+/).filter(Boolean) ?? [],
        ...(to && { to }),
        facts: facts?.match(/[a-z0-9-]+/g) ?? [],
        answers: this.#checkAnswers(item),
      };
    });
  }

  #readSentences(section: Section): string[] {
    return section.lines
      .filter(({ text }) => text.trim() !== '')
      .map(({ text, number }) => {
        if (!text.startsWith('- ')) this.#addFault(number, 'begin the line with "- "');
        return this.#checkProse({ text: text.replace(/^- /, '').trim(), number }, 100);
      });
  }

  #readAnswers(plot: Plot, section: Section): void {
    for (const item of this.#readItems(section)) {
      const meaning = meanings.find((one) => one === item.label);
      if (meaning) plot.byMeaning[meaning] = this.#checkAnswers(item);
      else plot.byWords.push({ words: item.label.split('、').filter(Boolean), answers: this.#checkAnswers(item) });
    }
    for (const meaning of requiredMeanings) {
      if (!plot.byMeaning[meaning]) this.#addFault(section.number, `answer ${meaning}, too`);
    }
  }

  #readMemories(plot: Plot, section: Section): void {
    for (const item of this.#readItems(section)) {
      plot.memories[item.label] = this.#checkAnswers(item)[0] ?? '';
      this.#lineNumbers.set(`memory ${item.label}`, item.number);
    }
  }

  #readLore(plot: Plot, section: Section): void {
    for (const { text, number } of section.lines.filter((line) => line.text.trim() !== '')) {
      const { head, from, words } = lorePattern.exec(text)?.groups ?? {};
      const [subjects = '', aspects = subjects] = head?.trim().split(' ') ?? [];
      if (!words) this.#addFault(number, 'write it like "- 你 年纪、住处 @scene：what the speaker says"');
      else if (from && !this.#lineNumbers.has(from)) this.#addFault(number, `${from}: there is no such scene`);
      plot.lore.push({
        subjects: head?.trim().includes(' ') ? subjects.split('、') : [''],
        aspects: aspects.split('、'),
        ...(from && { from }),
        text: this.#checkProse({ text: words ?? '', number }, 120),
      });
    }
  }

  /** Checks the whole plot: references, facts, cast and the ways through the story. */
  #checkPlot(plot: Plot, cast: string[], firstLine: number): void {
    const { scenes, endings } = plot;
    if (scenes.length === 0) {
      this.#addFault(firstLine, 'write "## Scene id 标题" above the endings');
      return;
    }
    const places = new Map<string, Scene | Finale>([...scenes, ...endings].map((one) => [one.id, one]));
    const lineNumberOf = (id: string) => this.#lineNumbers.get(id) ?? firstLine;
    const waysOf = (scene: Scene): string[] => [
      ...scene.replies.flatMap(({ to }) => to ?? []),
      ...(scene.onward ? [scene.onward.to] : []),
    ];
    for (const scene of scenes) {
      for (const { line, to } of scene.replies) {
        if (to && !places.has(to)) this.#addFault(lineNumberOf(`reply ${line}`), `${to}: there is no such scene`);
      }
      const { onward } = scene;
      if (onward && !places.has(onward.to))
        this.#addFault(lineNumberOf(scene.id), `${onward.to}: there is no such scene`);
      if (waysOf(scene).length === 0) this.#addFault(lineNumberOf(scene.id), 'no reply leads on; give one "→ scene"');
    }
    const facts = new Set(scenes.flatMap(({ replies }) => replies.flatMap((reply) => reply.facts)));
    for (const { id, needs, forbids } of places.values()) {
      for (const fact of [...needs, ...forbids]) {
        if (!facts.has(fact)) this.#addFault(lineNumberOf(id), `needs ${fact}, which no reply sets with +${fact}`);
      }
    }
    for (const fact of Object.keys(plot.memories)) {
      if (!facts.has(fact)) this.#addFault(lineNumberOf(`memory ${fact}`), `no reply sets +${fact}`);
    }
    if (endings.length < 2) this.#addFault(firstLine, 'write at least two "## Ending id 标题"');
    const { reached, stuck } = explore(plot);
    for (const id of places.keys()) if (!reached.has(id)) this.#addFault(lineNumberOf(id), `${id}: cannot be reached`);
    for (const id of stuck)
      this.#addFault(lineNumberOf(id), `${id}: a reader may come here and find no way to an ending`);
    for (const name of cast) {
      if (!plot.byWords.some(({ words }) => words.some((word) => name.includes(word)))) {
        this.#addFault(firstLine, `answer questions about ${name} below "## Answers": "- ${name}"`);
      }
    }
  }
}
