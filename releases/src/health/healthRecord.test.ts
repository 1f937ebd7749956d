import { HOUR_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { unreachable } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { HealthReader, HealthRecorder } from './healthRecord.ts';

const now = new Date('2026-11-03T12:30:00Z');
const ago = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

const line = (when: Date, visitor: string): string =>
  JSON.stringify({ build: 'b', set: 's', candidate: false, outcome: 'loaded', at: when.toISOString(), visitor });

/** Writes a file in the format of `HealthRecorder`. */
async function told(when: Date, visitor: string, text = line(when, visitor)): Promise<void> {
  const hour = when.toISOString().slice(0, 13);
  await at.store.create(`health/production/${hour}/${when.getTime()}-${visitor}.ndjson`, `${text}\n`);
}

/** A store that records its reads and fails to read keys that contain `fails.key`. */
function openLog(fails = { key: '' }) {
  const asked = { read: [] as string[], listed: [] as string[], atOnce: 0, most: 0 };
  const store: Pick<Store, 'read' | 'list' | 'children'> = {
    children: (prefix) => at.store.children(prefix),
    list: (prefix) => {
      asked.listed.push(prefix);
      return at.store.list(prefix);
    },
    read: async (key) => {
      asked.read.push(key);
      asked.atOnce += 1;
      asked.most = Math.max(asked.most, asked.atOnce);
      const body = await at.store.read(key);
      asked.atOnce -= 1;
      if (fails.key && key.includes(fails.key)) throw unreachable('the store is away');
      return body;
    },
  };
  return { asked, fails, reader: new HealthReader(store, 'production') };
}

const visitors = async (reader: HealthReader, since = '', when = now): Promise<string[]> =>
  (await reader.record(since, when)).events.map(({ visitor }) => visitor);

test.each([-60, -10, 10, 60])(
  'reports of a server whose clock is %i minutes off are dated by the store',
  async (off) => {
    const right = Date.now();
    rs.useFakeTimers({ toFake: ['Date'], now: right + off * 60_000 });
    const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
    recorder.record({ build: 'b', set: 's', candidate: false, outcome: 'loaded' }, 'one');
    await recorder.flush();
    rs.useRealTimers();
    const { events } = await new HealthReader(at.store, 'production').record('');
    expect(events.map((event) => Math.abs(Date.parse(event.at) - right) < 60_000)).toEqual([true]);
  },
);

describe('reading the health record', () => {
  test('a single store failure neither loses nor duplicates an event', async () => {
    for (let n = 0; n < 40; n += 1) await told(ago(1000 - n), `v${n}`);
    const { fails, reader } = openLog({ key: '-v7.' });
    await expect(visitors(reader)).rejects.toThrow('the store is away');
    fails.key = '';
    const found = await visitors(reader);
    expect(found).toHaveLength(40);
    expect(new Set(found).size).toBe(40);
  });

  test('two simultaneous readers count every event once', async () => {
    for (let n = 0; n < 20; n += 1) await told(ago(1000 - n), `v${n}`);
    const { reader } = openLog();
    const both = await Promise.all([visitors(reader), visitors(reader)]);
    expect(both.map((found) => found.length)).toEqual([20, 20]);
  });

  test('a truncated line loses that line only', async () => {
    await told(ago(2000), 'whole', `${line(ago(2000), 'whole')}\n{"build":"b","se`);
    expect(await visitors(openLog().reader)).toEqual(['whole']);
  });

  test('a limited number of files is read in parallel', async () => {
    for (let n = 0; n < 60; n += 1) await told(ago(1000 - n), `v${n}`);
    const { asked, reader } = openLog();
    await visitors(reader);
    expect(asked.most).toBeGreaterThan(4);
    expect(asked.most).toBeLessThanOrEqual(16);
  });

  test('only hours since the requested time are read, and earlier ones on a later request', async () => {
    await told(ago(5 * HOUR_MS), 'former');
    await told(ago(HOUR_MS), 'early');
    await told(ago(1000), 'late');
    const { asked, reader } = openLog();
    expect(await visitors(reader, ago(2000).toISOString())).toEqual(['late']);
    expect(asked.read).toHaveLength(1);
    expect(await visitors(reader)).toEqual(['former', 'early', 'late']);
    expect(asked.read).toHaveLength(3);
  });

  test('a past hour is listed once more and then cached for a day', async () => {
    await told(ago(3 * HOUR_MS), 'former');
    await told(ago(1000), 'late');
    const { asked, reader } = openLog();
    await visitors(reader);
    asked.listed = [];
    await told(ago(500), 'later');
    expect(await visitors(reader)).toEqual(['former', 'late', 'later']);
    expect(asked.listed).toEqual(['health/production/2026-11-03T12/']);
    expect(await visitors(reader, '', new Date(now.getTime() + 22 * HOUR_MS))).toEqual(['late', 'later']);
    expect(asked.read).toHaveLength(3);
  });
});
