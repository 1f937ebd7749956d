import { CONTRACT_VERSION, type PageSet } from '@liaozhai/shared/contract';
import { request } from '@liaozhai/shared/runtime';
import { onTestEnd, waitFor } from '@liaozhai/shared/testing';
import { resetFederationGlobalInfo } from '@module-federation/runtime/core';
import { assert, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { useState } from 'react';
import { beacons, testSet } from '../testing/pageFixture';
import { AssetError, type AssetFailure, type AssetLoader } from './assetLoader';
import { RemoteError } from './remoteError';
import { createRemotes } from './remotes';

const [current, lastGood] = ['gifts@2.0.0+000000000000', 'gifts@1.0.0+000000000000'];
const entries = { current: '/builds/gifts/2.0.0/remoteEntry.js', lastGood: '/builds/gifts/1.0.0/remoteEntry.js' };

/** What the server has for an entry. */
interface Served {
  /** loading the script fails */
  failure?: AssetFailure;
  container?: { init: (scope: unknown) => unknown; get: () => Promise<(() => unknown) | undefined> };
}

const sound = (contract = `^${CONTRACT_VERSION}`) => ({
  init: () => undefined,
  get: async () => () => ({ default: { name: 'gifts', contract, routes: [], slots: [] } }),
});
const failing = (get: () => Promise<(() => unknown) | undefined>): Served => ({
  container: { init: () => undefined, get },
});
const chunkError = (type: string) =>
  Object.assign(new Error('Loading chunk 1 failed.'), { type, request: '/chunk.js' });

/** Opens the remotes of a page whose entries leave these containers. */
function open(served: Partial<Record<keyof typeof entries, Served>>, set: PageSet = testSet) {
  const cancelled: string[] = [];
  const assetLoader: AssetLoader = {
    async script(url) {
      const which = url.endsWith(entries.lastGood) ? 'lastGood' : 'current';
      const { failure, container } = served[which] ?? { failure: 'gone' };
      if (failure) throw new AssetError(failure, url);
      Object.assign(globalThis, { [which === 'current' ? 'gifts_2.0.0' : 'gifts_1.0.0']: container });
    },
    style: async () => undefined,
    onLate: () => () => undefined,
  };
  const prefetcher = {
    prefetch: async () => undefined,
    prioritise: () => () => undefined,
    cancel: (entry: string) => void cancelled.push(entry),
  };
  return { remotes: createRemotes(set, assetLoader, prefetcher), cancelled };
}

test('a container receives what the host shares, once, however often its remote is requested', async () => {
  const given: unknown[] = [];
  const container = { ...sound(), init: (scope: unknown) => void given.push(scope) };
  const { remotes } = open({ current: { container } });
  await Promise.all([remotes.load('gifts'), remotes.load('gifts')]);
  await remotes.load('gifts');
  expect(given).toHaveLength(1);
  const scope = given[0] as Record<string, Record<string, { lib: () => { useState?: unknown; request?: unknown } }>>;
  const libOf = (name: string) => Object.values(scope[name] ?? {})[0]?.lib();
  expect(Object.keys(scope).sort()).toEqual(['@liaozhai/shared/runtime', 'react', 'react-dom', 'react/jsx-runtime']);
  expect(libOf('react')?.useState).toBe(useState);
  expect(libOf('@liaozhai/shared/runtime')?.request).toBe(request);
});

/** The reports of this page, in the order they were sent. */
const votes = () => beacons.map((beacon) => JSON.parse(beacon.slice(beacon.indexOf('{'))));

beforeEach(() => {
  beacons.length = 0;
  resetFederationGlobalInfo();
  for (const global of ['gifts_2.0.0', 'gifts_1.0.0']) Reflect.deleteProperty(globalThis, global);
});

describe('a failure says its kind to the pane and to the origin:', () => {
  test.each<[string, Served, string]>([
    ['no answer', { failure: 'unreachable' }, 'unreachable'],
    ['not there', { failure: 'gone' }, 'unreachable'],
    ['too slow', { failure: 'timeout' }, 'hang'],
    ['other bytes', { failure: 'corrupt' }, 'integrity'],
    ['not in the set', { failure: 'unlisted' }, 'integrity'],
    ['an entry that throws', {}, 'entry-threw'],
    [
      'a container that does not start',
      { container: { ...sound(), init: () => Promise.reject(new Error('timeout')) } },
      'init-threw',
    ],
    [
      'no such module',
      failing(() => Promise.reject(new Error('Module "./remote" does not exist in container.'))),
      'module-missing',
    ],
    ['nothing in its place', failing(async () => undefined), 'module-missing'],
    ['its chunk lost', failing(() => Promise.reject(chunkError('gone'))), 'chunk-lost'],
    ['its chunk too slow', failing(() => Promise.reject(chunkError('timeout'))), 'hang'],
    ['its chunk with other bytes', failing(() => Promise.reject(chunkError('corrupt'))), 'integrity'],
    [
      'a module that throws',
      failing(async () => () => {
        throw new Error('ChunkLoadError: timeout');
      }),
      'init-threw',
    ],
    ['a contract of another host', { container: sound('^1.0.0') }, 'contract'],
    ['no contract', failing(async () => () => ({ default: { name: 'gifts', routes: [] } })), 'contract'],
    [
      'a contract that is a number',
      failing(async () => () => ({ default: { name: 'gifts', contract: 3 } })),
      'contract',
    ],
    [
      'a contract that is nothing',
      failing(async () => () => ({ default: { name: 'gifts', contract: null } })),
      'contract',
    ],
  ])('%s', async (_, served, failure) => {
    const { remotes } = open({ current: served });
    await expect(remotes.load('gifts')).rejects.toMatchObject({ name: 'RemoteError', remote: 'gifts' });
    await waitFor(() => expect(votes()[0]).toMatchObject({ build: current, outcome: 'failed', failure }));
  });
});

test('a guest may leave out routes and slots, and a wrong contract is named', async () => {
  const guest = (contract: string) => failing(async () => () => ({ default: { name: 'gifts', contract } }));
  const { remotes } = open({ current: guest('^2.1.0') });
  expect(await remotes.load('gifts')).toMatchObject({ routes: [], slots: [] });
  resetFederationGlobalInfo();
  await expect(open({ current: {}, lastGood: guest('2.x') }).remotes.load('gifts')).rejects.toMatchObject({
    failure: 'contract',
    cause: { message: 'src/remote wants "2.x"' },
  });
});

const never = () => new Promise<never>(() => {});

test.each([
  ['a module that awaits for ever as it is evaluated', failing(async () => never), 20_000],
  ['a container that starts for ever', { container: { ...sound(), init: never } }, 20_000],
  ['a module that is looked up for ever', failing(never), 60_000],
])('%s hands over to the last good build', async (_, served, milliseconds) => {
  rs.useFakeTimers();
  onTestEnd(() => rs.useRealTimers());
  const { remotes } = open({ current: served, lastGood: { container: sound() } });
  const loaded = remotes.load('gifts');
  await rs.advanceTimersByTimeAsync(milliseconds);
  expect((await loaded).name).toBe('gifts');
  expect(votes()[0]).toMatchObject({ build: current, outcome: 'failed', failure: 'hang' });
});

test('a build of ES modules gives way, without a word against it, where the browser checks none', async () => {
  const gifts = testSet.remotes.gifts as PageSet['remotes'][string];
  const remotesOf = { ...testSet.remotes, gifts: { ...gifts, entryType: 'module' as const } };
  const { remotes } = open({ lastGood: { container: sound() } }, { ...testSet, remotes: remotesOf });
  expect((await remotes.load('gifts')).name).toBe('gifts');
  expect(remotes.activeBuild('gifts')?.id).toBe(lastGood);
  expect(votes().filter(({ outcome }) => outcome === 'failed')).toEqual([]);
});

describe('a build that has loaded is reported', () => {
  test('when the page is idle, after a failure that came later', async () => {
    const { remotes } = open({ current: { container: sound() } });
    await remotes.load('gifts');
    await expect(remotes.load('lanterns')).rejects.toBeInstanceOf(RemoteError);
    await waitFor(() => expect(votes()).toMatchObject([{ outcome: 'failed' }]));
    remotes.reportLoads();
    await waitFor(() => expect(votes().at(-1)).toMatchObject({ build: current, outcome: 'loaded' }));
  });

  test('when the page is left before', async () => {
    // the pages of other tests receive the event, too
    const set = { ...testSet, set: 'b'.repeat(40) };
    const { remotes } = open({ current: { container: sound() } }, set);
    await remotes.load('gifts');
    window.dispatchEvent(new Event('pagehide'));
    const told = () => votes().filter((vote) => vote.set === set.set);
    await waitFor(() => expect(told()).toMatchObject([{ build: current, outcome: 'loaded' }]));
  });
});

describe('the last good build', () => {
  test('takes over, and what was under way for the failed one is cancelled', async () => {
    const { remotes, cancelled } = open({ lastGood: { container: sound() } });
    expect((await remotes.load('gifts')).name).toBe('gifts');
    expect(remotes.activeBuild('gifts')?.id).toBe(lastGood);
    expect(cancelled).toEqual([entries.current]);
  });

  test.each([
    ['throws', () => assert.fail('withheld by an extension')],
    ['is missing', undefined],
  ])('takes over where `sendBeacon` %s', async (_, withheld) => {
    const { sendBeacon } = navigator;
    onTestEnd(() => Object.assign(navigator, { sendBeacon }));
    Object.assign(navigator, { sendBeacon: withheld });
    const { remotes } = open({ lastGood: { container: sound() } });
    expect((await remotes.load('gifts')).name).toBe('gifts');
  });

  test('of another contract is not used', async () => {
    const gifts = testSet.remotes.gifts as PageSet['remotes'][string];
    const old = { ...gifts, lastGood: gifts.lastGood && { ...gifts.lastGood, contract: '^1.0.0' } };
    const set = { ...testSet, remotes: { ...testSet.remotes, gifts: old } };
    const { remotes } = open({ lastGood: { container: sound() } }, set);
    await expect(remotes.load('gifts')).rejects.toMatchObject({ failure: 'unreachable' });
    expect(remotes.activeBuild('gifts')?.id).toBe(current);
  });

  test('is what a page opened within ten minutes begins with', async () => {
    await open({ lastGood: { container: sound() } }).remotes.load('gifts');
    expect(open({}).remotes.activeBuild('gifts')?.id).toBe(lastGood);
  });

  test('is not what a page begins with whose clock was put back since', async () => {
    await open({ lastGood: { container: sound() } }).remotes.load('gifts');
    rs.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 });
    onTestEnd(() => rs.useRealTimers());
    expect(open({}).remotes.activeBuild('gifts')?.id).toBe(current);
  });

  test('is switched to once, however many ask for the same failure', () => {
    const { remotes, cancelled } = open({});
    const error = new RemoteError('gifts', 'render-threw');
    expect([remotes.fallBack('gifts', current, error), remotes.fallBack('gifts', current, error)]).toEqual([
      true,
      true,
    ]);
    expect(cancelled).toHaveLength(1);
  });
});

test('a retry by hand begins with the set’s build once all have failed', async () => {
  const served: Parameters<typeof open>[0] = {};
  const { remotes } = open(served);
  await expect(remotes.load('gifts')).rejects.toBeInstanceOf(RemoteError);
  served.current = { container: sound() };
  remotes.resetFailures('gifts');
  await remotes.load('gifts');
  expect(remotes.activeBuild('gifts')?.id).toBe(current);
});
