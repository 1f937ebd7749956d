import { afterEach, expect, test } from '@rstest/core';
import {
  type Behaviour,
  cutAnswers,
  delta,
  failedAnswers,
  finish,
  message,
  startModel,
  streams,
  wholeAnswers,
  wholeText,
} from '../../test/fakeModel.ts';
import { narrator } from '../content/content.ts';
import { createLog } from '../telemetry.ts';
import { endpointOf, openAiStoryteller } from './openAi.ts';
import { initialProgress } from './progress.ts';
import { loadPrompts } from './prompts.ts';
import { type Piece, type StoryContext, type Storyteller, withDeadlines, withMonitoring } from './storyteller.ts';

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const model of opened.splice(0)) model.close();
});

interface Line {
  outcome: string;
  status: number | null;
  said: string;
  count: number;
  endpoint: string;
}

/** Starts a model endpoint with the behaviour and a watched storyteller for it, with its log lines. */
async function modelThat(behave: Behaviour, limits = { firstMs: 1_500, idleMs: 1_500, totalMs: 4_000 }) {
  const model = await startModel(behave);
  opened.push(model);
  return { ...model, ...storytellerAt(model.baseUrl, limits) };
}

function storytellerAt(baseUrl: string, limits = { firstMs: 1_500, idleMs: 1_500, totalMs: 4_000 }) {
  const lines: Line[] = [];
  const tokens: number[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line) as Line) });
  const settings = {
    baseUrl,
    apiKey: 'sk-secret',
    model: 'teller',
    body: { temperature: 0.7, max_tokens: 500, top_p: 0.9 },
    window: { lines: 40, characters: 8_000 },
    totalMs: limits.totalMs,
    countTokens: (count: number) => void tokens.push(count),
  };
  const storyteller = openAiStoryteller(settings, loadPrompts(undefined));
  const endpoint = endpointOf(settings);
  return {
    lines,
    tokens,
    storyteller: withMonitoring(storyteller, { endpoint, limits, log, counters: null }),
  };
}

const story = {
  id: 's',
  title: '画皮',
  coverUrl: '',
  price: 1,
  createdAt: 0,
  updatedAt: 0,
  summary: '',
  tags: [],
  opening: '开篇',
  characters: [],
  author: { id: '', name: '', avatar: '' },
};
const context: StoryContext = {
  progress: initialProgress(narrator.plot),
  variantIndex: 0,
  story,
  reader: { name: '甲', persona: '一名剑客' },
  history: [{ role: 'user', text: '你是谁？' }],
  formerSuggestions: [],
  formerTexts: [],
  isContinuation: false,
  seed: '',
};
const { signal } = new AbortController();

async function told(storyteller: Storyteller, given = context): Promise<string> {
  let text = '';
  for await (const piece of storyteller.generate(given, { signal }))
    text = 'restart' in piece ? '' : text + ('text' in piece ? piece.text : '');
  return text;
}

test('sends the configured settings and no field that some endpoints refuse', async () => {
  const { storyteller, requests } = await modelThat(message(wholeText));
  expect(await told(storyteller)).toBe(wholeText);
  expect(requests[0]).toMatchObject({ model: 'teller', stream: true, temperature: 0.7, max_tokens: 500, top_p: 0.9 });
  expect(requests[0]).not.toHaveProperty('stream_options');
});

test('sends alternating roles, starting with the reader, without blank messages', async () => {
  const { storyteller, requests } = await modelThat(message(wholeText));
  const history = (['assistant', 'user', 'user', 'assistant', 'user'] as const).map((role, index) => ({
    role,
    text: index === 3 ? '\u200b ' : `第${index}句`,
  }));
  await told(storyteller, { ...context, history, formerTexts: ['第一稿'] });
  const turns = requests[0]?.messages.slice(1) ?? [];
  expect(turns.map(({ role }) => role)).toEqual(['user']);
  expect(turns[0]?.content).toMatch(/第1句\n\n第2句\n\n第4句\n\n.*第一稿/s);
});

test('hides thoughts without an opening tag in this answer and later ones', async () => {
  const { storyteller } = await modelThat(
    streams(delta('先想。'), delta('再想。</think>'), delta(wholeText), finish('stop')),
  );
  await told(storyteller);
  const pieces: Piece[] = [];
  for await (const piece of storyteller.generate(context, { signal })) pieces.push(piece);
  expect(pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')).toBe(wholeText);
});

test.each([
  ['the same host', '127.0.0.1', 'Bearer sk-secret'],
  ['another host', 'localhost', undefined],
])(
  'a redirect that keeps the body leads to %s, which receives the key only if it is the same',
  async (_, host, key) => {
    const keys: (string | undefined)[] = [];
    const { storyteller } = await modelThat((response, request, attempt) => {
      keys.push(response.req.headers.authorization);
      if (attempt > 1) return message(wholeText)(response, request, attempt);
      response.writeHead(308, { Location: `http://${host}:${response.req.socket.localPort}/elsewhere` }).end();
    });
    expect([await told(storyteller), keys]).toEqual([wholeText, ['Bearer sk-secret', key]]);
  },
);

test.each([
  ['comments', ': keep-alive\n\n'],
  ['reasoning', 'data: {"choices":[{"delta":{"reasoning_content":"想"}}]}\n\n'],
])('%s extend the idle timeout', async (_, sign) => {
  const { storyteller, lines } = await modelThat(
    async (response) => {
      for (let count = 0; count < 12; count += 1) {
        response.write(sign);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      response.end(delta(wholeText) + finish('stop'));
    },
    { firstMs: 1_000, idleMs: 1_000, totalMs: 20_000 },
  );
  expect([await told(storyteller), lines]).toEqual([wholeText, []]);
});

test('waits for the first word up to its own limit', async () => {
  const { storyteller } = await modelThat(
    async (response) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      await streams(delta(wholeText), finish('stop'))(response, { messages: [] }, 1);
    },
    { firstMs: 10_000, idleMs: 200, totalMs: 20_000 },
  );
  expect(await told(storyteller)).toBe(wholeText);
});

const rows = { ...failedAnswers, ...cutAnswers };
test.each(Object.entries(rows).map(([name, row]) => ({ name, said: '', ...row })))(
  'logs in one line: $name',
  async ({ behave, outcome = 'cut', said }) => {
    const { storyteller, lines, baseUrl } = await modelThat(behave);
    await expect(told(storyteller)).rejects.toThrow();
    expect(lines).toMatchObject([{ outcome, count: 1, endpoint: `${baseUrl}/chat/completions` }]);
    expect(lines[0]?.said).toContain(said);
    expect(lines[0]?.said.length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(lines)).not.toContain('sk-secret');
  },
);

test.each([
  ['a refused address', 'http://127.0.0.1:47999/v1', 'ECONNREFUSED'],
  ['an unknown host', 'http://model.invalid/v1', /ENOTFOUND|EAI_AGAIN/],
  ['a refused https address', 'https://127.0.0.1:47999/v1', 'ECONNREFUSED'],
])('logs the cause if the endpoint is unreachable: %s', async (_, baseUrl, why) => {
  const { storyteller, lines } = storytellerAt(baseUrl);
  await expect(told(storyteller)).rejects.toThrow();
  expect(lines).toMatchObject([{ outcome: 'unreachable', status: null, said: expect.stringMatching(why) }]);
});

test('logs repeated failures of one kind once', async () => {
  const { storyteller, lines } = await modelThat(failedAnswers['500']?.behave ?? message(''));
  for (let count = 0; count < 20; count += 1) await expect(told(storyteller)).rejects.toThrow();
  expect(lines).toHaveLength(1);
});

test.each<[string, (storyteller: Storyteller) => Promise<unknown> | undefined]>([
  ['a reply', (storyteller) => told(storyteller)],
  ['suggestions', (storyteller) => storyteller.suggest(context, 1, { signal })],
  ['a summary', (storyteller) => storyteller.summarize?.(context, context.history, { signal })],
  ['a check', (storyteller) => storyteller.check?.({ signal })],
])('counts the tokens of %s once, though each piece reports them', async (_, call) => {
  const usages = [100, 110, 110].map((total_tokens) =>
    delta('夜里风大。').replace('{', `{"usage":{"total_tokens":${total_tokens}},`),
  );
  const { storyteller, tokens } = await modelThat(streams(...usages, finish('stop')));
  await call(storyteller);
  expect(tokens).toEqual([110]);
});

test('waits for the longest of several Retry-After headers, here longer than the limit', async () => {
  const { storyteller, lines } = await modelThat((response, request, attempt) => {
    if (attempt > 1) return message(wholeText)(response, request, attempt);
    response.writeHead(429, { 'Retry-After': '5, 7' }).end('slow');
  });
  await expect(told(storyteller)).rejects.toThrow();
  expect(lines).toMatchObject([{ outcome: 'busy', status: 429 }]);
});

test('logs nothing after a successful answer', async () => {
  const { storyteller, lines } = await modelThat(wholeAnswers['a think block']?.behave ?? message(''));
  await told(storyteller);
  expect(lines).toEqual([]);
});

test('the check reports endpoint, duration and answer in one line', async () => {
  const { storyteller, baseUrl } = await modelThat(message('夜安。'));
  const line = await storyteller.check?.({ signal });
  expect(line).toMatch(/^teller at .* answered in \d+ ms: 夜安。$/);
  expect(line).toContain(baseUrl);
});

test('aborts a silent answer and closes the connection', async () => {
  let hangUp = (): void => undefined;
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  const { storyteller } = await modelThat(
    (response) => {
      response.write(delta('从前'));
      response.on('close', () => hangUp());
    },
    { firstMs: 10_000, idleMs: 100, totalMs: 20_000 },
  );
  await expect(told(storyteller)).rejects.toMatchObject({ kind: 'timeout' });
  await hungUp;
});

test('aborts an answer that exceeds the total time limit', async () => {
  const endless = async function* (stop: AbortSignal): AsyncIterable<Piece> {
    while (!stop.aborted) {
      yield { text: '又' };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const pieces = withDeadlines(endless, { firstMs: 1_000, idleMs: 1_000, totalMs: 60 }, signal);
  const all = async () => {
    for await (const _ of pieces);
  };
  await expect(all()).rejects.toMatchObject({ kind: 'timeout' });
});
