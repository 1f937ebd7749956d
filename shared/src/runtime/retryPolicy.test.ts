import { describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { MINUTE_MS } from '../contract';
import { fakeApi, offline, onTestEnd } from '../testing';
import { SimulatedClock } from '../testing/simulatedNetwork';
import { request } from './client/request';
import { REQUESTS_PER_MINUTE, realClock, retryPolicy } from './retryPolicy';

const TEN_MINUTES_MS = 10 * MINUTE_MS;

/** A page on a fake clock, whose server answers by `answer`. */
function open(answer: (url: string) => unknown) {
  const clock = new SimulatedClock();
  retryPolicy.reset(clock);
  const sent: { at: number; call: string }[] = [];
  const handler = ({ method, url }: { method: string; url: string }) => {
    sent.push({ at: clock.now(), call: `${method} ${url}` });
    return answer(url);
  };
  const urls = ['/v1/stories', '/v1/messages', '/v1/messages/latest'];
  const { restore } = fakeApi(
    Object.fromEntries(urls.flatMap((url) => ['GET', 'POST'].map((method) => [`${method} ${url}`, handler]))),
  );
  onTestEnd(restore);
  onTestEnd(() => retryPolicy.reset());
  const pass = async (milliseconds: number) => {
    for (const end = clock.now() + milliseconds; clock.now() < end; ) {
      await clock.pass(Math.min(500, end - clock.now()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { clock, sent, pass };
}

/** Maximum number of calls within any minute. */
const mostInAMinute = (times: number[]) =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + MINUTE_MS).length));

const unwell = fc.constantFrom<() => unknown>(
  ...['0', '-3', '5', '5, 7', '2147484', '9999999999', 'bald', 'Fri, 01 Jan 2099 00:00:00 GMT', undefined].flatMap(
    (wait) =>
      [429, 503].map((status) => () => ({
        status,
        body: {},
        headers: wait === undefined ? {} : { 'retry-after': wait },
      })),
  ),
  () => ({ status: 500, body: {} }),
  () => ({ status: 409, body: { code: 'busy' } }),
  () => ({ status: 200, body: '<html>' }),
  () => ({ data: [] }),
  () => {
    throw offline();
  },
);

/** The worst caller: retries without a pause. Resolves after its first success. */
async function insist(method: string, url: string, clock: SimulatedClock) {
  for (;;) {
    const isWell = await request({ method, url }).then(
      (body) => JSON.stringify(body) === '{"data":"well"}',
      () => false,
    );
    if (isWell) return;
    await new Promise<void>((resolve) => clock.after(500, resolve));
  }
}

describe('net.budget', () => {
  test('for every server response a page stays in its budget, and delivers everything after a recovery', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(unwell, { minLength: 1, maxLength: 12 }), async (answers) => {
        let turn = 0;
        let isWell = false;
        const { clock, sent, pass } = open(() => (isWell ? { data: 'well' } : answers[turn++ % answers.length]?.()));
        const wanted = [insist('GET', '/v1/stories', clock), insist('GET', '/v1/messages/latest', clock)];
        for (let line = 0; line < 3; line += 1) wanted.push(insist('POST', '/v1/messages', clock));
        await pass(TEN_MINUTES_MS);
        expect(mostInAMinute(sent.map(({ at }) => at))).toBeLessThanOrEqual(REQUESTS_PER_MINUTE);
        isWell = true;
        await pass(16 * MINUTE_MS);
        await Promise.all(wanted);
      }),
      { numRuns: 4, seed: 2411 },
    );
  });

  test('a GET is not sent again before the server’s wait is over', async () => {
    const { clock, sent, pass } = open(() => ({ status: 503, body: {}, headers: { 'retry-after': '60' } }));
    void insist('GET', '/v1/stories', clock);
    await pass(59_000);
    expect(sent).toHaveLength(1);
    await pass(3_000);
    expect(sent).toHaveLength(2);
  });

  test('a short wait ends before the caller gets a failure', async () => {
    let isWell = false;
    const { sent, pass } = open(() =>
      isWell ? ['there'] : { status: 503, body: {}, headers: { 'retry-after': '2' } },
    );
    const asked = request({ url: '/v1/stories' });
    await pass(1_000);
    isWell = true;
    await pass(2_000);
    expect(await asked).toEqual(['there']);
    expect(sent).toHaveLength(2);
  });

  test('the caller receives the remaining wait', async () => {
    const { pass } = open(() => ({ status: 429, body: {}, headers: { 'retry-after': '5, 7' } }));
    const ask = () => request({ url: '/v1/stories' }).catch((error: unknown) => error);
    expect(await ask()).toEqual({ kind: 'tooOften', retryAfterSeconds: 7 });
    await pass(4_000);
    expect(await ask()).toEqual({ kind: 'tooOften', retryAfterSeconds: 3 });
  });

  test('a tap is sent although the server asks for a long wait', async () => {
    const { sent } = open(() => ({
      status: 503,
      body: {},
      headers: { 'retry-after': 'Fri, 01 Jan 2099 00:00:00 GMT' },
    }));
    const ask = () => request({ url: '/v1/stories' }).catch((error: unknown) => error);
    const refused = { kind: 'server', retryAfterSeconds: null };
    expect(await ask()).toMatchObject(refused);
    expect(await ask()).toMatchObject(refused);
    expect(sent).toHaveLength(1);
    document.body.click();
    expect(await ask()).toMatchObject(refused);
    expect(sent).toHaveLength(2);
  });

  test('a tap allows a loop a few requests only', async () => {
    const { clock, sent, pass } = open(() => ({ status: 500, body: {} }));
    for (let line = 0; line < 5; line += 1) void insist('POST', '/v1/messages', clock);
    for (let tap = 0; tap < 3; tap += 1) {
      document.body.click();
      await pass(10_000);
    }
    expect(sent.length).toBeLessThanOrEqual(REQUESTS_PER_MINUTE + 30);
  });
});

test('a timer longer than a browser can count does not run immediately', async () => {
  let runs = 0;
  const cancel = realClock.after(2 ** 31 + 5, () => {
    runs += 1;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  cancel();
  expect(runs).toBe(0);
});
