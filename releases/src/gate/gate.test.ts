import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { ReleaseError } from '../errors.ts';
import { buildFolder } from '../model/build.ts';
import { openTestStore, type TestStore, writeRemote } from '../testing/openTestStore.ts';
import { type Breakage, noise, routes, SEEDED_BREAKAGES } from '../testing/seededBreakages.ts';
import { type CheckResult, makeGate } from './gate.ts';

let at: TestStore;
let version = 0;
beforeAll(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'), await at.remote('wallet'));
});
afterAll(() => at.remove());

const next = (): string => {
  version += 1;
  return `2.0.${version}`;
};

const verdict = (builds: readonly string[]) => at.verdict(builds);

/** Returns the refusal of builds that form no set, which happens before the gate. */
const refusal = (cause: unknown): string[] => {
  if (cause instanceof ReleaseError) return [cause.message];
  throw cause;
};

async function publishBroken({ remote, host, files, spoil }: Breakage): Promise<string> {
  const id = host
    ? await at.host(next(), { description: host, files })
    : await at.remote('stories', next(), { description: remote, files });
  const file = spoil && join(at.folder, 'store', buildFolder(id), spoil.path);
  if (file && spoil.to === null) await rm(file);
  else if (file && spoil.to !== null) await writeFile(file, spoil.to);
  return id;
}

describe('seeded breakages', () => {
  for (const breakage of SEEDED_BREAKAGES)
    test(breakage.what, async () => {
      expect((await verdict([await publishBroken(breakage)]).catch(refusal)).join('\n')).toContain(breakage.says);
    });

  test('there are at least twenty', () => expect(SEEDED_BREAKAGES.length).toBeGreaterThanOrEqual(20));

  test('two remotes fill one slot', async () => {
    const slots = [{ name: 'story.chat', js: [], css: [] }];
    const builds = await Promise.all(
      ['stories', 'chat'].map((name) => at.remote(name, next(), { description: { slots } })),
    );
    expect((await verdict(builds)).join()).toContain('slot "story.chat"');
  });

  test('two remotes may fill one open slot; double, misspelt and empty slots are reported', async () => {
    const slots = (name: string) => [{ name, order: 7, js: [], css: [] }];
    const builds = [
      await at.remote('stories', next(), { description: { slots: slots('my.entries') } }),
      await at.remote('chat', next(), { description: { slots: [...slots('my.entries'), ...slots('my.entries')] } }),
      await at.remote('wallet', next(), { description: { slots: slots('my.entrys') } }),
    ];
    const notes: string[] = [];
    const onResults = (results: CheckResult[]) => notes.push(...results.flatMap((result) => result.notes));
    expect(await at.verdict(builds, makeGate(at.writer, { smoke: null, onResults }))).toEqual([]);
    expect(notes).toContain(
      `${builds[2]}: no page has a slot "my.entrys", so nobody sees it: did you mean "my.entries"?`,
    );
    expect(notes).toContain(`${builds[1]}: fills "my.entries" twice, and pages show the first: draw both in one part`);
    expect(notes.join()).toContain('no build of the set fills "legal", "minor", "my.balance", "story.chat"');
  });

  test.each([
    ['path', routes({ name: 'feed' })],
    ['route name', routes({ path: '/feed' })],
    ['global', { global: 'shared_app', chunkGlobal: undefined }],
  ])('of two remotes with one %s, the new one is reported, once', async (_, description) => {
    const hasGlobal = 'global' in description;
    const files: Record<string, string> = hasGlobal ? { 'remoteEntry.js': 'var shared_app = {};' } : {};
    await at.activate(await at.remote('stories', next(), { description: hasGlobal ? description : {}, files }));
    const build = await at.remote('album', next(), { description, files });
    expect(await verdict([build])).toEqual([expect.stringContaining(`: ${build}: `)]);
    await at.activate(await at.remote('stories', next()));
  });

  test('a global that is not unique per build', async () => {
    const same = { global: 'stories_app', chunkGlobal: 'chunks_stories_app' };
    const [first, second] = await Promise.all(
      [1, 2].map((n) => at.remote('stories', next(), { description: { ...same, label: `${n}` } })),
    );
    await at.activate(first ?? '');
    expect((await verdict([second ?? ''])).join()).toContain('shares a global');
    await at.activate(await at.remote('stories', next()));
  });

  test('the files of the live build under another version', async () => {
    const dist = await writeRemote(at.place(), 'stories', 'same');
    const [first, second] = [await at.publishFrom(dist, next()), await at.publishFrom(dist, next())];
    await at.activate(first);
    expect((await verdict([second])).join()).toContain(`has the very files of ${first}`);
    await at.activate(await at.remote('stories', next()));
  });

  test('every problem names its build', async () => {
    const build = await at.remote('stories', next(), {
      description: { contract: '^2.0.0', exposes: [], module: { js: [], css: [] } },
    });
    const lines = await verdict([build]);
    expect(lines.length).toBeGreaterThanOrEqual(3);
    for (const line of lines) expect(line).toContain(build);
  });
});

test.each([
  ['^0.9.0', 'build it again for that host, and switch what belongs together in one command'],
  ['^0.8.0 || ^0.9.0', 'build it again for that host, and switch what belongs together in one command'],
  ['^1.1.0', 'release the host first'],
  ['^2.0.0', 'release the host first'],
  ['^0.9.0 || ^2.0.0', 'release the host first'],
])('a remote that needs the runtime %s is refused once with a cure: %s', async (contract, cure) => {
  // our own packages require the runtime in the range of the contract
  const shared = { provides: {}, requires: { '@liaozhai/shared/runtime': contract } };
  const build = await at.remote('chat', next(), { description: { contract, shared } });
  expect(await verdict([build])).toEqual([
    `contract: ${build}: needs shared/runtime ${contract}, the host has 1.0.0: ${cure}`,
  ]);
});

test.each(['0.24.1', '2.0.1', '2.10.0'])('a remote built with Module Federation %s passes', async (federation) => {
  const build = await at.remote('chat', next(), { description: { federation } });
  expect(await verdict([build])).toEqual([]);
});

test('a remote that carries a library for others passes', async () => {
  const shared = { provides: { 'chart.js': '4.5.0' }, requires: { 'chart.js': '^4.4.0' } };
  const build = await at.remote('chat', next(), { description: { shared } });
  expect(await verdict([build])).toEqual([]);
});

test('shared libraries, duplicates and their sizes are reported without a problem', async () => {
  const chart = (name: string, version: string, range: string, library = 'chart') => {
    const js = { sync: ['copy.js'], async: [] };
    const manifest = { shared: [{ name: library, assets: { js } }] };
    return at.remote(name, next(), {
      description: { shared: { provides: { [library]: version }, requires: { [library]: range } } },
      files: { 'copy.js': `/* ${noise(400)} */`, 'mf-manifest.json': JSON.stringify(manifest) },
    });
  };
  const builds = [
    await chart('stories', '4.5.0', '^4.4.0'),
    await chart('chat', '4.4.0', '^4.0.0'),
    await chart('wallet', '3.9.1', '^3.9.0'),
    await chart('gifts', '19.9.9', '*', 'react'),
  ];
  const notes: string[] = [];
  const onResults = (results: CheckResult[]) => notes.push(...results.flatMap((result) => result.notes));
  expect(await at.verdict(builds, makeGate(at.writer, { smoke: null, onResults }))).toEqual([]);
  expect(notes.join('\n')).toMatch(
    /chart loads 2 times: 4\.5\.0 for (stories, chat|chat, stories) \([\d.]+ KiB br\); 3\.9\.1 for wallet \([\d.]+ KiB br\)/,
  );
  expect(notes.join('\n')).toMatch(/gifts@\S+ carries react 19\.9\.9 \([\d.]+ KiB br\), which never runs/);
});

const required = 'const x=m[n];try{f(x)}';
test.each([
  ['is kept empty', `${required}finally{}`, 1],
  ['is kept with its error', `${required}catch(e){throw x.error=e,e}`, 0],
  ['is kept with its error, not minified', 'try { f(x) } catch (e) {\n module.error = e;\n throw e;\n}', 0],
  ['is forgotten', `let y=!0;${required}finally{y&&delete m[n]}`, 0],
])('a failed module of another remote that %s is reported if its error is lost', async (_, entry, said) => {
  const files = {
    'mf-manifest.json': JSON.stringify({ remotes: [{ alias: 'account' }] }),
    'remoteEntry.js': `function require(){${entry}}`,
  };
  const build = await at.remote('gifts', next(), { files });
  const notes: string[] = [];
  const onResults = (results: CheckResult[]) => notes.push(...results.flatMap((result) => result.notes));
  await at.verdict([build], makeGate(at.writer, { smoke: null, onResults }));
  const cure = /imports modules of account: .* output\.strictModuleErrorHandling: true/;
  expect(notes.filter((note) => cure.test(note))).toHaveLength(said);
});

test('fifty valid sets pass within the time limit', async () => {
  for (let n = 0; n < 50; n += 1) {
    const name = ['stories', 'chat', 'wallet', `new${n}`][n % 4] ?? '';
    const slots = n % 3 ? [] : [{ name: `${name}.slot`, js: ['static/js/async/page.js'], css: [] }];
    const build = await at.remote(name, next(), { description: { slots } });
    const started = performance.now();
    expect(await verdict([build])).toEqual([]);
    expect(performance.now() - started).toBeLessThan(10_000);
    if (n % 2) await at.activate(build);
  }
});
