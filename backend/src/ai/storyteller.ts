import * as v from 'valibot';
import type { Story } from '../stories.ts';
import type { Progress } from './progress.ts';

/** One line of what was said so far. */
export interface Line {
  role: 'user' | 'assistant';
  text: string;
}

export interface StoryContext {
  story: Story;
  reader: { name: string; persona: string };
  /** The latest lines, oldest first; ends with the reader's line, or with the reply that is to be continued. */
  history: Line[];
  /** What was told in this place before and is to be told another way, oldest first. */
  retold: string[];
  /** Whether the last line is to be carried on instead of answered. */
  continuing: boolean;
  /** What was suggested to the reader in this conversation of late, oldest first. */
  offered: string[];
  /** 1 for the reader's first line. */
  turn: number;
  /** How far the plot is: before the reply that is written, or where a suggestion is wanted. */
  progress: Progress;
  /** 0 for the first text of a reply; each 换一种说法 is one more. */
  telling: number;
  /** Same seed, same text. */
  seed: string;
}

export type Piece = { text: string } | { usage: { totalTokens: number } };

/** Whoever writes the story's side of the conversation. */
export interface Storyteller {
  /** Throws, or ends early, when the text cannot be written; stops when the signal aborts. */
  generate(context: StoryContext, options: { signal: AbortSignal }): AsyncIterable<Piece>;
  /** Short first-person suggestions of what the reader could say next. */
  suggest(context: StoryContext, count: number, options: { signal: AbortSignal }): Promise<string[]>;
}

/** What the storyteller took too long for. */
export class StorytellerTimeout extends Error {}

/**
 * Passes pieces on, but throws when the next one takes longer than `idleMs`, the whole longer than `totalMs`,
 * or the signal aborts; a source that hangs is left behind.
 */
export async function* withDeadlines<Item>(
  source: (signal: AbortSignal) => AsyncIterable<Item>,
  limits: { idleMs: number; totalMs: number; signal: AbortSignal },
): AsyncIterable<Item> {
  const own = new AbortController();
  const signal = AbortSignal.any([limits.signal, own.signal]);
  const endsAt = Date.now() + limits.totalMs;
  const iterator = source(signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const waitMs = Math.min(limits.idleMs, endsAt - Date.now());
      const result = await within(iterator.next(), waitMs, limits.signal);
      if (result.done) return;
      yield result.value;
    }
  } finally {
    own.abort();
  }
}

/** Settles like the promise, unless the time runs out or the signal aborts first. */
export async function within<Result>(promise: Promise<Result>, waitMs: number, signal: AbortSignal): Promise<Result> {
  const settled = new AbortController();
  const interruption = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new StorytellerTimeout('the storyteller fell silent')), Math.max(0, waitMs));
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { signal: settled.signal });
    settled.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  try {
    return await Promise.race([promise, interruption]);
  } finally {
    settled.abort();
  }
}

interface OpenAiSettings {
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
}

interface ChatLine {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

const chunkSchema = v.object({
  choices: v.optional(v.array(v.object({ delta: v.nullish(v.object({ content: v.nullish(v.string()) })) })), []),
  usage: v.nullish(v.object({ total_tokens: v.pipe(v.number(), v.finite()) })),
});
const answerSchema = v.object({
  choices: v.pipe(v.array(v.object({ message: v.object({ content: v.string() }) })), v.minLength(1)),
});

/** A storyteller behind an OpenAI-compatible `chat/completions` endpoint. */
export function openAiStoryteller(settings: OpenAiSettings): Storyteller {
  return {
    async *generate(context, { signal }): AsyncIterable<Piece> {
      const stream = { stream: true, stream_options: { include_usage: true } };
      const response = await ask(settings, { messages: replyPrompt(context), ...stream }, signal);
      if (!response.body) throw new Error('the model answered without a body');
      for await (const data of serverSentData(response.body)) {
        const chunk = v.parse(chunkSchema, JSON.parse(data));
        const text = chunk.choices[0]?.delta?.content;
        if (text) yield { text };
        if (chunk.usage) yield { usage: { totalTokens: chunk.usage.total_tokens } };
      }
    },
    async suggest(context, count, { signal }) {
      const response = await ask(settings, { messages: suggestionPrompt(context, count) }, signal);
      const content = v.parse(answerSchema, await response.json()).choices[0]?.message.content ?? '';
      const lines = content.split('\n').map((line) => line.replace(/^[\s\-*•\d.、）)]+/, '').trim());
      return lines.filter(Boolean).slice(0, count);
    },
  };
}

async function ask({ baseUrl, apiKey, model }: OpenAiSettings, body: object, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`${baseUrl.replace(/\/$/, '')}/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}) },
    body: JSON.stringify({ model, ...body }),
    signal,
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
  return response;
}

/** The `data:` lines of an event stream, up to `[DONE]`. */
async function* serverSentData(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
      if (data === '[DONE]') return;
      if (data) yield data;
    }
  }
}

function frame({ story, reader }: StoryContext): string {
  const cast = story.characters.map(({ name, intro }) => `${name}：${intro}`).join('\n');
  return [
    `你在讲《${story.title}》，一个出自《聊斋志异》的互动故事。用文雅的简体中文，以故事人物的口吻回应读者。`,
    `人物：\n${cast}`,
    `开篇：\n${story.opening}`,
    `读者名叫${reader.name}。${reader.persona ? `读者的人设：${reader.persona}` : ''}`,
  ].join('\n\n');
}

/** What a model is given of the conversation, in lines. */
const promptLines = 24;

const linesOf = ({ history }: StoryContext): ChatLine[] => history.slice(-promptLines).map(toChat);

const toChat = ({ role, text }: Line): ChatLine => ({ role, content: text });

function replyPrompt(context: StoryContext): ChatLine[] {
  const form = '动作写在 *星号* 里，对白写在“引号”里，80 到 250 字，结尾留一个让读者接话的由头。不要替读者说话。';
  const messages: ChatLine[] = [{ role: 'system', content: `${frame(context)}\n\n${form}` }, ...linesOf(context)];
  if (context.continuing) messages.push({ role: 'user', content: '（请接着上一段往下写，不要重复。）' });
  if (context.retold.length > 0) messages.push({ role: 'user', content: retell(context.retold) });
  return messages;
}

const retell = (drafts: string[]): string =>
  `（这一段请换一种说法重写，用词和写法都不要与这几稿雷同：）\n\n${drafts.join('\n\n——\n\n')}`;

function suggestionPrompt(context: StoryContext, count: number): ChatLine[] {
  const known = context.offered.length > 0 ? `这些已经给过，请另想：\n${context.offered.join('\n')}` : '';
  const task = `请替读者想 ${count} 句接下来可以说的话：第一人称，每句不超过 20 个字，一行一句，不要编号。${known}`;
  return [{ role: 'system', content: frame(context) }, ...linesOf(context), { role: 'user', content: task }];
}
