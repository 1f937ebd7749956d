import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { canary } from '../operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { noise } from '../testing/seededBreakages.ts';
import { readSharing } from './sharedLibraries.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

/** A remote with its own copy of a library. */
const carrier = (name: string, build: string, library: string, version: string, range: string) =>
  at.remote(name, build, {
    description: { shared: { provides: { [library]: version }, requires: { [library]: range } } },
    files: {
      'copy.js': `/* ${noise(64)} */`,
      'mf-manifest.json': JSON.stringify({
        shared: [{ name: library, assets: { js: { sync: ['copy.js'], async: [] } } }],
      }),
    },
  });

test('duplicate libraries of a candidate are listed apart from those of the live set', async () => {
  const host = await at.host();
  const stories = await carrier('stories', '1.0.0', 'chart.js', '4.5.0', '^4.4.0');
  const chat = await carrier('chat', '1.0.0', 'chart.js', '4.4.0', '^4.0.0');
  await at.activate(host, stories, chat);
  const tried = await carrier('chat', '1.1.0', 'chart.js', '3.9.1', '^3.0.0');
  await canary(at.writer, [tried], 5, { gate: openGate });
  const kib = expect.any(Number);
  expect(await readSharing(at.writer, await at.current())).toEqual({
    stable: [
      {
        name: 'chart.js',
        ofHost: null,
        copies: [{ version: '4.5.0', build: stories, remotes: ['stories', 'chat'], kib }],
      },
    ],
    candidates: [
      {
        builds: [tried],
        libraries: [
          {
            name: 'chart.js',
            ofHost: null,
            copies: [
              { version: '4.5.0', build: stories, remotes: ['stories'], kib },
              { version: '3.9.1', build: tried, remotes: ['chat'], kib },
            ],
          },
        ],
      },
    ],
  });
});

test('a prerelease within the range of another remote is shared, as the page does', async () => {
  const early = await carrier('gifts', '1.0.0', 'chart.js', '4.5.0-rc.1', '^4.5.0-rc.0');
  await at.activate(await at.host(), early, await carrier('chat', '1.0.0', 'chart.js', '4.4.0', '^4.0.0'));
  const { stable } = await readSharing(at.writer, await at.current());
  expect(stable.map(({ copies }) => copies.map(({ remotes }) => remotes))).toEqual([[['gifts', 'chat']]]);
});

test('each copy of what the host provides is named, and a library of one remote is not', async () => {
  const gifts = await carrier('gifts', '1.0.0', 'react', '19.1.0', '*');
  const maps = await carrier('maps', '1.0.0', 'react', '19.1.0', '*');
  await at.activate(await at.host(), gifts, maps, await carrier('chat', '1.0.0', 'chart.js', '4.4.0', '^4.0.0'));
  const { stable } = await readSharing(at.writer, await at.current());
  expect(stable.map(({ name, ofHost, copies }) => [name, ofHost, copies.map(({ build }) => build)])).toEqual([
    ['react', '19.3.1', [gifts, maps]],
  ]);
});
