import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Voice } from '../content/content.ts';
import type { Finale, Plot, Scene } from '../content/plot.ts';
import { ConfigError } from '../env.ts';
import { isInvisible } from '../http/input.ts';
import { isPassing } from './lore.ts';
import { SUGGESTION_CHARACTERS } from './smallText.ts';
import type { Line, StoryContext } from './storyteller.ts';

const defaultFolder = fileURLToPath(new URL('../../prompts', import.meta.url));

/** Placeholders, written `{{…}}`, that each file may contain. */
const placeholders = {
  story: ['title', 'summary', 'cast', 'voice', 'opening', 'plot', 'lore', 'reader', 'persona', 'so_far'],
  reply: [],
  continue: [],
  retell: ['drafts'],
  suggest: ['count', 'characters', 'offered'],
  summary: ['reader', 'characters', 'so_far', 'lines'],
} as const;

type PromptName = keyof typeof placeholders;
export type Prompts = Record<PromptName, string>;

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** Reads the prompt files. The operator's folder needs only the files that differ. Throws `ConfigError`. */
export function loadPrompts(folder: string | undefined): Prompts {
  if (folder && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new ConfigError(`AI_PROMPTS_DIR: there is no folder ${folder}`);
  const read = (name: PromptName) => {
    const ownPath = folder && join(folder, `${name}.md`);
    const path = ownPath && existsSync(ownPath) ? ownPath : join(defaultFolder, `${name}.md`);
    const text = readText(path).replaceAll('\r\n', '\n').trim();
    if (text === '') throw new ConfigError(`AI_PROMPTS_DIR: ${path} is empty; write a prompt, or remove the file`);
    const allowed: readonly string[] = placeholders[name];
    for (const [, key = ''] of text.matchAll(/\{\{\s*(.*?)\s*\}\}/g))
      if (!allowed.includes(key))
        throw new ConfigError(`AI_PROMPTS_DIR: ${path} names {{${key}}}; ${cureFor(allowed)}`);
    return text;
  };
  const names = Object.keys(placeholders) as PromptName[];
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Prompts;
}

/** Reads a file without its byte order mark. Throws `ConfigError` for other files than texts in UTF-8. */
function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const cause = (error as Error).message;
    throw new ConfigError(`AI_PROMPTS_DIR: ${path} cannot be read (${cause}); make it a text in UTF-8, or remove it`);
  }
}

const cureFor = (allowed: readonly string[]): string =>
  allowed.length > 0 ? `it may name ${allowed.map((key) => `{{${key}}}`).join(', ')}` : 'it may name nothing';

/** Replaces the placeholders of a prompt. A paragraph whose values are all empty is left out. */
function fill(prompt: string, values: Record<string, string> = {}): string {
  const paragraphs = prompt.split(/\n{2,}/).flatMap((paragraph) => {
    const keys = [...paragraph.matchAll(/\{\{\s*(.*?)\s*\}\}/g)].map(([, key = '']) => key);
    if (keys.length > 0 && keys.every((key) => !values[key])) return [];
    return paragraph.replace(/\{\{\s*(.*?)\s*\}\}/g, (_, key: string) => values[key] ?? '');
  });
  return paragraphs.join('\n\n');
}

/** The most lines and characters of a conversation that a model receives verbatim. Older lines are in the summary. */
export interface Window {
  lines: number;
  characters: number;
}

/** Limits short lines, too, so that many of them do not hide what matters. */
export const WINDOW_LINES = 40;

/** Returns how many of the latest lines fit into the window. The last line always counts. */
export function countFitting(lines: Line[], { lines: maxLines, characters }: Window): number {
  let remainingCharacters = characters;
  let count = 0;
  for (const { text } of lines.slice(-maxLines).reverse()) {
    remainingCharacters -= text.length;
    if (remainingCharacters < 0 && count > 0) break;
    count += 1;
  }
  return count;
}

/** Merges turns: many models refuse two turns of one role in a row, a first turn of the assistant, and blank turns. */
function mergeTurns(lines: ChatMessage[]): ChatMessage[] {
  const turns: ChatMessage[] = [];
  for (const { role, content } of lines) {
    const last = turns.at(-1);
    if (isInvisible(content) || (!last && role === 'assistant')) continue;
    if (last?.role === role) last.content += `\n\n${content}`;
    else turns.push({ role, content });
  }
  return turns;
}

const toBullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

/** Describes the speaker, with samples of their answers. */
function voiceOf({ speaker, address }: Voice, plot: Plot | undefined): string {
  const answers = plot?.scenes.flatMap(({ replies }) => replies.flatMap((reply) => reply.answers.slice(0, 1))) ?? [];
  const samples = answers.slice(0, VOICE_SAMPLES).map(oneLine);
  return [`主要由${speaker}回应读者，称读者为“${address}”。`, toBullets(samples)].filter(Boolean).join('\n');
}

const VOICE_SAMPLES = 3;

/** Lists the scenes in their written order, then the endings. */
function plotOf({ scenes, endings }: Plot): string {
  const scene = ({ title, place, hour, steps }: Scene) =>
    `${title}（${[place, hour].filter(Boolean).join('，')}）：${steps.join('')}`;
  const ending = ({ title, steps }: Finale) => `结局之一，${title}：${steps.join('')}`;
  return toBullets([...scenes.map(scene), ...endings.map(ending)].map(oneLine));
}

/** Lists what the speaker says about the story's facts. Leaves out what changes from scene to scene. */
function loreOf({ lore, scenes }: Plot, speaker: string): string {
  const titles = new Map(scenes.map(({ id, title }) => [id, title]));
  const names: Record<string, string> = { 你: speaker, 我: '读者', '': '此处' };
  const lastingLore = lore.filter(({ aspects }) => !aspects.some(isPassing));
  const facts = lastingLore.map(({ subjects: [subject = ''], aspects: [aspect = ''], from, text }) => {
    const scene = from ? `（自“${titles.get(from)}”起）` : '';
    return `${names[subject] ?? subject}，${aspect}${scene}：${text}`;
  });
  return toBullets(facts);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function storyPrompt({ story: template }: Prompts, { story, reader, summary }: StoryContext): string {
  const { voice, plot } = story;
  const withAddress = (text: string) => text.replaceAll('{address}', voice?.address ?? '你');
  return fill(template, {
    title: story.title,
    summary: story.summary,
    cast: toBullets(story.characters.map(({ name, intro }) => `${name}：${intro}`)),
    voice: withAddress(voice ? voiceOf(voice, plot) : ''),
    opening: story.opening,
    plot: withAddress(plot ? plotOf(plot) : ''),
    lore: withAddress(plot && voice ? loreOf(plot, voice.speaker) : ''),
    reader: reader.name,
    persona: reader.persona.trim(),
    so_far: summary ?? '',
  });
}

/** Returns the system prompt, the latest lines and the current task. */
function conversation(system: string, context: StoryContext, window: Window, task: string): ChatMessage[] {
  const latestLines = context.history.slice(-countFitting(context.history, window));
  const turns: ChatMessage[] = latestLines.map(({ role, text }) => ({ role, content: text }));
  return [{ role: 'system', content: system }, ...mergeTurns([...turns, { role: 'user', content: task }])];
}

export function replyMessages(prompts: Prompts, context: StoryContext, window: Window): ChatMessage[] {
  const system = `${storyPrompt(prompts, context)}\n\n${prompts.reply}`;
  const drafts = context.formerTexts.join('\n\n——\n\n');
  const task = context.isContinuation ? prompts.continue : drafts && fill(prompts.retell, { drafts });
  return conversation(system, context, window, task);
}

export function suggestionMessages(
  prompts: Prompts,
  context: StoryContext,
  count: number,
  window: Window,
): ChatMessage[] {
  const values = {
    count: String(count),
    characters: String(SUGGESTION_CHARACTERS),
    offered: toBullets(context.formerSuggestions),
  };
  return conversation(storyPrompt(prompts, context), context, window, fill(prompts.suggest, values));
}

/** Length limit of a summary, as the prompt states it. */
export const SUMMARY_CHARACTERS = 600;

export function summaryMessages(prompts: Prompts, { reader, summary }: StoryContext, lines: Line[]): ChatMessage[] {
  const transcript = lines.map(({ role, text }) => `${role === 'user' ? reader.name : '故事'}：${text}`);
  const values = {
    reader: reader.name,
    characters: String(SUMMARY_CHARACTERS),
    so_far: summary ?? '',
    lines: transcript.join('\n\n'),
  };
  return [{ role: 'user', content: fill(prompts.summary, values) }];
}
