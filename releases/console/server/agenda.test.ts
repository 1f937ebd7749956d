import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { API_HEADER, messageOf } from '../../src/errors.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { openTestStore, type TestStore } from '../../src/testing/openTestStore.ts';
import { recordVisits } from '../../src/testing/visits.ts';
import { createApi } from './api.ts';
import { ConsoleContext } from './ConsoleContext.ts';
import { Lease, stepOnce } from './startConsole.ts';

const GRANTS = ['viewer', 'deployer:stories', 'deployer:chat', 'manager'] as const;
type Grant = (typeof GRANTS)[number];

let at: TestStore;
let context: ConsoleContext;
let api: ReturnType<typeof createApi>;
let tokens: Record<string, string>;
let next: string;

beforeEach(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'));
  next = await at.remote('stories', '1.1.0');
  const { store, key, writer } = at;
  context = new ConsoleContext({
    store,
    catalog: writer.catalog,
    key,
    channel: 'production',
    smokeFor: async () => null,
  });
  api = createApi(context);
  tokens = {};
  for (const grant of GRANTS)
    tokens[grant] = (await createToken(store, key, { grant, label: grant, by: 'test', days: null })).token;
});
afterEach(() => at.remove());

async function ask(
  grant: Grant,
  path: string,
  body?: object,
  level = '2',
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await api.request(`/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${tokens[grant]}`, 'content-type': 'application/json', [API_HEADER]: level },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

const agenda = async () => (await ask('viewer', 'status')).answer.agenda;
const plan = { builds: ['stories@1.1.0'], steps: '5@now,25@1h' };
const window = { kind: 'weekly', from: 0, to: 7 * 24 * 60 - 1, zone: 'UTC' };

test.each([
  ['approve', 'no proposal', 'proposals'],
  ['reject', 'no proposal', 'proposals'],
  ['retract', 'no proposal', 'proposals'],
  ['unfreeze', 'no freeze window', 'freeze list'],
  ['webhook-remove', 'no webhook', 'webhook list'],
  ['webhook-test', 'no webhook', 'webhook list'],
])('%s of an unknown id names the cure, in any form of the id', async (verb, message, cure) => {
  for (const id of ['x', '02f7b02a', 'https://bot.example/hook', '八个字的名字啊啊']) {
    const { status, answer } = await ask('manager', verb, { id });
    expect([status, answer.message, answer.cure]).toEqual([
      422,
      `there is ${message} ${id}`,
      expect.stringContaining(`\`${cure}\``),
    ]);
  }
});

describe('schedules over HTTP', () => {
  test('are executed as long as a console runs, although the one that is asked is four minutes ahead', async () => {
    expect((await ask('manager', 'schedule', plan)).status).toBe(200);
    context.writer = (of, who, asked) => ({ ...at.withClock(240_000), channel: of, who, ...asked });
    expect(await agenda()).toMatchObject({ watched: false });
    await new Lease(at.store, 'steps').hold();
    expect(await agenda()).toMatchObject({ watched: true });
    // the page uses the store's time, even if this machine's clock is wrong
    context.writer = (of, who, asked) => ({ ...at.withClock(24 * 3_600_000), channel: of, who, ...asked });
    const { now } = (await ask('viewer', 'status')).answer;
    expect(Math.abs(Date.parse(String(now)) - Date.now())).toBeLessThan(3_600_000);
  });

  test('belong to the remote that a token is for, and are seen by everyone', async () => {
    for (const grant of ['viewer', 'deployer:chat'] as const)
      expect((await ask(grant, 'schedule', plan)).status).toBe(403);
    expect((await ask('deployer:stories', 'schedule', plan)).status).toBe(200);
    const shown = { schedules: [{ name: 'stories', taken: 1, next: { percent: 25 }, paused: null }], watched: false };
    expect(await agenda()).toMatchObject(shown);
    expect((await ask('deployer:chat', 'pause', { name: 'stories' })).status).toBe(403);
    expect((await ask('deployer:stories', 'pause', { why: 'lunch' })).status).toBe(200);
    expect(await agenda()).toMatchObject({
      schedules: [{ paused: { by: expect.stringContaining('deployer:stories') } }],
    });
    expect((await ask('deployer:stories', 'continue', {})).status).toBe(200);
    expect((await ask('manager', 'cancel', { name: 'stories' })).status).toBe(200);
    expect(await agenda()).toMatchObject({ schedules: [] });
  });

  test('are refused with a cure where they are wrong', async () => {
    const wrong = await ask('manager', 'schedule', { ...plan, steps: '25@now,5@1h' });
    expect(wrong).toMatchObject({ status: 400, answer: { cure: expect.stringContaining('5@now,25@1h,100@4h') } });
    expect((await ask('manager', 'schedule', { ...plan, steps: [] })).status).toBe(400);
    expect((await ask('manager', 'pause', {})).status).toBe(422);
    expect((await ask('manager', 'schedule', { ...plan, seq: 1 })).status).toBe(409);
  });

  test('go on by a console that runs; of two one acts, and a channel that fails keeps no other back', async () => {
    await ask('manager', 'schedule', { ...plan, steps: '5@now,100@1m' });
    await recordVisits(at, { tried: [40, 0], control: [40, 0] });
    // the minute has passed
    context.writer = (of, who, asked) => ({ ...at.after(120_000), channel: of, who, ...asked });
    await at.store.swapPointer('channels/damaged.json', '{"not": "a channel"}', null);
    const problems: string[] = [];
    const [first, second] = [new Lease(at.store, 'steps'), new Lease(at.store, 'steps')];
    const round = (lease: Lease) => stepOnce(context, lease, (cause) => problems.push(messageOf(cause)));
    await round(first);
    expect((await at.current()).stable?.builds).toContain(next);
    expect((await at.current()).action).toMatchObject({ verb: 'promote', who: expect.stringContaining('manager') });
    expect(problems).toEqual([]);
    const { seq } = await at.current();
    await round(second);
    expect((await at.current()).seq).toBe(seq);
    expect(await agenda()).toMatchObject({ schedules: [], watched: true });
  });
});

test('a step whose gate takes long leaves its lease to nobody', async () => {
  const until = async () =>
    Number(/"until":(\d+)/.exec((await at.store.readPointer('leases/steps.json'))?.body ?? '')?.[1]);
  await ask('manager', 'schedule', { ...plan, steps: '5@now,100@1m' });
  await recordVisits(at, { tried: [40, 0], control: [40, 0] });
  const isHeld: boolean[] = [];
  const slow = new ConsoleContext({
    ...context.options,
    smokeFor: async () => {
      const taken = await until();
      await expect.poll(until, { timeout: 10_000 }).toBeGreaterThan(taken);
      isHeld.push(!(await new Lease(at.store, 'steps', 2000).hold()));
      return null;
    },
  });
  slow.writer = (of, who, asked) => ({ ...at.after(120_000), channel: of, who, ...asked });
  await stepOnce(slow, new Lease(at.store, 'steps', 2000), (cause) => Promise.reject(cause));
  expect((await at.current()).stable?.builds).toContain(next);
  expect(isHeld).toContain(true);
});

test('webhooks over HTTP are for a manager, show their secret once, and are seen with what fails', async () => {
  const body = { url: 'https://chat.example/hooks/secret' };
  expect((await ask('deployer:stories', 'webhook', body)).status).toBe(403);
  expect((await ask('manager', 'webhook', { url: 'https://10.0.0.1/' })).status).toBe(422);
  const { answer } = await ask('manager', 'webhook', body);
  expect(answer.secret).toMatch(/^whsec_/);
  const { id } = answer.webhook as { id: string };
  const shown = await agenda();
  expect(shown).toMatchObject({ webhooks: [{ id, shown: 'https://chat.example/…', attempts: 0 }] });
  expect(JSON.stringify(shown)).not.toMatch(/whsec_|hooks\/secret/);
  expect((await ask('deployer:stories', 'webhook-remove', { id })).status).toBe(403);
  expect((await ask('manager', 'webhook-test', { id: 'ffffffffffff' })).status).toBe(422);
  expect((await ask('manager', 'webhook-remove', { id, why: 'moved' })).status).toBe(200);
  expect((await ask('manager', 'log?limit=1')).answer).toMatchObject([
    { verb: 'webhook', why: 'moved', action: { evidence: [{ change: 'removed', address: 'https://chat.example/…' }] } },
  ]);
});

describe('freeze windows over HTTP', () => {
  test('are for a manager to set, and so is going through one', async () => {
    expect((await ask('deployer:stories', 'freeze', { window, why: 'fair' })).status).toBe(403);
    expect((await ask('manager', 'freeze', { window })).status).toBe(400);
    const { status, answer } = await ask('manager', 'freeze', { window, why: 'fair' });
    expect(status).toBe(200);
    const activate = { builds: ['stories@1.1.0'] };
    expect(await ask('deployer:stories', 'activate', activate)).toMatchObject({
      status: 422,
      answer: { message: expect.stringContaining('fair'), cure: expect.stringContaining('--despite-freeze') },
    });
    expect((await ask('deployer:stories', 'activate', { ...activate, despiteFreeze: 'urgent' })).status).toBe(403);
    expect((await ask('manager', 'activate', { ...activate, despiteFreeze: 'urgent' })).status).toBe(200);
    expect((await ask('deployer:stories', 'rollback', { name: 'stories' })).status).toBe(200);
    expect(await agenda()).toMatchObject({ frozen: { reason: 'fair' }, freezes: [{ open: true }] });
    expect((await ask('deployer:stories', 'unfreeze', { id: answer.id })).status).toBe(403);
    expect((await ask('manager', 'unfreeze', { id: answer.id })).status).toBe(200);
    expect(await agenda()).toMatchObject({ frozen: null, freezes: [] });
  });
});

describe('two-person approval over HTTP', () => {
  const activate = { builds: ['stories@1.1.0'], why: 'new feed' };
  /** Creates a token for the same or another person. */
  const hand = async (grant: string, label: string, person?: string) => {
    const made = await createToken(at.store, at.key, { grant, label, by: 'test', days: null, person });
    tokens[label] = made.token;
    return label as Grant;
  };
  const propose = async (grant: Grant = 'deployer:stories') => {
    const { status, answer } = await ask(grant, 'activate', activate);
    expect(status).toBe(202);
    return (answer.proposal as { id: string }).id;
  };
  const live = async () => (await at.current()).stable?.builds ?? [];

  beforeEach(async () => {
    expect((await ask('deployer:stories', 'approval', { hours: 24 })).status).toBe(403);
    expect((await ask('manager', 'approval', { hours: 24, why: 'four eyes' })).status).toBe(200);
  });

  test('a deployer proposes, another manager approves, and a person without that right sees why', async () => {
    const id = await propose();
    expect(await live()).not.toContain(next);
    expect(await agenda()).toMatchObject({ approval: { hours: 24 }, proposals: [{ id, own: false, outdated: false }] });
    expect((await ask('deployer:stories', 'status')).answer.agenda).toMatchObject({ proposals: [{ own: true }] });
    for (const grant of ['viewer', 'deployer:chat', 'deployer:stories'] as const)
      expect(await ask(grant, 'approve', { id })).toMatchObject({
        status: 403,
        answer: { cure: expect.stringContaining('manager') },
      });
    expect(await ask('deployer:stories', 'reject', { id })).toMatchObject({
      status: 403,
      answer: { cure: expect.stringContaining('retract') },
    });
    expect((await ask('deployer:chat', 'retract', { id })).status).toBe(403);
    expect((await ask('manager', 'approve', { id: 'ffffffff' })).status).toBe(422);
    expect((await ask('manager', 'approve', { id, why: 'looked' })).status).toBe(200);
    expect(await live()).toContain(next);
    expect((await ask('manager', 'approve', { id })).status).toBe(422);
    expect((await ask('viewer', 'log?limit=2')).answer).toMatchObject([
      { verb: 'proposal', who: expect.stringContaining('manager'), why: 'looked' },
      { verb: 'activate', who: expect.stringContaining('manager'), why: 'new feed' },
    ]);
  });

  test('a person with two tokens is one person, and a token of nobody decides nothing', async () => {
    const phone = await hand('manager', 'phone', 'Li Hua');
    const laptop = await hand('manager', 'laptop', 'li hua');
    const nobody = await hand('manager', '');
    const id = await propose(phone);
    expect(await ask(laptop, 'approve', { id })).toMatchObject({
      status: 403,
      answer: { message: expect.stringContaining('your own') },
    });
    expect(await ask(nobody, 'approve', { id })).toMatchObject({
      status: 403,
      answer: { cure: expect.stringContaining('--person') },
    });
    expect((await ask(laptop, 'retract', { id })).status).toBe(200);
    expect(await agenda()).toMatchObject({ proposals: [] });
  });

  test('of two approvals at the same moment one counts, and the other learns that it is done', async () => {
    const second = await hand('manager', 'second manager');
    const id = await propose();
    const { seq } = await at.current();
    const ends = await Promise.all((['manager', second] as const).map((grant) => ask(grant, 'approve', { id })));
    expect(ends.map(({ status }) => status).sort()[0]).toBe(200);
    expect([409, 422]).toContain(Math.max(...ends.map(({ status }) => status)));
    expect((await at.current()).seq).toBe(seq + 2);
  });

  test('a client that knows no proposals receives no success, and nothing is lost', async () => {
    for (const level of ['', '1']) {
      const { status, answer } = await ask('deployer:stories', 'activate', { ...activate, why: level }, level);
      expect(status).toBe(422);
      expect(answer).toMatchObject({
        message: expect.stringMatching(/two persons decide|was proposed by/),
        cure: expect.stringMatching(/update this command line|approve/),
      });
    }
    expect(await live()).not.toContain(next);
    const { proposals } = (await agenda()) as { proposals: { id: string }[] };
    expect(proposals).toHaveLength(1);
    expect((await ask('manager', 'approve', { id: proposals[0]?.id }, '')).status).toBe(200);
    expect(await live()).toContain(next);
  });

  test('ways back take effect immediately, and turning the rule off waits', async () => {
    await ask('manager', 'approve', { id: await propose() });
    expect((await ask('deployer:stories', 'rollback', { name: 'stories' })).status).toBe(200);
    const { status, answer } = await ask('manager', 'approval', { hours: null });
    expect(status).toBe(202);
    const { id } = answer.proposal as { id: string };
    expect((await ask('manager', 'approve', { id })).status).toBe(403);
    expect((await ask(await hand('manager', 'second manager'), 'approve', { id })).status).toBe(200);
    expect((await ask('deployer:stories', 'activate', activate)).status).toBe(200);
  });
});
