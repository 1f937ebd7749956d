import { describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import * as v from 'valibot';
import { actionLine, evidenceLines } from '../english.ts';
import { type Action, type Evidence, readAction, storedActionSchema, toStoredAction } from './action.ts';

const at = '2026-11-03T12:00:00.000Z';
const stories = 'stories@1.4.2-rc.1+3f9c1a7b20de';
const chat = 'chat@1.0.0+aaaaaaaaaaaa';
const store = (action: Action, evidence: Evidence[] = []) =>
  toStoredAction(action, { who: 'tester', why: '', at, evidence });

const actions: [Action, string][] = [
  [{ kind: 'init' }, 'init made the channel'],
  [{ kind: 'renew' }, 'renew signed the same state again'],
  [{ kind: 'activate', builds: [stories, chat] }, `activate ${stories} ${chat}`],
  [{ kind: 'canary', builds: [stories], percent: 0.1 }, `canary ${stories} for 0.1 %`],
  [{ kind: 'promote', builds: [stories] }, `promote ${stories}`],
  [
    { kind: 'promote', builds: [stories], from: { channel: 'preview', seq: 12 } },
    `promote ${stories} from preview, state 12`,
  ],
  [
    { kind: 'seed', builds: [chat], from: { channel: 'production', seq: 3, store: 's3://staging/聊斋 a' } },
    `seed ${chat} from production, state 3, of s3://staging/聊斋 a`,
  ],
  [
    { kind: 'promoted', builds: [chat], into: { channel: 'production', seq: 57 } },
    `promoted ${chat} to production, state 57`,
  ],
  [{ kind: 'abort', builds: [stories] }, `abort ${stories}`],
  [{ kind: 'rollback', builds: [chat], to: 4, names: ['chat'] }, `rollback ${chat} as in state 4`],
  [{ kind: 'kill', builds: [chat] }, `kill ${chat}`],
  [{ kind: 'withdraw', builds: [chat] }, `withdraw ${chat}`],
  [
    {
      ...{ kind: 'preview', person: '李华 a+b', browser: 'b'.repeat(32), expires: at },
      remotes: ['stories@http://localhost:3101', 'chat@http://[::1]:3102'],
    },
    `preview stories@http://localhost:3101 chat@http://[::1]:3102 for 李华 a+b (browser ${'b'.repeat(32)}) until ${at}`,
  ],
  [
    { kind: 'preview-end', person: '李华', browser: 'b'.repeat(32), remotes: ['stories@https://dev.example'] },
    `preview-end stories@https://dev.example for 李华 (browser ${'b'.repeat(32)})`,
  ],
];

describe('an action in the signed document', () => {
  test.each(actions)('%j is read as it was written, and the command line says %s', (action, line) => {
    expect(readAction(store(action))).toEqual({ ...action, evidence: [] });
    expect(actionLine(store(action))).toBe(line);
  });

  test('every share of visitors is preserved', () => {
    const percent = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(percent, (share) => {
        expect(readAction(store({ kind: 'canary', builds: [chat], percent: share }))).toMatchObject({ percent: share });
      }),
    );
  });

  test('has only fields that older readers keep before the signature check', () => {
    for (const [action] of actions) {
      const known = ['verb', 'who', 'what', 'why', 'at', 'to', 'names', 'evidence'];
      expect(Object.keys(store(action, [{ kind: 'overtaken', build: chat }]))).toEqual(
        known.filter((field) => action.kind === 'rollback' || !['to', 'names'].includes(field)),
      );
    }
  });

  test('a long list keeps complete ids and counts the omitted ones', () => {
    const builds = Array.from({ length: 100 }, (_, n) => `remote-with-a-long-name-${n}@1.0.0+aaaaaaaaaaaa`);
    const long: Action[] = [
      { kind: 'activate', builds },
      { kind: 'canary', builds, percent: 12.5 },
      { kind: 'rollback', builds, to: 3, names: [] },
    ];
    for (const action of long) {
      const stored = store(action);
      expect(v.safeParse(storedActionSchema, stored).success).toBe(true);
      const read = readAction(stored);
      if (!('builds' in read)) throw new Error('the builds are lost');
      expect(read.builds).toEqual(builds.slice(0, read.builds.length));
      expect(read.builds.length + (read.more ?? 0)).toBe(100);
      expect(read.more).toBeGreaterThan(0);
      expect(actionLine(stored)).toContain(`and ${read.more} more`);
    }
  });

  test('evidence is shortened to the size limit', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 2000 });
    const dropped = Array.from({ length: 90 }, (_, n) => `remote-${n}@1.0.0+aaaaaaaaaaaa`);
    fc.assert(
      fc.property(texts, (problem) => {
        const evidence: Evidence[] = [
          { kind: 'finding', check: 'size budget', problem, forced: true },
          { kind: 'candidateDropped', builds: dropped },
        ];
        const stored = store({ kind: 'activate', builds: [chat] }, evidence);
        expect(v.safeParse(storedActionSchema, stored).success).toBe(true);
        expect(readAction(stored).evidence.map(({ kind }) => kind)).toEqual(['finding', 'candidateDropped']);
      }),
    );
  });

  test('evidence is read unchanged, with one line each', () => {
    const evidence: Evidence[] = [
      { kind: 'finding', check: 'routes', problem: 'taken', forced: true },
      { kind: 'overtaken', build: chat },
      { kind: 'candidateDropped', builds: [chat] },
      { kind: 'verdict', pValue: 1e-9, alpha: 1e-4 },
      {
        kind: 'health',
        group: 'candidate',
        visitors: 60,
        failedVisitors: 20,
        failures: { hang: 20 },
        p75LoadMilliseconds: null,
      },
    ];
    const stored = store({ kind: 'abort', builds: [chat] }, evidence);
    expect(readAction(stored).evidence).toEqual(evidence);
    expect(evidenceLines(stored)).toEqual([
      'forced: routes: taken',
      `${chat} left the candidate: another build of chat is live for everyone now`,
      `candidate ${chat} dropped: it does not fit the new stable`,
      'the candidate fails more often than stable, beyond chance: Fisher exact, one-sided, p = 1.0e-9, limit 0.0001',
      'candidate: 20 of 60 visitors failed (hang 20), p75 load – ms',
    ]);
  });
});

describe('an entry from before actions were data', () => {
  test.each([
    ['canary', `${stories} for 10 %`, undefined],
    ['rollback', `${stories} as in state 4`, 4],
    ['init', 'made the channel', undefined],
    ['renew', 'signed the same state again', undefined],
    ['activate', 'a set from elsewhere', undefined],
    ['activate', '', undefined],
    ['activate', `${stories} stories@1.4.2+3f9c1a7b2…`, undefined],
    ['vote', stories, undefined],
  ])('%s %s is shown as it is', (verb, what, to) => {
    const evidence = ['forced: routes: taken', '{"kind":"unknown"}', '7'];
    const stored = { verb, who: 'tester', what, why: '', at, ...(to ? { to, names: [] } : {}), evidence };
    expect(readAction(stored)).toEqual({
      kind: 'text',
      text: what,
      evidence: evidence.map((text) => ({ kind: 'text', text })),
    });
    expect(actionLine(stored)).toBe(`${verb} ${what}`);
    expect(evidenceLines(stored)).toEqual(evidence);
  });

  test('a plain list of builds is read as data', () => {
    const stored = { verb: 'activate', who: 'tester', what: `${stories} ${chat}`, why: '', at };
    expect(readAction(stored)).toEqual({ kind: 'activate', builds: [stories, chat], evidence: [] });
  });
});
