import { READY } from '@liaozhai/shared/contract';
import './testing/pageFixture';
import type { SpansReport } from '@liaozhai/shared/contract';
import { request, session } from '@liaozhai/shared/runtime';
import { fakeApi, fakeRealtime, type Handlers, memberDto, offline, onTestEnd, waitFor } from '@liaozhai/shared/testing';
import { beforeEach, describe, expect, rs, test } from '@rstest/core';
import { watchSpans } from './spans';
import { openPage } from './testing/fakeRemotes';
import { beacons, testSet } from './testing/pageFixture';

const [trace, documentSpan] = ['a'.repeat(32), 'b'.repeat(16)];
const stories = testSet.remotes.stories?.id ?? '';

/** Fakes the document's navigation timing; null: its server does not trace. */
function openDocument(traceparent: string | null, about: Partial<PerformanceNavigationTiming> = {}) {
  const serverTiming = traceparent === null ? [] : [{ name: 'traceparent', description: traceparent }];
  const timing: object = { name: `${location.origin}/story/nie-xiaoqian`, loadEventEnd: 640, serverTiming, ...about };
  const others = performance.getEntriesByType.bind(performance);
  const known = rs
    .spyOn(performance, 'getEntriesByType')
    .mockImplementation((type) => (type === 'navigation' ? [timing as PerformanceNavigationTiming] : others(type)));
  onTestEnd(() => known.mockRestore());
}

const sampled = `00-${trace}-${documentSpan}-01`;

function api(handlers: Handlers) {
  const { requests, restore } = fakeApi(handlers);
  onTestEnd(restore);
  return requests;
}

const letBodiesBeRead = () => new Promise((resolve) => setTimeout(resolve));

/** Hides the page. Returns the spans reported by then. */
async function hide(): Promise<SpansReport['spans']> {
  beacons.length = 0;
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  window.dispatchEvent(new Event('visibilitychange'));
  await letBodiesBeRead();
  return beacons.flatMap((told) => (JSON.parse(told.replace('/beacon/spans ', '')) as SpansReport).spans);
}

const called = async (...names: string[]) => (await hide()).filter(({ name }) => names.includes(name));

beforeEach(() => performance.clearMeasures());

describe('a page whose document is traced', () => {
  test('reports its loading and that of its remotes, once, by patterns and builds', async () => {
    openDocument(sampled);
    performance.measure(READY + stories, { start: 10, duration: 210 });
    onTestEnd(watchSpans(openPage()));
    const hex = expect.stringMatching(/^[0-9a-f]{16}$/);
    const below = { trace, parent: documentSpan, id: hex };
    expect(await hide()).toEqual([
      {
        ...below,
        name: 'document load',
        took: 640,
        route: '/story/:id',
        build: testSet.host.id,
        ago: expect.any(Number),
      },
      { ...below, name: 'remote load', took: 210, build: stories, ago: expect.any(Number) },
    ]);
    expect(await hide()).toEqual([]);
  });

  test('tells every ten seconds too, of as many as the server takes at a time', async () => {
    openDocument(sampled);
    rs.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestEnd(() => rs.useRealTimers());
    for (let index = 0; index < 60; index += 1) performance.measure(`${READY}${index}`, { start: 1, duration: 1 });
    onTestEnd(watchSpans(openPage()));
    beacons.length = 0;
    rs.advanceTimersByTime(9_999);
    await letBodiesBeRead();
    expect(beacons).toEqual([]);
    rs.advanceTimersByTime(1);
    await letBodiesBeRead();
    const reports = beacons.map((told) => JSON.parse(told.replace('/beacon/spans ', '')) as SpansReport);
    expect(reports.map(({ spans }) => spans.length).sort()).toEqual([11, 50]);
  });

  test('reports each call, and the server receives its trace', async () => {
    openDocument(sampled);
    onTestEnd(watchSpans(openPage()));
    const requests = api({
      'GET /v1/stories/nie-xiaoqian': {},
      'GET /v1/user': { status: 401, body: { message: 'Unauthenticated.' } },
      'POST /v1/check-in': () => {
        throw offline();
      },
    });
    await request({ url: '/v1/stories/nie-xiaoqian', params: { q: 'secret' } });
    await request({ url: '/v1/user' }).catch(() => {});
    await request({ url: '/v1/check-in', method: 'POST' }).catch(() => {});
    const spans = await called('GET', 'POST');
    expect(spans).toMatchObject([
      { name: 'GET', trace, parent: documentSpan, route: '/api/v1/stories/:id', status: 200 },
      { name: 'GET', trace, parent: documentSpan, route: '/api/v1/user', status: 401 },
      { name: 'POST', trace, parent: documentSpan, route: '/api/v1/check-in' },
    ]);
    expect(spans[2]).not.toHaveProperty('status');
    expect(requests.map(({ headers }) => headers.traceparent)).toEqual(spans.map(({ id }) => `00-${trace}-${id}-01`));
    expect(JSON.stringify(spans)).not.toMatch(/xiaoqian|secret/);
  });

  test('knows its trace by its markup where the service worker began it', async () => {
    openDocument(null);
    document.head.insertAdjacentHTML('beforeend', `<meta name="traceparent" content="${sampled}">`);
    onTestEnd(() => document.querySelector('meta[name="traceparent"]')?.remove());
    onTestEnd(watchSpans(openPage()));
    expect(await called('document load')).toMatchObject([{ trace, parent: documentSpan }]);
  });

  test('makes calls after its first ten minutes traces of their own', async () => {
    openDocument(sampled);
    onTestEnd(watchSpans(openPage()));
    api({ 'GET /v1/stories': {} });
    const now = rs.spyOn(performance, 'now').mockReturnValue(601_000);
    onTestEnd(() => now.mockRestore());
    await request({ url: '/v1/stories' });
    const [span] = await called('GET');
    expect(span).toMatchObject({ trace: expect.not.stringContaining(trace) });
    expect(span).not.toHaveProperty('parent');
  });

  test('sends no trace to another origin', async () => {
    openDocument(sampled);
    onTestEnd(watchSpans(openPage()));
    const requests = api({ 'GET https://pay.example/rates': {} });
    await request({ url: 'https://pay.example/rates', baseURL: '' });
    expect(requests[0]?.headers).not.toHaveProperty('traceparent');
    expect(await called('GET')).toEqual([]);
  });

  test('tells how long a reply’s first words took, also where they came before the message was answered', async () => {
    openDocument(sampled);
    const { live, restore } = fakeRealtime();
    onTestEnd(restore);
    session.userReceived(memberDto());
    onTestEnd(watchSpans(openPage()));
    const delta = (message_id: string) => ({ message_id, conversation_id: 'c', revision: 1, offset: 0, text: '公子' });
    const message = (id: string) => ({ id, role: 'user', body: '你好' });
    const answers = [
      { data: { message: message('m-1'), reply: { id: 'r-1', body: '' } } },
      () => {
        live.push('message.delta', delta('r-2'));
        return { data: { message: message('m-2'), reply: { id: 'r-2', body: '' } } };
      },
    ];
    api({
      'POST /v1/messages': () => {
        const next = answers.shift();
        return typeof next === 'function' ? next() : next;
      },
    });
    await request({ url: '/v1/messages', method: 'POST', body: { body: '你好' } });
    live.push('message.delta', delta('of another page'));
    live.push('message.delta', delta('r-1'));
    live.push('message.delta', { ...delta('r-1'), offset: 2 });
    const first: SpansReport['spans'] = [];
    await waitFor(async () => {
      first.push(...(await called('POST', 'reply first words')));
      expect(first).toHaveLength(2);
    });
    const [post, words] = first;
    expect(words).toMatchObject({ name: 'reply first words', trace, parent: post?.id });
    await request({ url: '/v1/messages', method: 'POST', body: { body: '再来' } });
    expect((await called('POST', 'reply first words')).map(({ name }) => name).sort()).toEqual([
      'POST',
      'reply first words',
    ]);
  });
});

test.each([
  ['names no trace', null],
  ['is not sampled', `00-${trace}-${documentSpan}-00`],
])('a page whose document %s tells nothing, and its calls are as ever', async (_, traceparent) => {
  openDocument(traceparent);
  onTestEnd(watchSpans(openPage()));
  const requests = api({ 'GET /v1/stories': {} });
  await request({ url: '/v1/stories' });
  expect(requests[0]?.headers.traceparent).toBe(traceparent ?? undefined);
  expect(await hide()).toEqual([]);
});
