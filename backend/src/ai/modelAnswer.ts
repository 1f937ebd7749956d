import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { StorytellerFault } from './storyteller.ts';

/** What an endpoint says in one read. Empty text is a sign of life, such as a comment or a piece of reasoning. */
export interface AnswerPart {
  text: string;
  tokens: number | null;
}

/** A story's reply has a hundredth of it; an answer beyond is no answer. */
const answerBytes = 16 * 1024 * 1024;

/** After its finish reason an endpoint may still report usage; one that stays silent has ended. */
const afterFinishMs = 1_000;

const excerptCharacters = 200;

/** One line for a log. */
export const excerptOf = (text: string): string =>
  text.slice(0, 2_000).replace(/\s+/g, ' ').trim().slice(0, excerptCharacters);

/**
 * Reads a chat completion, streamed or not, in whichever of the two forms it comes. Ends once the answer is whole; throws
 * StorytellerFault where it breaks off, is filtered, or is cut by its length.
 */
export async function* readAnswer(response: Response): AsyncIterable<AnswerPart> {
  const answer = new Answer(response.status);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    while (reader && !answer.isDone) {
      const read = await next(reader, answer);
      if (read.done) break;
      bytes += read.value.byteLength;
      if (bytes > answerBytes) throw answer.fault('cut', `more than ${answerBytes} bytes`);
      answer.feed(decoder.decode(read.value, { stream: true }));
      yield answer.take();
    }
    answer.end(decoder.decode());
    yield answer.take();
    answer.check();
  } finally {
    reader?.cancel().catch(() => {});
  }
}

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/** The next bytes. A finished answer ends with the connection, whichever way that goes. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>, answer: Answer): Promise<Read> {
  const end: Read = { done: true, value: undefined };
  try {
    if (!answer.isFinished) return await reader.read();
    return await Promise.race([reader.read(), sleep(afterFinishMs, end, { ref: false })]);
  } catch (error) {
    if (answer.isFinished) return end;
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw answer.fault('cut', causeOf(error));
  }
}

/** Node's fetch says only that it failed; the cause has the reason. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
}

/** Reasons by which endpoints say that the text is whole. Others end it too early. */
const wholeReasons = new Set(
  'stop eos eos_token end_turn stop_sequence complete completed done finished tool_calls function_call'.split(' '),
);
const lengthReasons = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);
const filterPattern =
  /content.?filter|content.?policy|data.?inspection|sensitive|safety|moderation|refusal|prohibited/i;

type Json = Record<string, unknown>;

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** Content is a text or a list of parts, of which those of the text count. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const isText = ({ type }: Json) => type === undefined || type === 'text' || type === 'output_text';
  return content
    .map((part) => (typeof part === 'string' ? part : isText(objectOf(part)) ? contentOf(objectOf(part).text) : ''))
    .join('');
}

function tokensOf(usage: unknown): number | null {
  const { total_tokens: total, prompt_tokens: asked, completion_tokens: written } = objectOf(usage);
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0;
  if (isCount(total)) return total;
  return isCount(asked) && isCount(written) ? asked + written : null;
}

/** An error where an answer should be, as endpoints put it; undefined for an answer. */
function errorIn(chunk: Json): unknown {
  if (chunk.error) return chunk.error;
  const isError = chunk.object === 'error' || (!('choices' in chunk) && 'code' in chunk && 'message' in chunk);
  return isError ? chunk : undefined;
}

/** Collects an answer from its bytes. */
class Answer {
  readonly #status: number;
  readonly #parser = createParser({ onEvent: ({ event, data }) => this.#event(event, data) });
  #form: 'unknown' | 'events' | 'json' = 'unknown';
  /** what waits: the beginning while the form is unknown, all of a JSON answer */
  #body = '';
  #text = '';
  #tokens: number | null = null;
  #hasText = false;
  #reason: string | null = null;
  #fault: StorytellerFault | null = null;
  isDone = false;

  constructor(status: number) {
    this.#status = status;
  }

  get isFinished(): boolean {
    return this.isDone || this.#reason !== null;
  }

  feed(text: string): void {
    if (this.#form !== 'events') {
      this.#body += text;
      if (this.#form === 'unknown') this.#recognize();
    } else this.#parser.feed(text);
    if (this.#fault) this.isDone = true;
  }

  /** What has come since the last call. */
  take(): AnswerPart {
    const part = { text: this.#text, tokens: this.#tokens };
    this.#text = '';
    this.#tokens = null;
    return part;
  }

  /** The connection has ended; the last event may lack its blank line. */
  end(rest: string): void {
    if (this.isDone) return;
    this.feed(rest);
    if (this.#form === 'events') this.#parser.feed('\n\n');
    if (this.#form === 'json') this.#whole();
  }

  /** Throws unless the answer is whole. */
  check(): void {
    if (this.#fault) throw this.#fault;
    if (this.#reason === null) {
      if (!this.#hasText) throw this.fault('empty', excerptOf(this.#body));
      throw this.fault('cut', 'ended without a finish reason');
    }
    if (lengthReasons.has(this.#reason)) throw this.fault('length', `finish_reason ${this.#reason}`);
    if (wholeReasons.has(this.#reason)) return;
    throw this.fault(filterPattern.test(this.#reason) ? 'filtered' : 'cut', `finish_reason ${excerptOf(this.#reason)}`);
  }

  fault(kind: StorytellerFault['kind'], excerpt: string): StorytellerFault {
    return new StorytellerFault(kind, this.#status, excerpt);
  }

  /** Told by the first letter, since endpoints and proxies lie about the type. */
  #recognize(): void {
    const [first] = this.#body.trimStart();
    if (!first) return;
    if (first === '<') this.#broken(this.#body);
    this.#form = first === '{' || first === '[' ? 'json' : 'events';
    if (this.#form !== 'events') return;
    this.#parser.feed(this.#body);
  }

  #whole(): void {
    try {
      const answer: unknown = JSON.parse(this.#body);
      this.#chunk(objectOf(Array.isArray(answer) ? answer[0] : answer));
      if (this.#hasText) this.#reason ??= 'stop';
    } catch {
      this.#broken(this.#body);
    }
  }

  #event(name: string | undefined, data: string): void {
    if (this.isDone) return;
    const line = data.trim();
    if (line === '[DONE]') {
      this.isDone = true;
      if (this.#hasText) this.#reason ??= 'stop';
    } else if (name === 'error') this.#broken(line);
    // others, such as a word between events, are signs of life
    else if (/^[{<]/.test(line)) this.#line(line);
  }

  #line(line: string): void {
    try {
      this.#chunk(objectOf(JSON.parse(line)));
    } catch {
      this.#broken(line);
    }
  }

  #chunk(chunk: Json): void {
    const error = errorIn(chunk);
    if (error !== undefined) {
      this.#broken(typeof error === 'string' ? error : JSON.stringify(error));
      return;
    }
    this.#tokens = tokensOf(chunk.usage) ?? this.#tokens;
    const choices = Array.isArray(chunk.choices) ? chunk.choices.map(objectOf) : [];
    const choice = choices.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return;
    const delta = objectOf(choice.delta);
    const message = objectOf(choice.message);
    // some endpoints repeat the whole message at the end
    const text =
      contentOf(delta.content) || contentOf(choice.text) || (this.#hasText ? '' : contentOf(message.content));
    this.#text += text;
    this.#hasText ||= text !== '';
    const reason = typeof choice.finish_reason === 'string' ? choice.finish_reason.trim().toLowerCase() : '';
    if (reason && reason !== 'null') this.#reason = reason;
    if (delta.refusal || message.refusal) this.#reason = 'refusal';
  }

  /** What follows a finished answer cannot spoil it. */
  #broken(data: string): void {
    if (this.#reason !== null) return;
    const kind = this.#hasText ? 'cut' : 'failed';
    this.#fault ??= this.fault(filterPattern.test(data) ? 'filtered' : kind, excerptOf(data));
  }
}
