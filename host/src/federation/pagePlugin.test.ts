import '../testing/pageFixture';
import { onTestEnd } from '@liaozhai/shared/testing';
import { createInstance, getInstance, type ModuleFederation } from '@module-federation/runtime';
import { resetFederationGlobalInfo } from '@module-federation/runtime/core';
import { beforeEach, describe, expect, rs, test } from '@rstest/core';
import fc from 'fast-check';
import { useState } from 'react';
import { testSet } from '../testing/pageFixture';
import { AssetError, type AssetLoader } from './assetLoader';
import { createRemotes } from './remotes';

const major = (version: string) => Number(version.split('.')[0]);

beforeEach(() => {
  for (const global of ['gifts_2.0.0', 'gifts_1.0.0', 'stories_1.0.0']) Reflect.deleteProperty(globalThis, global);
});

/** Opens a page whose entries run these functions; any other entry is missing. */
function openPage(entries: Record<string, () => void> = {}, set = testSet) {
  resetFederationGlobalInfo();
  const requested: string[] = [];
  const assetLoader: AssetLoader = {
    async script(url) {
      const path = new URL(url, location.href).pathname;
      requested.push(path);
      const run = entries[path];
      if (!run) throw new AssetError('gone', url);
      run();
    },
    style: async () => undefined,
    onLate: () => () => undefined,
  };
  const prefetcher = { prefetch: async () => undefined, prioritise: () => () => undefined, cancel: () => undefined };
  const remotes = createRemotes(set, assetLoader, prefetcher);
  return { remotes, requested };
}

/** Opens a page and its federation, which is created with the first remote. */
async function openFederation(entries: Record<string, () => void> = {}, set = testSet) {
  const lanterns = { '/builds/lanterns/1.0.0/remoteEntry.js': exposing('lanterns_1.0.0', {}) };
  const page = openPage({ ...lanterns, ...entries }, set);
  await page.remotes.load('lanterns').catch(() => undefined);
  page.requested.length = 0;
  return { ...page, host: getInstance(({ name }) => name === 'host') as ModuleFederation };
}

const exposing = (global: string, modules: Record<string, object>) => () => {
  const get = async (name: string) => {
    const module = modules[name.replace('./', '')];
    if (!module) throw new Error(`Module "${name}" does not exist in container.`);
    return () => module;
  };
  Object.assign(globalThis, { [global]: { init: () => undefined, get } });
};

interface Copy {
  version: string;
  range: string;
  isDead: boolean;
  singleton?: boolean;
  strictVersion?: boolean;
  /** The name of its share scope, if it is not the default one. */
  scope?: string;
}

/** A remote's own instance, as its bundle creates it with default settings, in the host's share scope. */
function openRemote(host: ModuleFederation, name: string, library: string, copy: Copy) {
  const loads: string[] = [];
  const get = async () => {
    loads.push(copy.version);
    if (copy.isDead) throw new Error(`${library} of ${name} is dead`);
    return () => ({ version: copy.version, by: name });
  };
  const { singleton = false, strictVersion = false, scope = 'default' } = copy;
  const shareConfig = { requiredVersion: copy.range, singleton, strictVersion };
  const instance = createInstance({
    name,
    remotes: [{ name: 'dead', entry: 'http://dead.invalid/remoteEntry.js' }],
    shared: { [library]: { version: copy.version, get, shareConfig, scope } },
    shareStrategy: 'version-first',
  });
  instance.initShareScopeMap('default', host.shareScopeMap.default ?? {});
  instance.initializeSharing('default', { from: 'build' });
  const take = async () => {
    const factory = await instance.loadShare<{ version: string; by: string }>(library, {
      customShareInfo: { shareConfig, scope: [scope] } as never,
    });
    return factory ? factory() : get().then((own) => own());
  };
  return { take, loads, copy };
}

const copies = fc.record({
  version: fc.constantFrom('3.9.1', '4.4.0', '4.5.0', '4.5.1'),
  isDead: fc.boolean(),
  singleton: fc.boolean(),
  strictVersion: fc.boolean(),
});

test('a dead or corrupt copy of a library breaks no remote but its own, in any order of requests', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(copies, { minLength: 2, maxLength: 4 }),
      fc.infiniteStream(fc.nat(3)),
      async (given, order) => {
        const { host } = await openFederation();
        const remotes = given.map((copy, index) =>
          openRemote(host, `remote${index}`, 'chart', { ...copy, range: `^${major(copy.version)}.0.0` }),
        );
        for (let asked = 0; asked < 6; asked += 1) {
          const remote = remotes[(order.next().value ?? 0) % remotes.length];
          if (!remote) continue;
          const used = await remote.take().catch(() => null);
          if (!remote.copy.isDead) expect(used).not.toBeNull();
          if (used) expect(major(used.version)).toBe(major(remote.copy.version));
        }
        // a repaired copy can be loaded again
        for (const remote of remotes) remote.copy.isDead = false;
        for (const remote of remotes) expect(await remote.take()).toMatchObject({ by: expect.any(String) });
      },
    ),
    { numRuns: 60 },
  );
});

test('a copy that is there serves every remote whose range allows it', async () => {
  const { host } = await openFederation();
  const alive = { range: '^4.0.0', isDead: false };
  const remotes = ['4.4.0', '4.5.0', '4.5.0'].map((version, index) =>
    openRemote(host, `remote${index}`, 'chart', { ...alive, version }),
  );
  for (const remote of remotes) expect(await remote.take()).toMatchObject({ by: 'remote0' });
  expect(remotes.flatMap(({ loads }) => loads)).toEqual(['4.4.0']);
});

test.each(['chart', 'react'])(
  'a remote whose %s has a share scope of its own uses the copy of the page',
  async (library) => {
    const { host } = await openFederation();
    const versions = library === 'react' ? ['19.3.1', '19.3.0'] : ['4.5.0', '4.4.0'];
    const [first, own] = versions.map((version, index) =>
      openRemote(host, `remote${index}`, library, {
        version,
        range: '*',
        isDead: false,
        scope: ['default', 'own'][index],
      }),
    );
    await first?.take();
    await own?.take();
    expect(own?.loads).toEqual([]);
  },
);

test('a loaded copy is found next to a newer one that does not fit', async () => {
  const { host } = await openFederation();
  const open = (name: string, version: string, range: string) =>
    openRemote(host, name, 'chart', { version, range, isDead: false });
  const [newer, old, unloaded, last] = [
    open('newer', '4.4.0', '^4.0.0'),
    open('old', '3.9.1', '^3.0.0'),
    open('unloaded', '3.8.0', '^3.0.0'),
    open('last', '3.7.0', '^3.0.0'),
  ];
  await newer.take();
  await old.take();
  expect(await last.take()).toMatchObject({ by: 'old' });
  expect([...unloaded.loads, ...last.loads]).toEqual([]);
});

test.each([
  ['19.9.9', '^19.9.0'],
  ['18.3.1', '^18.0.0'],
  ['19.3.1', '*'],
])('React %s that a remote brings and asks for (%s) never runs', async (version, range) => {
  const warn = rs.spyOn(console, 'warn').mockImplementation(() => undefined);
  onTestEnd(() => warn.mockRestore());
  const { host } = await openFederation();
  for (const singleton of [true, false])
    for (const strictVersion of [true, false]) {
      const name = `guest-${singleton}-${strictVersion}`;
      const get = async () => () => ({ useState: 'foreign' });
      const shareConfig = { requiredVersion: range, singleton, strictVersion };
      const guest = createInstance({ name, remotes: [], shared: { react: { version, get, shareConfig } } });
      guest.initShareScopeMap('default', host.shareScopeMap.default ?? {});
      guest.initializeSharing('default', { from: 'build' });
      const customShareInfo = { shareConfig, scope: ['default'] } as never;
      const react = await guest.loadShare<{ useState: unknown }>('react', { customShareInfo });
      expect((react || undefined)?.()?.useState).toBe(useState);
    }
});

describe('a remote that asks for another one', () => {
  const badge = { default: 'badge' };
  const sound = () => exposing('gifts_2.0.0', { Badge: badge });
  const entry = '/builds/gifts/2.0.0/remoteEntry.js';
  const former = '/builds/gifts/1.0.0/remoteEntry.js';

  const entryElsewhere = 'https://elsewhere.invalid/mf-manifest.json';
  const presents = { name: 'gifts', alias: 'presents', entry: entryElsewhere };

  const openAsking = async (entries: Record<string, () => void>, set = testSet, named: object = presents) => {
    const page = await openFederation(entries, set);
    const asking = createInstance({ name: 'asking', remotes: [{ ...presents, ...named }] });
    return { ...page, asking };
  };

  const ways: [id: string, named?: object][] = [
    ['gifts/Badge'],
    ['presents/Badge'],
    ['@team/gifts/Badge', { alias: '@team/gifts' }],
    // as Vite's plug-in registers `gifts` and `boxes: 'gifts@https://…'`
    ['__mfe__gifts/Badge', { name: '__mfe__gifts', alias: 'gifts', entryGlobalName: 'gifts' }],
    ['__mfe__boxes/Badge', { name: '__mfe__boxes', alias: 'boxes', entryGlobalName: 'gifts' }],
    ['__mfe__@team/gifts/Badge', { name: '__mfe__@team/gifts', alias: '@team/gifts', entryGlobalName: 'gifts' }],
  ];

  test.each(ways)('as %s gets the build that runs here', async (id, named) => {
    const { asking, requested } = await openAsking({ [entry]: sound() }, testSet, named);
    expect(await asking.loadRemote(id)).toBe(badge);
    expect(requested).toEqual([entry]);
  });

  test.each(ways)(
    'as %s gets the last good build where the live one is gone, as a module and as a factory',
    async (id, named) => {
      const entries = { [former]: exposing('gifts_1.0.0', { Badge: badge }) };
      const { asking, remotes } = await openAsking(entries, testSet, named);
      expect(await asking.loadRemote(id)).toBe(badge);
      expect(remotes.activeBuild('gifts')?.id).toBe('gifts@1.0.0+000000000000');
      const factory = await asking.loadRemote<() => unknown>(id, { loadFactory: false, from: 'build' });
      expect(factory?.()).toBe(badge);
    },
  );

  test('gets the live build where the container of the last good one had the name of the remote', async () => {
    const gifts = testSet.remotes.gifts as (typeof testSet.remotes)[string];
    const lastGood = gifts.lastGood && { ...gifts.lastGood, global: 'gifts' };
    const set = { ...testSet, remotes: { ...testSet.remotes, gifts: { ...gifts, lastGood } } };
    const { asking, requested } = await openAsking({ [entry]: sound(), [former]: exposing('gifts', {}) }, set);
    expect(await asking.loadRemote('gifts/Badge')).toBe(badge);
    expect(requested).toEqual([entry]);
  });

  test('leaves the last good build alone where two requests met one failure', async () => {
    const { asking, remotes } = await openAsking({ [former]: exposing('gifts_1.0.0', { Badge: badge }) });
    const both = [asking.loadRemote('gifts/Badge'), asking.loadRemote('gifts/Badge')];
    expect(await Promise.all(both)).toEqual([badge, badge]);
    expect(remotes.activeBuild('gifts')?.id).toBe('gifts@1.0.0+000000000000');
  });

  test('for a module that is not there does that build no harm', async () => {
    const { asking, remotes } = await openAsking({ [entry]: sound() });
    await expect(asking.loadRemote('gifts/Nothing')).rejects.toThrow('does not exist');
    expect(remotes.activeBuild('gifts')?.id).toBe('gifts@2.0.0+000000000000');
  });

  test('that no set has requests nothing', async () => {
    const { asking, requested } = await openAsking({});
    const fetched = rs.spyOn(globalThis, 'fetch');
    onTestEnd(() => fetched.mockRestore());
    await expect(asking.loadRemote('strangers/Badge')).rejects.toThrow('this page has no remote "strangers"');
    asking.registerRemotes([{ name: '__mfe__others', alias: 'others', entry: entryElsewhere }]);
    await expect(asking.loadRemote('__mfe__others/Badge')).rejects.toThrow('this page has no remote "others"');
    expect([requested, fetched.mock.calls]).toEqual([[], []]);
  });
});
