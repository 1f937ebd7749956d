import { afterAll, describe, expect, test } from '@rstest/core';
import { defaultPrices } from '../src/prices.ts';
import type { Client } from './client.ts';
import {
  type Behaviour,
  cutAnswers,
  failedAnswers,
  halfText,
  message,
  startModel,
  streams,
  wholeAnswers,
  wholeText,
} from './fakeModel.ts';
import { openBackend } from './testBackend.ts';
import type { ErrorDto, Page, SuggestionDto, TransactionDto, UserDto } from './wire.ts';

// Conversations with a model that behaves like known endpoints.

let behave: Behaviour = message(wholeText);
let attempt = 0;
const model = await startModel((response, request) => {
  attempt += 1;
  return behave(response, request, attempt);
});
const backend = await openBackend({
  AI_BASE_URL: model.baseUrl,
  AI_MODEL: 'fake',
  AI_API_KEY: 'sk-secret',
  AI_HISTORY_CHARACTERS: '600',
  STORYTELLER_IDLE_TIMEOUT_MS: '1500',
});
afterAll(() => model.close());

const story_id = 'nie-xiaoqian';
const price = defaultPrices.storyPrices.long;
const balanceOf = async (reader: Client) => (await reader.get<{ data: UserDto }>('/user')).body.data.balance;
const lastOf = async (reader: Client) => (await reader.latest({ story_id })).data.at(-1);
const amountsOf = async (reader: Client) =>
  (await reader.get<Page<TransactionDto>>('/transactions')).body.data.map(({ amount }) => amount);

/** Sends a line that the model answers with the behaviour, and returns the ended reply. */
async function said(reader: Client, way: Behaviour, body = '夜里好冷') {
  behave = way;
  attempt = 0;
  model.requests.length = 0;
  const sent = await reader.say({ story_id, body });
  expect(sent.status).toBe(201);
  await backend.settled();
  return lastOf(reader);
}

const table = <Row extends object>(rows: Record<string, Row>) =>
  Object.entries(rows).map(([name, row]) => ({ name, ...row }));

describe('a complete answer is converted to story text, stored and charged', () => {
  test.each(table(wholeAnswers))('$name', async ({ behave: way, text = wholeText }) => {
    const reader = await backend.reader();
    expect(await said(reader, way)).toMatchObject({ status: 'completed', body: text, error: null, cost: price });
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - price);
  });
});

describe('an interrupted answer is stored and refunded', () => {
  test.each(table(cutAnswers))('$name', async ({ behave: way, text = halfText, code = 'storyteller_failed' }) => {
    const reader = await backend.reader();
    const error = { code, message: expect.stringMatching(/，可以续写$/) };
    expect(await said(reader, way)).toMatchObject({ status: 'failed', body: text, error, cost: 0 });
    expect(await amountsOf(reader)).toEqual([price, -price, defaultPrices.signUpGift]);
  });

  test('can be continued if its length was the limit', async () => {
    const reader = await backend.reader();
    const reply = await said(reader, cutAnswers['finish_reason length']?.behave ?? message(''));
    expect(reply?.error?.message).toMatch(/太长.*已退还.*续写/);
    behave = message('*她回过头来。*');
    const form = { conversation_id: reply?.conversation_id, client_id: crypto.randomUUID() };
    expect((await reader.post('/messages/continue', form)).status).toBe(202);
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: `${wholeText}\n\n*她回过头来。*` });
  });
});

describe('an empty answer is refunded', () => {
  test.each(table(failedAnswers))('$name', async ({ behave: way, code = 'storyteller_failed' }) => {
    const reader = await backend.reader();
    expect(await said(reader, way)).toMatchObject({ status: 'failed', body: '', error: { code }, cost: 0 });
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift);
  });
});

/** Refuses requests like strict endpoints. */
const strict: Behaviour = (response, request, count) => {
  const [system, ...turns] = request.messages;
  const isFine =
    !('stream_options' in request) &&
    request.messages.every(({ content }) => content.trim() !== '') &&
    turns.every(({ role }, index) => role === (index % 2 ? 'assistant' : 'user')) &&
    (system?.role === 'system' ? turns.length > 0 : turns.length === 0);
  return (isFine ? message(wholeText) : (failedAnswers['400']?.behave ?? failedAnswers['404']?.behave))?.(
    response,
    request,
    count,
  );
};

describe('a strict endpoint', () => {
  test('accepts a message after an empty failure, a retelling and a continuation', async () => {
    const reader = await backend.reader();
    await said(reader, failedAnswers['500']?.behave ?? strict);
    await said(reader, failedAnswers['nothing but blanks']?.behave ?? strict);
    const reply = await said(reader, strict, '你是谁？');
    expect(reply).toMatchObject({ status: 'completed', body: wholeText });
    await reader.post(`/messages/${reply?.id}/regenerate`, { client_id: crypto.randomUUID() });
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', variants: 2 });
    await reader.post('/messages/continue', {
      conversation_id: reply?.conversation_id,
      client_id: crypto.randomUUID(),
    });
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: `${wholeText}\n\n${wholeText}` });
  });

  test('accepts every message of a long conversation', async () => {
    const reader = await backend.reader({ name: '宁采臣' });
    await reader.put('/user', { persona: '怕蛇的剑客' });
    const statuses: unknown[] = [];
    for (let turn = 1; turn <= 26; turn += 1) statuses.push((await said(reader, strict, `第${turn}句`))?.status);
    expect(new Set(statuses)).toEqual(new Set(['completed']));
  });
});

describe('the prompt', () => {
  test('contains plot, facts, cast, voice and reader, and names no other source than the story’s', async () => {
    const reader = await backend.reader({ name: '燕七' });
    await reader.put('/user', { persona: '怕蛇的剑客' });
    await said(reader, message(wholeText));
    const [system] = model.requests[0]?.messages ?? [];
    const facts = ['聂小倩，死了多久：三十六年了', '姥姥，在哪（自“归舟”起）：还在金华的荒寺里'];
    for (const part of ['聂小倩', '燕七', '怕蛇的剑客', '情节走向', '口吻', '读者用什么语言写', ...facts])
      expect(system?.content).toContain(part);
    expect(system?.content).not.toMatch(/聊斋志异|\{|undefined/);
  });

  test('contains a free summary after many messages', async () => {
    const reader = await backend.reader();
    const summarizing: Behaviour = (response, request, count) =>
      request.messages[0]?.content.includes('前情提要')
        ? message(`<think>短</think>提要：${/暗号\d/.exec(request.messages[0].content)?.[0]}`)(response, request, count)
        : message('她点点头。'.repeat(12))(response, request, count);
    for (let turn = 0; turn < 12; turn += 1) await said(reader, summarizing, `暗号${turn}`);
    const sent = model.requests[0]?.messages ?? [];
    // each summary starts with the former one
    expect(sent[0]?.content).toContain('提要：暗号0');
    expect(sent.slice(1).map(({ content }) => content)).not.toContain('暗号0');
    expect(JSON.stringify(sent)).not.toContain('<think>');
    expect(await amountsOf(reader)).toEqual([...Array.from({ length: 12 }, () => -price), defaultPrices.signUpGift]);
  });

  test('drops the summary when the reader edits an earlier message', async () => {
    const reader = await backend.reader();
    const summarizing: Behaviour = (response, request, count) =>
      message(request.messages[0]?.content.includes('前情提要') ? '提要：暗号' : '她点点头。'.repeat(12))(
        response,
        request,
        count,
      );
    for (let turn = 0; turn < 12; turn += 1) await said(reader, summarizing, `第${turn}句`);
    const [opening] = (await reader.latest({ story_id })).data;
    await reader.put(`/messages/${opening?.id}`, { body: '重来' });
    await reader.post(`/messages/${opening?.id}/edit`, { body: '重来', client_id: crypto.randomUUID() });
    await backend.settled();
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('暗号');
  });
});

const three = ['3天后我再来', '五百两银子够吗？', '我跟你走'];
const lists: Record<string, { behave: Behaviour; items?: string[] }> = {
  lines: { behave: message(three.join('\n')) },
  'five numbered lines': { behave: message(`1. ${three[0]}\n2）${three[1]}\n3、${three[2]}\n4. 走吧\n5. 好的`) },
  'a think block': { behave: message(`<think>\n想\n想\n想\n</think>\n${three.join('\n')}`) },
  'JSON in a fence': { behave: message(`\`\`\`json\n${JSON.stringify(three)}\n\`\`\``) },
  'JSON of objects': { behave: message(JSON.stringify({ suggestions: three.map((text) => ({ text })) })) },
  'a preface with a colon': { behave: message(`好的，以下是三句：\n\n${three.join('\n')}`) },
  'quotation marks and bullets': { behave: message(three.map((line) => `- “${line}”`).join('\n')) },
  'a line of 5,000 letters first': { behave: message(`${'字'.repeat(5_000)}\n${three.join('\n')}`) },
  'one that is too long': {
    behave: message(`${three[0]}\n${three[1]}\n我想先去后院看看那口枯井，再回来找你问个明白。`),
    items: [three[0] ?? '', three[1] ?? '', '我想先去后院看看那口枯井'],
  },
  'an event stream': {
    behave: streams(`data: ${JSON.stringify({ choices: [{ delta: { content: three.join('\n') } }] })}\n\ndata: [DONE]`),
  },
};

async function suggested(reader: Client, way: Behaviour) {
  await said(reader, message(wholeText));
  behave = way;
  attempt = 0;
  const conversation_id = (await lastOf(reader))?.conversation_id;
  const asked = await reader.post<{ data: SuggestionDto }>('/messages/suggestion', {
    conversation_id,
    client_id: crypto.randomUUID(),
  });
  expect(asked.status).toBe(202);
  await backend.settled();
  return (await reader.get<{ data: SuggestionDto }>(`/messages/suggestion/${asked.body.data.id}`)).body.data;
}

describe('suggestions consist of three clean lines', () => {
  test.each(table(lists))('$name', async ({ behave: way, items = three }) => {
    const ready = await suggested(await backend.reader(), way);
    expect(ready).toMatchObject({ status: 'ready' });
    expect(ready.items.map(({ text }) => text)).toEqual(items);
  });

  test.each([
    { name: 'too few', behave: message('走吧\n好的') },
    { name: 'only a long one', behave: message('字'.repeat(5_000)) },
    { name: 'a refusal', behave: failedAnswers['500']?.behave ?? strict },
    { name: 'only thoughts', behave: message('<think>一\n二\n三') },
  ])('or fail with a refund: $name', async ({ behave: way }) => {
    const reader = await backend.reader();
    expect(await suggested(reader, way)).toMatchObject({ status: 'failed', items: [] });
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - price);
  });
});

test('an invisible message is refused without a charge', async () => {
  const reader = await backend.reader();
  for (const body of ['\u200b', '\u2060\u00ad \u3164', '\u2800\ufe0f', '\u202e\u202c', '\u{1d159}', '\u0301\u20dd']) {
    const { status, body: refused } = (await reader.say({ story_id, body })) as unknown as {
      status: number;
      body: ErrorDto;
    };
    expect([status, refused.message]).toEqual([422, '内容至少要有一个看得见的字']);
  }
  expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift);
});
