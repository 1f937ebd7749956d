import { setTimeout as sleep } from 'node:timers/promises';
import { showsNothing } from '../http/input.ts';
import { type AnswerPart, causeOf, excerptOf, readAnswer } from './modelAnswer.ts';
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
import { type FaultKind, type Piece, type Storyteller, StorytellerFault } from './storyteller.ts';

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
  let thinksUnmarked = false;

  async function* tell(messages: ChatMessage[], former: string, signal: AbortSignal): AsyncIterable<Piece> {
    const small = new SmallText(thinksUnmarked);
    let said = '';
    const give = (text: string): Piece => {
      const isFirst = said === '' && text !== '';
      said += text;
      return { text: isFirst ? `${gapBetween(former, text)}${text}` : text };
    };
    try {
      for await (const part of answering(settings, { messages, stream: true }, signal)) {
        const { text, restart } = small.add(part.text);
        thinksUnmarked ||= small.thinksUnmarked;
        if (restart) {
          if (said) yield { restart: true };
          said = '';
        }
        yield give(text);
        if (part.tokens !== null) yield { usage: { totalTokens: part.tokens } };
      }
    } catch (error) {
      yield give(small.end(false));
      const isCutThought = error instanceof StorytellerFault && error.kind === 'length' && said === '';
      throw isCutThought ? emptied('only thoughts') : error;
    }
    thinksUnmarked = small.thinksUnmarked;
    yield give(small.end());
    if (said === '') throw emptied('no visible text');
  }

  async function whole(messages: ChatMessage[], signal: AbortSignal): Promise<string> {
    let text = '';
    for await (const part of answering(settings, { messages, stream: false }, signal)) text += part.text;
    return text;
  }

  return {
    generate: (context, { signal }) => {
      const former = context.continuing ? (context.history.at(-1)?.text ?? '') : '';
      return tell(replyMessages(prompts, context, window), former, signal);
    },
    async suggest(context, count, { signal }) {
      const answer = await whole(suggestionMessages(prompts, context, count, window), signal);
      const lines = suggestionLines(answer, count, context.offered);
      if (lines.length < count) throw emptied(`not ${count} suggestions: ${excerptOf(answer)}`);
      return lines;
    },
    async summarize(context, lines, { signal }) {
      const text = smallText(await whole(summaryMessages(prompts, context, lines), signal));
      if (showsNothing(text)) throw emptied('no visible text');
      return [...text].slice(0, 2 * SUMMARY_CHARACTERS).join('');
    },
    async check({ signal }) {
      const begun = performance.now();
      let words = '';
      for await (const piece of tell([{ role: 'user', content: '请用一句话打个招呼。' }], '', signal))
        words = 'restart' in piece ? '' : words + ('text' in piece ? piece.text : '');
      const ms = Math.round(performance.now() - begun);
      return `${settings.model} at ${endpointOf(settings)} answered in ${ms} ms: ${excerptOf(words)}`;
    },
  };
}

/** The fault of an answer that has status 200 and no usable text. */
const emptied = (excerpt: string) => new StorytellerFault('empty', 200, excerpt);

/** A deed or a speech after a complete sentence starts a new paragraph. */
const gapBetween = (former: string, text: string): string =>
  /[。！？…!?.”」*]$/.test(former) && /^[*“「]/.test(text) ? '\n\n' : '';

/** Delay before the second attempt, if the response has no `Retry-After`. */
const PAUSE_MS = 1_000;
/** Interval of the empty parts that keep the time limit for silence from firing during a wait. */
const SIGN_MS = 1_000;

const silence: AnswerPart = { text: '', tokens: null };

/** Statuses of a rate limit or of an overloaded model. */
const busyStatuses = new Set([429, 503, 529]);

/** Requests an answer. Repeats the request once if the endpoint is busy or has failed and the time limit allows it. */
async function* answering(settings: ModelSettings, request: object, signal: AbortSignal): AsyncIterable<AnswerPart> {
  const endsAt = performance.now() + settings.totalMs;
  const first = await ask(settings, request, signal);
  if (first.ok) return yield* readAnswer(first);
  const waitMs = retryAfterMs(first.headers.get('retry-after')) ?? PAUSE_MS;
  const mayPass = first.status >= 500 || busyStatuses.has(first.status);
  if (!mayPass || performance.now() + waitMs >= endsAt) throw await refusal(settings, first);
  first.body?.cancel().catch(() => {});
  for (let left = waitMs; left > 0; left -= SIGN_MS) {
    await sleep(Math.min(left, SIGN_MS), undefined, { signal });
    yield silence;
  }
  const second = await ask(settings, request, signal);
  if (!second.ok) throw await refusal(settings, second);
  yield* readAnswer(second);
}

/** Parses `Retry-After`, in seconds or as a date; null for anything else. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const time = Date.parse(header);
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}

/** Redirects that keep method and body. Any other is refused, since it would turn the POST into a GET. */
const bodyKeepingStatuses = new Set([307, 308]);

/** Sends the request and follows one redirect. The API key is not sent to another host, nor from HTTPS to HTTP. */
async function ask(
  { baseUrl, apiKey, model, body }: ModelSettings,
  request: object,
  signal: AbortSignal,
): Promise<Response> {
  const key: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
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
    const answer = await post(url, key);
    const location = answer.headers.get('location');
    if (!bodyKeepingStatuses.has(answer.status) || !location || !URL.canParse(location, url.href)) return answer;
    answer.body?.cancel().catch(() => {});
    const next = new URL(location, url);
    const mayKnowKey = next.hostname === url.hostname && (next.protocol === 'https:' || url.protocol === 'http:');
    return await post(next, mayKnowKey ? key : {});
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new StorytellerFault('unreachable', null, causeOf(error));
  }
}

const REFUSAL_BYTES = 4_096;
const REFUSAL_MS = 500;

/** Builds the fault of a failed response. Its body is read up to a limit, and the API key is removed from it. */
async function refusal({ apiKey }: ModelSettings, response: Response): Promise<StorytellerFault> {
  const { status, headers } = response;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const late = sleep(REFUSAL_MS, { done: true as const, value: undefined }, { ref: false });
  let said = headers.get('location') ? `to ${headers.get('location')} ` : '';
  try {
    while (reader && said.length < REFUSAL_BYTES) {
      const read = await Promise.race([reader.read(), late]);
      if (read.done) break;
      said += decoder.decode(read.value, { stream: true });
    }
  } catch {
    // the part that was read is enough for an excerpt
  } finally {
    reader?.cancel().catch(() => {});
  }
  const hidden = apiKey ? said.replaceAll(apiKey, '…') : said;
  return new StorytellerFault(kindOf(status, hidden), status, excerptOf(hidden));
}

function kindOf(status: number, said: string): FaultKind {
  if (status === 400 && /content.?filter|data.?inspection|sensitive|moderation/i.test(said)) return 'filtered';
  if (busyStatuses.has(status)) return 'busy';
  return status >= 500 ? 'failed' : 'refused';
}
