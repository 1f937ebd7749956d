import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@rstest/core';
import { narrator } from '../content/content.ts';
import { begin } from './progress.ts';
import { openAiStoryteller, type Piece, type StoryContext, StorytellerTimeout, withDeadlines } from './storyteller.ts';

const servers = new Set<Server>();

afterEach(() => {
  for (const server of servers) server.close();
  for (const server of servers) server.closeAllConnections();
  servers.clear();
});

async function modelThat(answers: RequestListener) {
  const server = createServer(answers).listen(0, '127.0.0.1');
  servers.add(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return openAiStoryteller({ baseUrl: `http://127.0.0.1:${port}/v1/`, apiKey: 'secret', model: 'teller' });
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
  progress: begin(narrator.plot),
  telling: 0,
  story,
  reader: { name: '甲', persona: '一名剑客' },
  history: [{ role: 'user', text: '你是谁？' }],
  offered: [],
  retold: [],
  continuing: false,
  turn: 1,
  seed: '',
};
const { signal } = new AbortController();

async function collect(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const all: Piece[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

test('streams the pieces of an answer, wherever the network cuts it', async () => {
  const asked: { url?: string; authorization?: string; body: string }[] = [];
  const model = await modelThat(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push({ url: request.url, authorization: request.headers.authorization, body });
    const events = [
      { choices: [{ delta: { role: 'assistant' } }] },
      { choices: [{ delta: { content: '妾身' } }] },
      { choices: [{ delta: { content: '姓聂。' } }] },
      { choices: [], usage: { total_tokens: 42 } },
    ];
    const bytes = Buffer.from(
      `${events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')}: comment\n\ndata: [DONE]\n\n`,
    );
    for (let start = 0; start < bytes.length; start += 7) response.write(bytes.subarray(start, start + 7));
    response.end();
  });
  expect(await collect(model.generate(context, { signal }))).toEqual([
    { text: '妾身' },
    { text: '姓聂。' },
    { usage: { totalTokens: 42 } },
  ]);
  expect(asked[0]).toMatchObject({ url: '/v1/chat/completions', authorization: 'Bearer secret' });
  const sent = JSON.parse(asked[0]?.body ?? '{}');
  expect(sent).toMatchObject({ model: 'teller', stream: true });
  expect(sent.messages.at(-1)).toEqual({ role: 'user', content: '你是谁？' });
  expect(sent.messages[0].content).toContain('一名剑客');
});

test('asks for other suggestions than those that were offered before', async () => {
  let asked = '';
  const model = await modelThat((request, response) => {
    request.on('data', (chunk) => {
      asked += chunk;
    });
    request.on('end', () => response.end(JSON.stringify({ choices: [{ message: { content: '你从哪里来？' } }] })));
  });
  await model.suggest({ ...context, offered: ['我不怕你'] }, 1, { signal });
  expect(JSON.parse(asked).messages.at(-1).content).toMatch(/另想.*我不怕你/s);
});

test('returns suggestions without their numbers', async () => {
  const model = await modelThat((_request, response) => {
    response.end(
      JSON.stringify({ choices: [{ message: { content: '1. 我不怕你\n2、你从哪里来？\n\n- 我跟你走\n' } }] }),
    );
  });
  expect(await model.suggest(context, 2, { signal })).toEqual(['我不怕你', '你从哪里来？']);
});

test('fails with what the model said when it refuses', async () => {
  const model = await modelThat((_request, response) => response.writeHead(429).end('slow down'));
  await expect(collect(model.generate(context, { signal }))).rejects.toThrow('the model answered 429: slow down');
});

test('gives up on a model that sends nothing for too long, and closes the connection', async () => {
  let hangUp = (): void => undefined;
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  const model = await modelThat((_request, response) => {
    response.write('data: {"choices":[{"delta":{"content":"从前"}}]}\n\n');
    response.on('close', () => hangUp());
  });
  const stopped = new AbortController();
  // its time to be silent begins with its first piece: the way there may take the machine any time
  const source = model.generate(context, { signal: stopped.signal })[Symbol.asyncIterator]();
  expect(await source.next()).toMatchObject({ value: { text: '从前' } });
  const rest = (stop: AbortSignal): AsyncIterable<Piece> => {
    stop.addEventListener('abort', () => stopped.abort());
    return { [Symbol.asyncIterator]: () => source };
  };
  const pieces = withDeadlines(rest, { idleMs: 80, totalMs: 5_000, signal });
  await expect(collect(pieces)).rejects.toBeInstanceOf(StorytellerTimeout);
  await hungUp;
});

test('gives up on a model that talks for too long', async () => {
  const endless = async function* (stop: AbortSignal): AsyncIterable<Piece> {
    while (!stop.aborted) {
      yield { text: '又' };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await expect(collect(withDeadlines(endless, { idleMs: 1_000, totalMs: 60, signal }))).rejects.toBeInstanceOf(
    StorytellerTimeout,
  );
});
