import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { openTestProduct } from './testing/testProduct.ts';

let product: Awaited<ReturnType<typeof openTestProduct>>;
let origin = '';
let behindProxy = '';

beforeAll(async () => {
  product = await openTestProduct();
  origin = await product.serve();
  behindProxy = await product.serve({ TRUST_PROXY: 'true' });
});

afterAll(() => product.close());

const vote = { build: 'stories@1.0.0+0', set: 'abc', candidate: false, outcome: 'loaded' };

const beacon = async (at: string, headers: Record<string, string>, body: unknown = vote) => {
  const all = { origin: at, 'content-type': 'application/json', ...headers };
  return (await fetch(`${at}/beacon`, { method: 'POST', headers: all, body: JSON.stringify(body) })).status;
};

/** Sends votes of 130 visitors, more than one network may send in two minutes. */
const votesOfMany = (at: string, more: (index: number) => Record<string, string>) =>
  Promise.all(
    Array.from({ length: 130 }, (_, index) =>
      beacon(at, { cookie: `lz_visitor=${index.toString(16).padStart(32, '0')}`, ...more(index) }),
    ),
  );

test('the beacon accepts only votes from this origin, by visitors who have loaded a page', async () => {
  const page = await fetch(`${origin}/explore`);
  const cookie = /lz_visitor=[0-9a-f]{32}/.exec(page.headers.get('set-cookie') ?? '')?.[0] ?? '';
  expect(await beacon(origin, { cookie })).toBe(204);
  expect(await beacon(origin, {})).toBe(403);
  expect(await beacon(origin, { cookie, origin: 'https://evil.example' })).toBe(403);
  expect(await beacon(origin, { cookie }, { nonsense: true })).toBe(422);
  expect(await beacon(origin, { cookie }, { build: 'x'.repeat(9000) })).toBe(413);
});

test('ops.problem: the code shown for a failed remote is in the log', async () => {
  const problem = '3f9c1a7b-0000-4000-8000-000000000000';
  const failed = { ...vote, outcome: 'failed', failure: 'hang', problem };
  expect(await beacon(origin, { cookie: `lz_visitor=${'a'.repeat(32)}` }, failed)).toBe(204);
  const entry = product.logEntries.find((each) => each.problem === problem);
  expect(entry).toMatchObject({ level: 'warn', requestId: expect.any(String), build: vote.build, failure: 'hang' });
});

test('forged visitors and addresses do not exceed the votes of one network', async () => {
  expect(await votesOfMany(origin, (index) => ({ 'x-forwarded-for': `203.0.113.${index}` }))).toContain(429);
  expect(
    await votesOfMany(behindProxy, (index) => ({ 'x-forwarded-for': `${index}.0.0.1, 2001:db8:0:1::${index + 1}` })),
  ).toContain(429);
});

test('visitors behind a trusted proxy are counted by their own address', async () => {
  const votes = await votesOfMany(behindProxy, (index) => ({ 'x-forwarded-for': `6.6.6.6, 203.0.113.${index}` }));
  expect(new Set(votes)).toEqual(new Set([204]));
});

/** Output of `pnpm release` on the product's store. */
async function release(...words: string[]): Promise<string> {
  await product.written();
  const all = ['host/server/run.mjs', 'releases/cli/main.ts', '--store', product.store, ...words];
  return (await promisify(execFile)(process.execPath, all)).stdout;
}

/** Everything in the health record. */
function recorded(): string {
  const folder = join(fileURLToPath(new URL(product.store)), 'health');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('');
}

const visitorCookie = (index: number) => ({ cookie: `lz_visitor=${index.toString(16).padStart(32, '0')}` });

test('vitals of a build appear in the release status, once a day per visitor', async () => {
  const at = await product.serve({ VITALS_SAMPLE: '0.25' });
  const page = await (await fetch(`${at}/explore`)).text();
  expect(page).toContain('"vitals":{"sample":0.25}');
  const build = /stories@[\w.+-]+/.exec(page)?.[0] ?? '';
  const report = (value: number) => ({
    vitals: [
      { build, metric: 'lcp', value, cache: 'warm' },
      { build: 'stories@9.9.9+ffffffffffff', metric: 'lcp', value, cache: 'warm' },
    ],
  });
  expect(await beacon(at, visitorCookie(0), report(2000))).toBe(204);
  expect(await release('status', '--all')).toMatch(/LCP +stable .*too few to say +1 page\b/);
  for (let visitor = 1; visitor < 25; visitor += 1)
    expect(await beacon(at, visitorCookie(visitor), report(2000))).toBe(204);
  for (let again = 0; again < 20; again += 1) expect(await beacon(at, visitorCookie(3), report(9000))).toBe(204);
  // 26 if a day ends meanwhile
  const felt = await release('status', '--all');
  expect(felt).toMatch(/What visitors of stories felt[\s\S]*LCP +stable +·{11}█ +p75 (2\.0\d|1\.9\d) s +2[56] pages/);
  expect(recorded()).toContain(build);
  expect(recorded()).not.toContain('9.9.9');
  expect(recorded()).not.toContain(visitorCookie(3).cookie.slice(-32));
});

const thrown = { build: 'b', kind: 'uncaught', name: 'TypeError', message: null, frames: [], route: '/story/:id' };

test('an error in a build’s code appears in the release status with its share of visitors, browsers and screens', async () => {
  const at = await product.serve();
  const page = await (await fetch(`${at}/explore`)).text();
  const build = /stories@[\w.+-]+/.exec(page)?.[0] ?? '';
  const safari =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1';
  const frame = build.replace('@', '/').replace('+', '-');
  const failed = [{ ...thrown, build, frames: [`${frame}/static/js/nowhere.js:1:20`] }];
  const foreign = [
    { ...thrown, build: 'stories@9.9.9+ffffffffffff' },
    { ...thrown, build, route: '/no/such' },
  ];
  for (let visitor = 40; visitor < 80; visitor += 1) {
    expect(await beacon(at, visitorCookie(visitor), { ...vote, build })).toBe(204);
    if (visitor < 44) {
      const headers = { ...visitorCookie(visitor), 'user-agent': safari };
      for (const report of [failed, failed, foreign]) expect(await beacon(at, headers, { failed: report })).toBe(204);
    }
  }
  expect(await release('health')).toMatch(
    /^stories \S+: \d+\.\d % of visitors, all Safari 17, on \/story\/:id, TypeError in nowhere\.js:1:20, since \d\d:\d\d$/m,
  );
  expect(recorded()).not.toMatch(/iPhone|9\.9\.9|no\/such/);
});

test.each([
  ['of a measure that does not exist', { vitals: [{ ...vote, metric: 'fps', value: 1, cache: 'warm' }] }],
  ['of a value that cannot be', { vitals: [{ ...vote, metric: 'lcp', value: -1, cache: 'warm' }] }],
  ['of more errors than a page has', { failed: Array(11).fill(thrown) }],
  ["with a reader's words for a message", { failed: [{ ...thrown, message: 'no story called 聂小倩' }] }],
  ['with more than the class of a message', { failed: [{ ...thrown, message: 'Load failed for 聂小倩' }] }],
  ['with an address in place of a pattern', { failed: [{ ...thrown, route: '/story/12?invite=secret' }] }],
  ['with a frame outside of the builds', { failed: [{ ...thrown, frames: ['stories/../../keys/a.js:1:1'] }] }],
  ['with parameters in a frame', { failed: [{ ...thrown, frames: ['stories/1.0.0-0/a.js?token=s3cret:1:1'] }] }],
])('a report %s is refused', async (_, report) => {
  expect(await beacon(await product.serve(), visitorCookie(0), report)).toBe(422);
});
