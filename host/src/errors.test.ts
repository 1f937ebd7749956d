import './testing/pageFixture';
import { errorsReportSchema, framesOf, messageClass } from '@liaozhai/shared/contract';
import { onTestEnd } from '@liaozhai/shared/testing';
import { beforeEach, describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import * as v from 'valibot';
import { watchErrors } from './errors';
import { RemoteError } from './federation/remoteError';
import type { Page } from './page';
import { openPage } from './testing/fakeRemotes';
import { beacons, testSet } from './testing/pageFixture';

const stories = testSet.remotes.stories?.id ?? '';
const account = testSet.remotes.account?.id ?? '';
const folderOf = (name: string) => (testSet.remotes[name]?.entry ?? '').replace(/[^/]+$/, '');
const file = (name: string, at: string) => `https://app.example${folderOf(name)}static/js/${at}`;

/** An error with this stack, in an engine's format. */
function thrown(Kind: ErrorConstructor, message: string, ...stack: string[]): Error {
  const error = new Kind(message);
  error.stack = stack.join('\n');
  return error;
}

function watch(path: string): Page {
  history.replaceState(null, '', path);
  const page = openPage();
  onTestEnd(watchErrors(page));
  return page;
}

const fail = (error: unknown, filename = '') => window.dispatchEvent(new ErrorEvent('error', { error, filename }));

async function hide(): Promise<unknown[]> {
  beacons.length = 0;
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  window.dispatchEvent(new Event('visibilitychange'));
  // a report's body is read as a Blob
  await new Promise((resolve) => setTimeout(resolve));
  const reports = beacons.filter((told) => told.startsWith('/beacon {"failed"'));
  return reports.flatMap((told) => v.parse(errorsReportSchema, JSON.parse(told.replace('/beacon ', ''))).failed);
}

beforeEach(() => {
  beacons.length = 0;
});

describe('an error in the code of a build', () => {
  test.each([
    [
      'as Chrome writes it',
      `    at render (${file('stories', 'a.js')}?v=1:1:20)`,
      `    at x (${file('account', 'b.js')}:2:3)`,
    ],
    ['as Safari and Firefox write it', `render@${file('stories', 'a.js')}:1:20`, `x@${file('account', 'b.js')}:2:3`],
  ])('is reported once with its build, place and pattern of the screen, %s', async (_, ...stack) => {
    watch('/story/12?invite=secret');
    const error = () => thrown(TypeError, "Cannot read properties of undefined (reading 'map')", ...stack);
    fail(error());
    fail(error());
    const inside = (name: string) => folderOf(name).replace('/builds/', '');
    expect(await hide()).toEqual([
      {
        build: stories,
        kind: 'uncaught',
        name: 'TypeError',
        message: "Cannot read properties of undefined (reading 'map')",
        frames: [`${inside('stories')}static/js/a.js:1:20`, `${inside('account')}static/js/b.js:2:3`],
        route: '/story/:id',
      },
    ]);
    expect(await hide()).toEqual([]);
  });

  test('is known by its file where it has no stack', async () => {
    watch('/explore');
    fail(null, file('account', '1.js'));
    expect(await hide()).toMatchObject([{ build: account, frames: [], message: null }]);
  });

  test('of an extension, and of a build that is previewed, is reported to nobody', async () => {
    const { set, ...page } = watch('/explore');
    fail(thrown(Error, 'x', 'at chrome-extension://abc/builds.js:1:1'), 'chrome-extension://abc/builds.js');
    expect(await hide()).toEqual([]);
    onTestEnd(watchErrors({ ...page, set: { ...set, override: { id: 'a', expires: '' } } }));
    expect(await hide()).toEqual([]);
  });

  test('that a pane caught is reported with the screen of its time; a lost file has no place in the code', async () => {
    const { remotes } = watch('/my');
    const cause = thrown(RangeError, 'Invalid time value', `at ${file('account', 'a.js')}:1:2`);
    remotes.blame(account, new RemoteError('account', 'render-threw', cause));
    history.replaceState(null, '', '/explore');
    remotes.blame(stories, new RemoteError('stories', 'chunk-lost', cause));
    expect(await hide()).toMatchObject([
      { build: account, kind: 'render-threw', name: 'RangeError', message: 'Invalid time value', route: '/my' },
      { build: stories, kind: 'chunk-lost', frames: [] },
    ]);
  });

  test('that comes over and over in other forms is reported ten times a page', async () => {
    watch('/explore');
    for (let line = 1; line < 40; line += 1) fail(thrown(Error, '', `at ${file('stories', 'a.js')}:${line}:1`));
    expect(await hide()).toHaveLength(10);
  });
});

describe('nothing that a reader wrote travels', () => {
  test.each([
    ["Cannot set property of undefined (setting '13800138000')", 'Cannot set property of undefined'],
    ['Unexpected token \'我\', "我叫宁采臣" is not valid JSON', 'invalid JSON'],
    ['Minified React error #31; visit https://react.dev/errors/31?args[]=我的名字', 'Minified React error #31'],
    [
      "Failed to execute 'setItem' on 'Storage': Setting the value of 'draft' exceeded",
      "Failed to execute 'setItem' on 'Storage'",
    ],
    [
      "undefined is not an object (evaluating 'e.story.title')",
      "undefined is not an object (evaluating 'e.story.title')",
    ],
    ['no story called 聂小倩', null],
    ['invalid login ning@example.com', null],
    ['', null],
  ])('in the message %j', (message, expected) => {
    expect(messageClass(message)).toBe(expected);
  });

  test('for any message, its class holds letters of code only and is its own class', () => {
    const opening = fc.constantFrom('Cannot read properties of undefined ', "Can't find variable: ", 'Load failed', '');
    fc.assert(
      fc.property(opening, fc.string({ unit: 'grapheme' }), (start, text) => {
        const found = messageClass(start + text);
        if (found === null) return;
        expect(found).toMatch(/^[\w$ .#:'"()[\],]+$/);
        expect(messageClass(found)).toBe(found);
      }),
    );
  });

  test('in an address of a stack', () => {
    expect(framesOf('at f (https://a.example/builds/chat/1.0.0-abc/a.js?token=s3cret&x=1#me:3:4)')).toEqual([
      'chat/1.0.0-abc/a.js:3:4',
    ]);
    expect(framesOf('at f (https://a.example/builds/chat/../../keys/a.js:1:1)\nat /story/我:1:2')).toEqual([]);
  });
});
