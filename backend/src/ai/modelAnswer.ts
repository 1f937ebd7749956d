import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { ReceivedText } from './receivedText.ts';
import { SOURCE_CHARACTERS, StorytellerFault } from './storyteller.ts';

/** Result of one read. Empty text means that the endpoint is alive: it sent a comment or a piece of reasoning. */
export interface AnswerPart {
  text: string;
  tokens: number | null;
}

/** About a hundred times the size of a story's reply. A longer answer is refused. */
const ANSWER_BYTES = 16 * 1024 * 1024;

/** Time for a usage report after the finish reason. Then the answer has ended, even if the connection stays open. */
const AFTER_FINISH_MS = 1_000;

/**
 * Reads a chat completion, streamed or not, and detects which of the two it is. Ends once the answer is complete.
 * Throws `StorytellerFault` if it breaks off, is filtered, or reaches the length limit.
 */
export async function* readAnswer(response: Response): AsyncIterable<AnswerPart> {
  const answer = new AnswerReader(response.status);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    while (reader && !answer.isDone) {
      const chunk = await readNext(reader, answer);
      if (chunk.done) break;
      bytes += chunk.value.byteLength;
      if (bytes > ANSWER_BYTES) throw answer.fault('cut', `more than ${ANSWER_BYTES} bytes`);
      answer.feed(decoder.decode(chunk.value, { stream: true }));
      yield answer.nextPart();
    }
    answer.end(decoder.decode());
    yield answer.nextPart();
    answer.assertComplete();
  } finally {
    reader?.cancel().catch(() => {});
  }
}

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/** Reads the next bytes. After the finish reason, a connection error counts as the end of the answer. */
async function readNext(reader: ReadableStreamDefaultReader<Uint8Array>, answer: AnswerReader): Promise<Read> {
  const end: Read = { done: true, value: undefined };
  try {
    if (!answer.isFinished) return await reader.read();
    return await Promise.race([reader.read(), sleep(AFTER_FINISH_MS, end, { ref: false })]);
  } catch (error) {
    if (answer.isFinished) return end;
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw answer.fault('cut', causeOf(error));
  }
}

/** Returns the code or message of an error's `cause`, if it has one: the message of `fetch` is only "fetch failed". */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause: NodeJS.ErrnoException = error.cause instanceof Error ? error.cause : error;
  return cause.code || cause.message || error.message;
}

/** Finish reasons of a complete text. Any other reason means that it ended too early, for example with a call of a tool. */
const completeReasons = new Set(
  'stop eos eos_token end end_turn end_of_turn stop_sequence complete completed done finished'.split(' '),
);
const lengthPattern = /length|max_(?:\w+_)?tokens|token_limit/;
const filterPattern =
  /content.?filter|content.?policy|data.?inspection|sensitive|safety|moderation|refusal|prohibited|block(?:ed|list)|censor|risk.?control|recitation/i;

type JsonFields = Record<string, unknown>;

const objectOf = (value: unknown): JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonFields) : {};

/**
 * Content is a string, an object that contains one, or a list of such parts. Only text parts count. A gateway that converts
 * numeric strings sends a piece such as `3` as a number.
 */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (typeof content === 'number') return String(content);
  if (Array.isArray(content)) return content.map(contentOf).join('');
  const { type, thought, text, value, parts } = objectOf(content);
  if (thought === true || (type !== undefined && !textTypes.has(type))) return '';
  return contentOf(text ?? value ?? parts ?? '');
}

const textTypes = new Set<unknown>(['text', 'text_delta', 'output_text']);

function messageTextOf(message: unknown): string {
  if (typeof message === 'string') return message;
  const { content, thought, extra_content } = objectOf(message);
  const isThought = thought === true || objectOf(objectOf(extra_content).google).thought === true;
  return isThought ? '' : contentOf(content);
}

/** Returns the finish reason in lower case, without the prefix `finish_reason_`. Empty if there is no reason. */
function reasonOf({ finish_reason, finishReason, stop_reason }: JsonFields): string {
  const rawReason = [finish_reason, finishReason, stop_reason].find((reason) => reason);
  const reason = typeof rawReason === 'string' ? rawReason : objectOf(rawReason).type;
  if (typeof reason !== 'string') return '';
  const normalizedReason = reason
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/^finish_reason_/, '');
  return /^(?:null|none|unspecified)$/.test(normalizedReason) ? '' : normalizedReason;
}

/** Returns `refusal` or `tool_calls` if a message has one of the two. Its finish reason may be `stop`. */
function interruptionOf(message: unknown): string | undefined {
  const { content, refusal, tool_calls, function_call } = objectOf(message);
  if (refusal || [content].flat().some((part) => objectOf(part).type === 'refusal')) return 'refusal';
  return function_call || [tool_calls].flat().some(Boolean) ? 'tool_calls' : undefined;
}

function tokensOf(usage: unknown): number | null {
  const { total_tokens: total, prompt_tokens: prompt, completion_tokens: completion } = objectOf(usage);
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0;
  if (isCount(total)) return total;
  return isCount(prompt) && isCount(completion) ? prompt + completion : null;
}

/** Returns the error that an endpoint sent with status 200, in any of the known forms; undefined for an answer. */
function findError(chunk: JsonFields): unknown {
  const { error, errors, error_code, success, base_resp, code } = chunk;
  const namedError = [error, errors].find((each) =>
    typeof each === 'object' && each ? Object.keys(each).length > 0 : each,
  );
  if (namedError) return namedError;
  const codes = [error_code, objectOf(base_resp).status_code, 'choices' in chunk ? 0 : code];
  const isError = chunk.object === 'error' || success === false || !codes.every((each) => successCodes.has(each));
  return isError ? chunk : undefined;
}

const successCodes = new Set<unknown>([undefined, null, '', 0, '0', 200, '200']);

/** A proxy may send comments before any form of answer, to keep the connection open. */
const leadingComments = /^(?:\s*:.*(?:[\r\n]|$))*\s*/;

const doneLine = /^"?\[?DONE\]?"?$/i;
const doneEvent = /^(?:done|end|completed?|message_stop)$/i;

class AnswerReader {
  readonly #parser = createParser({ onEvent: ({ event, data }) => this.#readEvent(event, data) });
  #form: 'unknown' | 'events' | 'json' = 'unknown';
  /** unparsed text: the beginning while the form is unknown, later all of a JSON answer */
  #body = '';
  readonly #receivedText = new ReceivedText();
  #pendingText = '';
  #tokens: number | null = null;
  #hasText = false;
  #reason: string | null = null;
  /** Whether a reason came with the first text: some endpoints send one with each piece. */
  #hasReasonPerPiece = false;
  /** Whether the text has ended. Later text belongs to no reply. */
  #hasFinalReason = false;
  #fault: StorytellerFault | null = null;
  isDone = false;

  constructor(private readonly status: number) {}

  get isFinished(): boolean {
    return this.isDone || this.#hasFinalReason;
  }

  feed(bytes: string): void {
    // a proxy may insert a byte order mark before any packet
    const text = bytes.replaceAll('\uFEFF', '');
    if (this.#form !== 'events') {
      this.#body += text;
      if (this.#form === 'unknown') this.#detectForm();
    } else this.#parser.feed(text);
    if (this.#fault) this.isDone = true;
  }

  /** Returns what was received since the last call. */
  nextPart(): AnswerPart {
    const part = { text: this.#pendingText, tokens: this.#tokens };
    this.#pendingText = '';
    this.#tokens = null;
    return part;
  }

  /** Parses the rest after the connection has ended. The last event may lack its blank line. */
  end(rest: string): void {
    if (!this.isDone) {
      this.feed(rest);
      if (this.#form === 'events') this.#parser.feed('\n\n');
      if (this.#form === 'json') this.#readWholeBody();
    }
    this.#pendingText += this.#receivedText.end();
  }

  /** Throws `StorytellerFault` unless the answer is complete. */
  assertComplete(): void {
    if (this.#fault) throw this.#fault;
    if (this.#reason === null) {
      if (!this.#hasText) throw this.fault('empty', this.#body);
      throw this.fault('cut', 'ended without a finish reason');
    }
    if (this.#receivedText.isGarbled) throw this.fault('cut', 'broken characters');
    if (completeReasons.has(this.#reason)) return;
    if (lengthPattern.test(this.#reason)) throw this.fault('length', `finish_reason ${this.#reason}`);
    throw this.fault(filterPattern.test(this.#reason) ? 'filtered' : 'cut', `finish_reason ${this.#reason}`);
  }

  fault(kind: StorytellerFault['kind'], excerpt: string): StorytellerFault {
    return new StorytellerFault(kind, this.status, excerpt.slice(0, SOURCE_CHARACTERS));
  }

  /** Detects the form by the first character, since endpoints and proxies send wrong content types. */
  #detectForm(): void {
    const start = this.#body.replace(leadingComments, '');
    const [first] = start;
    if (!first) return;
    if (first === '<') this.#recordFault(start);
    this.#form = first === '{' || first === '[' ? 'json' : 'events';
    if (this.#form === 'events') this.#parser.feed(start);
    else this.#body = start;
  }

  #readWholeBody(): void {
    const isOneAnswer = this.#readChunks(this.#body);
    if (this.#hasText && isOneAnswer) this.#reason ??= 'stop';
  }

  #readEvent(name: string | undefined, data: string): void {
    if (this.isDone) return;
    const line = data.trim();
    if (doneLine.test(line) || (name && doneEvent.test(name))) {
      this.isDone = true;
      if (this.#hasText) this.#reason ??= 'stop';
    } else if (name === 'error') this.#recordFault(line);
    // other lines, for example text between events, only show that the endpoint is alive
    else if (/^[{<]/.test(line)) this.#readChunks(line);
  }

  /** Accepts a chunk, a list of chunks, or a chunk on each line. Returns whether the data was one JSON text. */
  #readChunks(data: string): boolean {
    let parsed: unknown;
    try {
      parsed = JSON.parse(data);
    } catch {
      const lines = data.split(/[\r\n]+/);
      if (lines.length === 1) this.#recordFault(data);
      else for (const line of lines) this.#readEvent(undefined, line.replace(/^data:/, ''));
      return false;
    }
    for (const chunk of [parsed].flat()) this.#readChunk(objectOf(chunk));
    return true;
  }

  #readChunk(chunk: JsonFields): void {
    const error = findError(chunk);
    if (error !== undefined) {
      this.#recordFault(typeof error === 'string' ? error : JSON.stringify(error));
      return;
    }
    this.#tokens = tokensOf(chunk.usage) ?? this.#tokens;
    const choices = [chunk.choices].flat().map(objectOf);
    const choice = choices.find(({ index }) => Number(index ?? 0) === 0);
    if (!choice) return;
    const isOver = this.#hasFinalReason && !this.#hasReasonPerPiece;
    // some endpoints repeat the complete message at the end
    const text = isOver
      ? ''
      : messageTextOf(choice.delta) || contentOf(choice.text) || (this.#hasText ? '' : messageTextOf(choice.message));
    this.#pendingText += this.#receivedText.add(text);
    const reason = [choice.delta, choice.message].map(interruptionOf).find(Boolean) ?? reasonOf(choice);
    this.#hasReasonPerPiece ||= !this.#hasText && text !== '' && reason !== '';
    this.#hasText ||= text !== '';
    // a later reason must not hide an incomplete text
    if (reason && (this.#reason === null || completeReasons.has(this.#reason))) this.#reason = reason;
    const hasEnded = this.#hasText && (reason !== '' || this.#hasFinalReason);
    this.#hasFinalReason = hasEnded && !(this.#hasReasonPerPiece && text !== '');
  }

  /** Records a failure. Data after the end of the text is ignored. */
  #recordFault(data: string): void {
    if (this.isFinished) return;
    const kind = this.#hasText ? 'cut' : 'failed';
    this.#fault ??= this.fault(filterPattern.test(data) ? 'filtered' : kind, data);
  }
}
