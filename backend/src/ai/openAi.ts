import { setTimeout as sleep } from 'node:timers/promises';
import { isInvisible } from '../http/input.ts';
import { type AnswerPart, causeOf, readAnswer } from './modelAnswer.ts';
import {
  type ChatMessage,
  type Prompts,
  replyMessages,
  SUMMARY_CHARACTERS,
  suggestionMessages,
  summaryMessages,
  type Window,
} from './prompts.ts';
import { SmallText, smallText, suggestionLines } from './smallText.ts';
import { excerptOf, type FaultKind, type Piece, type Storyteller, StorytellerFault } from './storyteller.ts';

export interface ModelSettings {
  /** base URL of an OpenAI-compatible API, with its version and without `/chat/completions` */
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
  /** fields of each request's body: `temperature`, `max_tokens` and the operator's own */
  body: Record<string, unknown>;
  /** how much of a conversation is sent without summarizing it */
  window: Window;
  /** time limit of a call, including its second attempt */
  totalMs: number;
  /** receives the tokens of each call whose endpoint reports them */
  countTokens(tokens: number): void;
}

/** Returns the URL of the chat completions without credentials and query, for logs. */
export function endpointOf({ baseUrl }: Pick<ModelSettings, 'baseUrl'>): string {
  const { origin, pathname } = completionsUrl(baseUrl);
  return `${origin}${pathname}`;
}

function completionsUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  return url;
}

/** Returns a storyteller that uses an OpenAI-compatible `chat/completions` endpoint. */
export function openAiStoryteller(settings: ModelSettings, prompts: Prompts): Storyteller {
  const { window } = settings;
  /** Whether the latest answer began with reasoning that had no opening tag. */
  let hasUnmarkedReasoning = false;

  async function* streamReply(messages: ChatMessage[], formerText: string, signal: AbortSignal): AsyncIterable<Piece> {
    const converter = new SmallText(hasUnmarkedReasoning);
    let emittedText = '';
    const toPiece = (text: string): Piece => {
      const isFirst = emittedText === '' && text !== '';
      emittedText += text;
      return { text: isFirst ? `${gapBetween(formerText, text)}${text}` : text };
    };
    try {
      for await (const received of callModel(settings, { messages, stream: true }, signal)) {
        const { text, restart } = converter.add(received);
        hasUnmarkedReasoning ||= converter.hasUnmarkedReasoning;
        if (restart) {
          if (emittedText) yield { restart: true };
          emittedText = '';
        }
        yield toPiece(text);
        if (converter.isOver) break;
      }
    } catch (error) {
      yield toPiece(converter.end(false));
      // the reply was whole before the reader's turn, with which the model went on
      if (converter.isPastLabel && emittedText && error instanceof StorytellerFault) return;
      const isCutThought = error instanceof StorytellerFault && error.kind === 'length' && emittedText === '';
      throw isCutThought ? emptyAnswer('only thoughts') : error;
    }
    hasUnmarkedReasoning = converter.hasUnmarkedReasoning;
    yield toPiece(converter.end());
    if (emittedText === '') throw emptyAnswer('no visible text');
    if (converter.endsWithCall) throw new StorytellerFault('cut', 200, 'a call of a tool');
  }

  async function completeText(messages: ChatMessage[], signal: AbortSignal): Promise<string> {
    let text = '';
    for await (const received of callModel(settings, { messages, stream: false }, signal)) text += received;
    return text;
  }

  return {
    generate: (context, { signal }) => {
      const formerText = context.isContinuation ? (context.history.at(-1)?.text ?? '') : '';
      return streamReply(replyMessages(prompts, context, window), formerText, signal);
    },
    async suggest(context, count, { signal }) {
      const answer = await completeText(suggestionMessages(prompts, context, count, window), signal);
      const lines = suggestionLines(answer, count, context.formerSuggestions);
      if (lines.length < count) throw emptyAnswer(`not ${count} suggestions: ${excerptOf(answer)}`);
      return lines;
    },
    async summarize(context, lines, { signal }) {
      const text = smallText(await completeText(summaryMessages(prompts, context, lines), signal), false);
      if (isInvisible(text)) throw emptyAnswer('no visible text');
      return [...text].slice(0, 2 * SUMMARY_CHARACTERS).join('');
    },
    async check({ signal }) {
      const startedAt = performance.now();
      let text = '';
      for await (const piece of streamReply([{ role: 'user', content: '请用一句话打个招呼。' }], '', signal))
        text = 'restart' in piece ? '' : text + ('text' in piece ? piece.text : '');
      const ms = Math.round(performance.now() - startedAt);
      return `${settings.model} at ${endpointOf(settings)} answered in ${ms} ms: ${excerptOf(text)}`;
    },
  };
}

/** The fault of an answer that has status 200 and no usable text. */
const emptyAnswer = (excerpt: string) => new StorytellerFault('empty', 200, excerpt);

/** A deed or a speech after a complete sentence starts a new paragraph. */
const gapBetween = (formerText: string, text: string): string =>
  /[。！？…!?.”」*]$/.test(formerText) && /^[*“「]/.test(text) ? '\n\n' : '';

/** Delay before the second attempt, if the response has no `Retry-After`. */
const PAUSE_MS = 1_000;
/** Interval of the empty parts that keep the time limit for silence from firing during a wait. */
const KEEP_ALIVE_MS = 1_000;

const keepAlivePart: AnswerPart = { text: '', tokens: null };

/** Statuses of a rate limit or of an overloaded model. */
const busyStatuses = new Set([429, 503, 529]);

/** Yields the text of an answer, and counts its tokens. Faults contain an excerpt of what was received, without the API key. */
async function* callModel(settings: ModelSettings, request: object, signal: AbortSignal): AsyncIterable<string> {
  let totalTokens: number | null = null;
  try {
    for await (const { text, tokens } of requestAnswer(settings, request, signal)) {
      // an endpoint may report the sum so far with each piece
      totalTokens = tokens ?? totalTokens;
      yield text;
    }
  } catch (error) {
    if (!(error instanceof StorytellerFault)) throw error;
    const { kind, status, excerpt } = error;
    const { apiKey } = settings;
    throw new StorytellerFault(kind, status, excerptOf(apiKey ? excerpt.replaceAll(apiKey, '…') : excerpt));
  } finally {
    if (totalTokens !== null) settings.countTokens(totalTokens);
  }
}

/**
 * Requests an answer. Repeats the request once if the endpoint is busy, has failed or has closed an idle connection, and the time
 * limit allows it.
 */
async function* requestAnswer(
  settings: ModelSettings,
  request: object,
  signal: AbortSignal,
): AsyncIterable<AnswerPart> {
  const endsAt = performance.now() + settings.totalMs;
  const first = await sendRequest(settings, request, signal).catch(nullIfClosed);
  if (first?.ok) return yield* readAnswer(first);
  const waitMs = first ? (retryAfterMs(first.headers.get('retry-after')) ?? PAUSE_MS) : 0;
  const isTemporary = !first || first.status >= 500 || busyStatuses.has(first.status);
  if (first && (!isTemporary || performance.now() + waitMs >= endsAt)) throw await refusal(first);
  first?.body?.cancel().catch(() => {});
  for (let remainingMs = waitMs; remainingMs > 0; remainingMs -= KEEP_ALIVE_MS) {
    await sleep(Math.min(remainingMs, KEEP_ALIVE_MS), undefined, { signal });
    yield keepAlivePart;
  }
  const second = await sendRequest(settings, request, signal);
  if (!second.ok) throw await refusal(second);
  yield* readAnswer(second);
}

/** Returns null for a connection that was closed before the answer began. Throws any other error. */
function nullIfClosed(error: unknown): null {
  if (error instanceof StorytellerFault && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(error.excerpt)) return null;
  throw error;
}

/** Parses `Retry-After`, in seconds or as a date; null for anything else. Of several headers, the longest counts. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  const seconds = header.split(',').map((part) => part.trim());
  if (seconds.every((part) => /^\d+(\.\d+)?$/.test(part))) return Math.max(...seconds.map(Number)) * 1000;
  const time = Date.parse(header);
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}

/** Redirects that keep method and body. Any other is refused, since it would turn the POST into a GET. */
const bodyKeepingStatuses = new Set([307, 308]);

/** Sends the request and follows one redirect. The API key is not sent to another host, nor from HTTPS to HTTP. */
async function sendRequest(
  { baseUrl, apiKey, model, body }: ModelSettings,
  request: object,
  signal: AbortSignal,
): Promise<Response> {
  const authorization: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
  const post = (url: URL, headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ model, ...request, ...body }),
      redirect: 'manual',
      signal,
    });
  const url = completionsUrl(baseUrl);
  try {
    const response = await post(url, authorization);
    const location = response.headers.get('location');
    if (!bodyKeepingStatuses.has(response.status) || !location || !URL.canParse(location, url.href)) return response;
    response.body?.cancel().catch(() => {});
    const redirectUrl = new URL(location, url);
    const mayKnowKey =
      redirectUrl.hostname === url.hostname && (redirectUrl.protocol === 'https:' || url.protocol === 'http:');
    return await post(redirectUrl, mayKnowKey ? authorization : {});
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new StorytellerFault('unreachable', null, causeOf(error));
  }
}

const REFUSAL_BYTES = 4_096;
const REFUSAL_MS = 500;

/** Builds the fault of a failed response. Its body is read up to a limit. */
async function refusal(response: Response): Promise<StorytellerFault> {
  const { status, headers } = response;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const timeout = sleep(REFUSAL_MS, { done: true as const, value: undefined }, { ref: false });
  let responseText = headers.get('location') ? `to ${headers.get('location')} ` : '';
  try {
    while (reader && responseText.length < REFUSAL_BYTES) {
      const chunk = await Promise.race([reader.read(), timeout]);
      if (chunk.done) break;
      responseText += decoder.decode(chunk.value, { stream: true });
    }
  } catch {
    // the part that was read is enough for an excerpt
  } finally {
    reader?.cancel().catch(() => {});
  }
  return new StorytellerFault(kindOf(status, responseText), status, responseText);
}

function kindOf(status: number, responseText: string): FaultKind {
  if (status === 400 && /content.?filter|data.?inspection|sensitive|moderation/i.test(responseText)) return 'filtered';
  if (busyStatuses.has(status)) return 'busy';
  return status >= 500 ? 'failed' : 'refused';
}
