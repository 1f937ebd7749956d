import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { refused } from '../../src/errors.ts';
import type { GateCheck } from '../../src/gate/gate.ts';
import { candidatesOf } from '../../src/model/channel.ts';
import { canary } from '../../src/operations/switching.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { openGate, openTestStore, type TestStore } from '../../src/testing/openTestStore.ts';
import { createApi } from './api.ts';
import { ConsoleContext } from './ConsoleContext.ts';

let at: TestStore;
let api: ReturnType<typeof createApi>;
let stories: string;
let storiesNext: string;
/** Runs after the permission check of a request and before the change. */
let meanwhile: () => Promise<GateCheck | null>;

beforeEach(async () => {
  at = await openTestStore();
  stories = await at.remote('stories');
  storiesNext = await at.remote('stories', '1.1.0');
  await at.activate(await at.host(), stories, await at.remote('chat'));
  const { store, key, writer } = at;
  const options = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: () => meanwhile() };
  api = createApi(new ConsoleContext(options));
});
afterEach(() => at.remove());

const tokenFor = async (grant: string) =>
  (await createToken(at.store, at.key, { grant, label: grant, by: 'test', days: null })).token;

const post = async (token: string, verb: string, body: unknown) =>
  api.request(`/${verb}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('in an incident', () => {
  test('rollback, abort and kill need no Chromium, though the smoke is required; a switch forward does', async () => {
    meanwhile = () => Promise.reject(refused('there is no Chromium for the headless smoke'));
    const manager = await tokenFor('manager');
    await at.activate(storiesNext);
    expect((await post(manager, 'rollback', { name: 'stories' })).status).toBe(200);
    await canary(at.writer, [storiesNext], 10, { gate: openGate });
    expect((await post(manager, 'abort', {})).status).toBe(200);
    expect((await post(manager, 'kill', { build: storiesNext })).status).toBe(200);
    expect((await post(manager, 'activate', { builds: [await at.remote('chat', '1.1.0')] })).status).toBe(422);
  });

  test('guesses of tokens lock out no holder of a valid one at the same address', async () => {
    const manager = await tokenFor('manager');
    const guess = () => api.request('/status', { headers: { authorization: 'Bearer x' } });
    for (let n = 0; n < 40; n += 1) await guess();
    expect((await guess()).status).toBe(429);
    expect((await api.request('/status', { headers: { authorization: `Bearer ${manager}` } })).status).toBe(200);
  });
});

test("a deployer's right is judged again for the state its change comes to", async () => {
  await canary(at.writer, [storiesNext], 10, { gate: openGate });
  const chatNext = await at.remote('chat', '1.1.0');
  meanwhile = async () => {
    await canary(at.writer, [storiesNext, chatNext], 10, { gate: openGate });
    return null;
  };
  const answer = await post(await tokenFor('deployer:stories'), 'promote', {});
  expect(answer.status).toBe(403);
  expect((await at.current()).stable?.builds).not.toContain(chatNext);
});

describe('teams that act at the same moment', () => {
  const TEAMS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  let smokes = 0;
  beforeEach(() => {
    smokes = 0;
    const run = async () => {
      smokes += 1;
      // long enough for every other team's request to be under way
      await new Promise((resolve) => setTimeout(resolve, 50));
      return [];
    };
    meanwhile = async () => ({ name: 'headless smoke', run });
  });

  test('all get through, each judged once over those before it', async () => {
    const builds = await Promise.all(TEAMS.map((name) => at.remote(name)));
    const { seq } = await at.current();
    const tokens = await Promise.all(TEAMS.map((name) => tokenFor(`deployer:${name}`)));
    const answers = await Promise.all(
      tokens.map((token, n) => post(token, 'activate', { builds: [builds[n]], why: 'at once' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(TEAMS.map(() => 200));
    const { stable, seq: after } = await at.current();
    expect(stable?.builds).toEqual(expect.arrayContaining(builds));
    expect(after).toBe(seq + TEAMS.length);
    expect(smokes).toBe(TEAMS.length);
  });

  test('have a candidate each, and end or promote their own', async () => {
    await at.activate(...(await Promise.all(TEAMS.map((name) => at.remote(name)))));
    const next = await Promise.all(TEAMS.map((name) => at.remote(name, '1.1.0')));
    const tokens = await Promise.all(TEAMS.map((name) => tokenFor(`deployer:${name}`)));
    const begun = await Promise.all(tokens.map((token, n) => post(token, 'canary', { builds: [next[n]], percent: 5 })));
    expect(begun.map(({ status }) => status)).toEqual(TEAMS.map(() => 200));
    expect(candidatesOf(await at.current())).toHaveLength(TEAMS.length);
    const ramped = await Promise.all(tokens.map((token) => post(token, 'canary', { percent: 25 })));
    expect(ramped.map(({ status }) => status)).toEqual(TEAMS.map(() => 200));
    expect(candidatesOf(await at.current()).map(({ percent }) => percent)).toEqual(TEAMS.map(() => 25));
    const [first = '', second = ''] = tokens;
    expect((await post(first, 'promote', {})).status).toBe(200);
    expect((await post(second, 'abort', {})).status).toBe(200);
    expect((await post(second, 'abort', { name: 'c' })).status).toBe(403);
    const { stable } = await at.current();
    expect(stable?.builds).toContain(next[0]);
    expect(stable?.builds).not.toContain(next[1]);
    const left = candidatesOf(await at.current()).flatMap(({ builds }) => builds);
    // in order of arrival
    expect(left.sort()).toEqual(next.slice(2));
  });
});

test('browser checks run one at a time, and nobody can fill the row', async () => {
  let open = 0;
  const seen: number[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run = async () => {
    open += 1;
    seen.push(open);
    await held;
    open -= 1;
    return [];
  };
  meanwhile = async () => ({ name: 'headless smoke', run });
  const check = async (token: string) => (await post(token, 'check', { builds: [storiesNext] })).json();
  const [publisher, manager] = [await tokenFor('publisher:stories'), await tokenFor('manager')];
  const asked = [1, 2, 3, 4].map(() => check(publisher));
  expect(JSON.stringify(await Promise.race(asked))).toContain('3 checks and switches of yours');
  const other = check(manager);
  release();
  const answers = [...(await Promise.all(asked)), await other].map((answer) => JSON.stringify(answer));
  expect(answers.filter((answer) => answer.includes('of yours'))).toHaveLength(1);
  expect(seen).toEqual([1, 1, 1, 1]);
});
