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

/** Many votes of as many visitors, more than a network has in two minutes. */
const votesOfMany = (at: string, more: (index: number) => Record<string, string>) =>
  Promise.all(
    Array.from({ length: 130 }, (_, index) =>
      beacon(at, { cookie: `lz_visitor=${index.toString(16).padStart(32, '0')}`, ...more(index) }),
    ),
  );

test('the beacon takes votes of this origin, from who has seen a page, and nothing else', async () => {
  const page = await fetch(`${origin}/explore`);
  const cookie = /lz_visitor=[0-9a-f]{32}/.exec(page.headers.get('set-cookie') ?? '')?.[0] ?? '';
  expect(await beacon(origin, { cookie })).toBe(204);
  expect(await beacon(origin, {})).toBe(403);
  expect(await beacon(origin, { cookie, origin: 'https://evil.example' })).toBe(403);
  expect(await beacon(origin, { cookie }, { nonsense: true })).toBe(422);
  expect(await beacon(origin, { cookie }, { build: 'x'.repeat(5000) })).toBe(413);
});

test('who makes up visitors and addresses has no more votes than one network has', async () => {
  expect(await votesOfMany(origin, (index) => ({ 'x-forwarded-for': `203.0.113.${index}` }))).toContain(429);
  expect(
    await votesOfMany(behindProxy, (index) => ({ 'x-forwarded-for': `${index}.0.0.1, 2001:db8:0:1::${index + 1}` })),
  ).toContain(429);
});

test('visitors behind a proxy of ours are counted by their own address', async () => {
  const votes = await votesOfMany(behindProxy, (index) => ({ 'x-forwarded-for': `6.6.6.6, 203.0.113.${index}` }));
  expect(new Set(votes)).toEqual(new Set([204]));
});
