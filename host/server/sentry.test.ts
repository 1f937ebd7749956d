import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ErrorReport } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { createForward, readDsn } from './sentry.ts';
import { openTestProduct } from './testing/testProduct.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Scripted {
  status: number;
  headers?: Record<string, string>;
}

/** Responses of the fake Sentry; after them it accepts. */
let answers: Scripted[] = [];
let received: Received[] = [];
let sentry: Server;
let dsn = '';

beforeEach(async () => {
  [answers, received] = [[], []];
  sentry = createServer(async (request, response) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await text(request) });
    const { status, headers } = answers.shift() ?? { status: 200 };
    response.writeHead(status, headers).end('{}');
  });
  await new Promise<void>((resolve) => sentry.listen(0, '127.0.0.1', resolve));
  dsn = `http://0a1b2c@127.0.0.1:${(sentry.address() as AddressInfo).port}/relay/42`;
});
afterEach(() => {
  sentry.closeAllConnections();
  sentry.close();
});

/** The event of an envelope, read by the lengths in it. */
function eventIn({ body }: Received) {
  const bytes = Buffer.from(body);
  const line = (from: number) => bytes.indexOf('\n', from);
  const headerEnd = line(0);
  const itemEnd = line(headerEnd + 1);
  const header = JSON.parse(bytes.subarray(0, headerEnd).toString());
  const item = JSON.parse(bytes.subarray(headerEnd + 1, itemEnd).toString());
  const event = JSON.parse(bytes.subarray(itemEnd + 1, itemEnd + 1 + item.length).toString());
  expect(bytes.subarray(itemEnd + 1 + item.length).toString()).toBe('\n');
  expect(item.type).toBe('event');
  expect(header).toEqual({ event_id: event.event_id, sent_at: expect.any(String) });
  return event;
}

const report = (parts: Partial<ErrorReport> = {}): ErrorReport => ({
  build: 'chat@1.4.0+3f9c1a7b20de',
  kind: 'uncaught',
  name: 'TypeError',
  message: 'Failed to fetch',
  frames: [],
  route: '/story/:id',
  ...parts,
});

/** A forwarder whose waits are recorded, and end immediately unless `held` is positive. */
function openForward(held = 0) {
  const waits: number[] = [];
  const lines: Record<string, unknown>[] = [];
  const parsed = readDsn(dsn);
  if (!parsed) throw new Error(`${dsn} is no DSN`);
  const forward = createForward({
    dsn: parsed,
    environment: 'preview',
    placeOf: async () => null,
    log: { warn: (entry: Record<string, unknown>) => void lines.push(entry) } as never,
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return held > 0 ? new Promise(() => {}) : Promise.resolve();
    },
  });
  return { forward, waits, lines };
}

const count = (sent: number) => expect.poll(() => received.length).toBe(sent);

test('an error of a page arrives as an event: class, message class, places in sources, build, channel, browser', async () => {
  const product = await openTestProduct((folder) =>
    writeFileSync(
      join(folder, 'stories/remote.js.map'),
      JSON.stringify({ version: 3, sources: ['src/StoryList.tsx'], names: ['render'], mappings: 'AAAAA' }),
    ),
  );
  try {
    const origin = await product.serve({ SENTRY_DSN: dsn });
    const page = await (await fetch(`${origin}/explore`)).text();
    const build = /stories@[\w.+-]+/.exec(page)?.[0] ?? '';
    const folder = build.replace('@', '/').replace('+', '-');
    const failed = [report({ build, frames: [`${folder}/remote.js:1:1`, `${folder}/explore.js:2:30`] })];
    const beacon = (reports: ErrorReport[]) =>
      fetch(`${origin}/beacon`, {
        method: 'POST',
        headers: {
          origin,
          cookie: `lz_visitor=${'a'.repeat(32)}`,
          'content-type': 'application/json',
          'user-agent':
            'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
        },
        body: JSON.stringify({ failed: reports }),
      });
    expect((await beacon([report({ build: 'stories@9.9.9+ffffffffffff' })])).status).toBe(204);
    expect((await beacon(failed)).status).toBe(204);
    expect((await beacon(failed)).status).toBe(204);
    await count(1);
    const [envelope] = received as [Received];
    expect(envelope.path).toBe('/relay/api/42/envelope/');
    expect(envelope.headers['x-sentry-auth']).toContain('sentry_key=0a1b2c');
    expect(eventIn(envelope)).toMatchObject({
      level: 'error',
      platform: 'javascript',
      release: build,
      environment: 'production',
      transaction: '/story/:id',
      contexts: { browser: { name: 'Safari', version: '17' } },
      exception: {
        values: [
          {
            type: 'TypeError',
            value: 'Failed to fetch',
            stacktrace: {
              frames: [
                { filename: `/builds/${folder}/explore.js`, lineno: 2, colno: 30 },
                { filename: 'src/StoryList.tsx', lineno: 1, function: 'render', in_app: true },
              ],
            },
          },
        ],
      },
    });
  } finally {
    product.close();
  }
});

test('events contain no text, address, user agent or query string of a reader', async () => {
  const product = await openTestProduct();
  try {
    const origin = await product.serve({ SENTRY_DSN: dsn, TRUST_PROXY: 'true' });
    const page = await (await fetch(`${origin}/explore`)).text();
    const build = /stories@[\w.+-]+/.exec(page)?.[0] ?? '';
    const frame = `${build.replace('@', '/').replace('+', '-')}/remote.js`;
    const secret = 'niexiaoqian';
    const said = fc.constantFrom(secret, `聂小倩 ${secret}`, `?invite=${secret}`, `'${secret}'`, `\n${secret}`);
    const reports = fc.record({
      build: fc.oneof(
        { weight: 4, arbitrary: fc.constant(build) },
        said.map((words) => build + words),
      ),
      kind: fc.constantFrom('uncaught', 'rejection'),
      name: fc.oneof({ weight: 3, arbitrary: fc.constant('TypeError') }, said),
      message: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('Failed to fetch', null) },
        said.map((words) => `Failed to fetch ${words}`),
        said.map((words) => `Unexpected token in ${words}`),
      ),
      frames: fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.nat(99).map((line) => `${frame}:${line}:1`) },
          said.map((words) => `${frame}${words}:1:1`),
        ),
        { maxLength: 3 },
      ),
      route: fc.oneof(
        { weight: 3, arbitrary: fc.constant('/story/:id') },
        said.map((words) => `/story/${words}`),
      ),
      words: said,
    });
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(reports, async ({ words, ...made }) => {
        sent += 1;
        const answer = await fetch(`${origin}/beacon?to=${secret}`, {
          method: 'POST',
          headers: {
            origin,
            cookie: `lz_visitor=${sent.toString(16).padStart(32, '0')}; name=${secret}`,
            'content-type': 'application/json',
            'user-agent': `Mozilla/5.0 ${secret} Version/17.4 Safari/604.1`,
            referer: `${origin}/explore?q=${secret}`,
            'x-forwarded-for': `203.0.113.${sent}`,
          },
          body: JSON.stringify({ failed: [{ ...made, user: words, extra: { words } }] }),
        });
        expect([204, 422]).toContain(answer.status);
      }),
      { numRuns: 60 },
    );
    const marker = report({ build, name: 'RangeError' });
    await fetch(`${origin}/beacon`, {
      method: 'POST',
      headers: { origin, cookie: `lz_visitor=${'b'.repeat(32)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ failed: [marker] }),
    });
    await expect.poll(() => received.some(({ body }) => body.includes('RangeError'))).toBe(true);
    expect(received.length).toBeGreaterThan(1);
    const left = JSON.stringify(received);
    expect(left).not.toMatch(/niexiaoqian|聂小倩|203\.0\.113|Mozilla|lz_visitor|\?/);
    for (const envelope of received) expect(eventIn(envelope)).not.toHaveProperty('user');
  } finally {
    product.close();
  }
});

test.each([
  ['Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 7],
  ['no named wait', { status: 429 }, 60],
  [
    'limits of several categories',
    { status: 429, headers: { 'x-sentry-rate-limits': '90:session:key, 8:error;default:project' } },
    8,
  ],
  ['Retry-After of an hour', { status: 503, headers: { 'retry-after': '3600' } }, 3600],
])('after %s the same event is sent again', async (_, answer, seconds) => {
  answers = [answer];
  const { forward, waits } = openForward();
  forward([report()], 'Safari 17');
  await count(2);
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(seconds * 1000);
  expect(waits[0]).toBeLessThanOrEqual(seconds * 1100);
  expect(received.map(eventIn).map(({ release }) => release)).toEqual([report().build, report().build]);
});

test('a rate limit in an accepting response delays the next event', async () => {
  answers = [{ status: 200, headers: { 'x-sentry-rate-limits': '20::organization' } }];
  const { forward, waits, lines } = openForward();
  forward([report(), report()], 'Firefox 140');
  await count(2);
  expect(waits[0]).toBeGreaterThanOrEqual(20_000);
  expect(lines).toEqual([]);
});

test('an event that is refused as malformed is dropped, and the next one is sent', async () => {
  answers = [{ status: 400 }];
  const { forward, waits } = openForward();
  forward([report(), report({ name: 'RangeError' })], 'other');
  await count(2);
  expect(waits).toEqual([]);
  expect(eventIn(received[1] as Received).exception.values[0].type).toBe('RangeError');
});

test('an unreachable Sentry costs one log line a minute and bounded memory, and does not delay reports', async () => {
  const { forward, waits, lines } = openForward(1);
  await new Promise((resolve) => sentry.close(resolve));
  forward([report()], 'Chrome 140');
  await expect.poll(() => waits.length).toBe(1);
  const line = { problem: 'ECONNREFUSED', waiting: 1, dropped: 0 };
  expect(lines).toEqual([line]);
  for (let n = 0; n < 1000; n += 1) forward([report()], 'Chrome 140');
  expect(lines).toEqual([line]);
  expect(waits).toHaveLength(1);
});

test('events beyond the limit per minute are dropped, and the log states it', async () => {
  const { forward, lines } = openForward();
  for (let n = 0; n < 61; n += 1) forward([report()], 'Chrome 140');
  expect(lines).toEqual([{ problem: 'too many', waiting: 60, dropped: 1 }]);
  await count(60);
});
