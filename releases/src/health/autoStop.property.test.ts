import { HOUR_MS, MINUTE_MS } from '@liaozhai/shared/contract';
import { afterAll, afterEach, beforeAll, beforeEach, expect, rs, test } from '@rstest/core';
import fc from 'fast-check';
import { createChannel } from '../channel/changeChannel.ts';
import { currentDocument, readLog } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { ReleaseError } from '../errors.ts';
import { nameOf } from '../model/build.ts';
import { candidatesOf, liveIn } from '../model/channel.ts';
import { rollback } from '../operations/goingBack.ts';
import { abort, activate, canary } from '../operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { stopIfWorse } from './autoStop.ts';
import { HealthReader, HealthRecorder } from './healthRecord.ts';

const VERSIONS = 12;

let at: TestStore;
const hosts: string[] = [];
const pool: Record<'stories' | 'chat', string[]> = { stories: [], chat: [] };
beforeAll(async () => {
  at = await openTestStore();
  hosts.push(await at.host());
  for (const name of ['stories', 'chat'] as const)
    for (let n = 0; n < VERSIONS; n += 1) pool[name].push(await at.remote(name, `1.${n}.0`));
});
afterAll(() => at.remove());
beforeEach(() => {
  rs.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  rs.useRealTimers();
});

const remote = fc.constantFrom('stories', 'chat');
const minutes = fc.constantFrom(1, 7, 40, 90, 400, 1600);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('visits'), thrown: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('begin'), name: remote, broken: fc.boolean(), again: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('clockBack', 'clockAhead'), minutes }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('ramp', 'abort', 'rollback', 'activate'), name: remote }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('restart', 'twoConsoles') }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const visits = { does: 'visits', thrown: false } as const;
const begin = (name: 'stories' | 'chat', broken: boolean, again = false) =>
  ({ does: 'begin', name, broken, again }) as const;
const clockBack = { does: 'clockBack', minutes: 90 } as const;
/** Histories that once ended wrong. */
const found: [Step[]][] = [
  // reports of before the clock was set back counted for a later candidate of the same build
  [[begin('stories', true), visits, clockBack, begin('stories', false, true)]],
  // an hour that was over by a wrong clock was never read again
  [[begin('chat', false), visits, { does: 'clockAhead', minutes: 90 }, clockBack, begin('stories', true), visits]],
];

const VISITORS = 40;
/** Of each group's visitors. Those of a broken candidate are beyond chance after one round of visits. */
const FAILING = { sound: 2, broken: 25 };

/** One channel through a random history, with a look of the automatic stop after each step. */
class History {
  readonly #real = performance.timeOrigin;
  readonly #channel: string;
  readonly #unused = { stories: pool.stories.slice(1), chat: pool.chat.slice(1) };
  readonly #broken = new Map<string, boolean>();
  readonly #tried: string[] = [];
  readonly #visitTimes: number[] = [];
  /** Candidates of builds that were tried before: whose visits are whose, only a right clock can say. */
  readonly #again = new Set<string>();
  #clock = Date.now();
  #latest = this.#clock;
  #reader: HealthReader;
  #visitors = 0;
  stops: string[] = [];

  constructor(channel: string) {
    this.#channel = channel;
    this.#reader = new HealthReader(at.store, channel);
  }

  get #writer(): Writer {
    const { store } = at.after(this.#clock - (this.#real + performance.now()));
    return { ...at.writer, store, channel: this.#channel, now: () => new Date() };
  }

  #pass(minutes: number): void {
    this.#clock += minutes * MINUTE_MS;
    this.#latest = Math.max(this.#latest, this.#clock);
    rs.setSystemTime(this.#clock);
  }

  async begin(): Promise<void> {
    this.#pass(0);
    await createChannel(this.#writer);
    const [stories = '', chat = ''] = [pool.stories[0], pool.chat[0]];
    await activate(this.#writer, [...hosts, stories, chat], { gate: openGate });
  }

  async #visits(thrown: boolean): Promise<void> {
    this.#visitTimes.push(this.#clock);
    const document = await currentDocument(this.#writer);
    const recorder = new HealthRecorder(this.#writer.store, this.#channel, (cause) => Promise.reject(cause));
    const live = ['stories', 'chat'].flatMap((each) => liveIn(document, each));
    const groups = [
      { set: document.stable?.set ?? '', tried: [] as readonly string[] },
      ...candidatesOf(document).map(({ set, builds }) => ({ set, tried: builds })),
    ];
    for (const { set, tried } of groups)
      for (let n = 0; n < VISITORS; n += 1) {
        this.#visitors += 1;
        const visitor = `visitor ${this.#visitors}`;
        const page = { set, candidate: tried.length > 0 };
        for (const build of [...tried, ...live.filter((id) => !tried.map(nameOf).includes(nameOf(id)))]) {
          const failed = n < FAILING[this.#broken.get(build) ? 'broken' : 'sound'];
          const fallback = live.find((id) => id !== build && nameOf(id) === nameOf(build));
          const error = { build, kind: 'uncaught', name: 'TypeError', message: null, route: '/', frames: [] } as const;
          if (failed && !thrown) recorder.record({ ...page, build, outcome: 'failed', failure: 'hang' }, visitor);
          else recorder.record({ ...page, build, outcome: 'loaded' }, visitor);
          if (failed && thrown) recorder.recordError({ ...error, frames: [] }, { visitor, browser: 'Safari 17' });
          if (failed && !thrown && fallback) recorder.record({ ...page, build: fallback, outcome: 'loaded' }, visitor);
        }
      }
    await recorder.flush();
  }

  async #begin(of: 'stories' | 'chat', broken: boolean, again: boolean): Promise<void> {
    // after a clock was set back, the visits of the build's former trial count for the next one, unless they are far ahead
    const isRight = this.#clock >= this.#latest;
    const isClear = this.#visitTimes.every((at) => (isRight && at < this.#clock) || at > this.#clock + HOUR_MS);
    const former = again && isClear ? this.#tried.find((id) => nameOf(id) === of) : undefined;
    const build = former ?? this.#unused[of].shift();
    if (!build) return;
    this.#broken.set(build, broken);
    this.#tried.push(build);
    if (former) this.#again.add(build);
    await canary(this.#writer, [build], 10, { gate: openGate });
  }

  async take(each: Step): Promise<void> {
    this.#pass(1);
    const writer = this.#writer;
    const running = candidatesOf(await currentDocument(writer)).flatMap(({ builds }) => builds);
    if (each.does === 'visits') return this.#visits(each.thrown);
    if (each.does === 'begin') return this.#begin(each.name, each.broken, each.again);
    if ('minutes' in each) {
      const ahead = each.does === 'clockAhead' ? each.minutes : -each.minutes;
      if (!running.some((id) => this.#again.has(id))) this.#pass(ahead);
      return;
    }
    if (each.does === 'restart') this.#reader = new HealthReader(at.store, this.#channel);
    if (!('name' in each)) return;
    const percent = 10 + (this.#visitors % 60);
    if (each.does === 'ramp') await canary(writer, [], percent, { name: each.name, gate: openGate });
    if (each.does === 'abort') await abort(writer, { name: each.name });
    if (each.does === 'rollback') await rollback(writer, { name: each.name });
    const build = this.#unused[each.name].shift();
    if (each.does === 'activate' && build) await activate(writer, [build], { gate: openGate });
  }

  /** Looks as one console does, or two together, and compares what ends with what has to end. */
  async look(each: Step): Promise<void> {
    const before = await currentDocument(this.#writer);
    const consoles =
      each.does === 'twoConsoles' ? [this.#reader, new HealthReader(at.store, this.#channel)] : [this.#reader];
    const hasVisits = each.does === 'visits';
    const due = candidatesOf(before)
      .flatMap(({ builds }) => builds)
      .filter((id) => this.#broken.get(id));
    for (let ended = true; ended; ) {
      const looks = consoles.map((reader) => stopIfWorse(this.#writer, reader));
      const outcomes = await Promise.allSettled(looks);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'conflict' });
      ended = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
    }
    const after = await currentDocument(this.#writer);
    expect(after.stable).toEqual(before.stable);
    const left = candidatesOf(after).flatMap(({ builds }) => builds);
    const stopped = candidatesOf(before)
      .flatMap(({ builds }) => builds)
      .filter((id) => !left.includes(id));
    expect(stopped.filter((id) => !this.#broken.get(id))).toEqual([]);
    if (hasVisits) expect(new Set(stopped)).toEqual(new Set(due));
    this.stops.push(...stopped);
  }

  /** Builds that the log says were stopped, oldest first. */
  async logged(): Promise<string[]> {
    const entries = await readLog(this.#writer, await currentDocument(this.#writer), 500);
    return entries
      .filter(({ who }) => who === 'auto-stop')
      .reverse()
      .flatMap(({ action }) => ('builds' in action ? action.builds : []));
  }
}

let channels = 0;

test('it ends every failing candidate after one round of visits, no sound one, never a live build, and logs each end once', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
    channels += 1;
    const history = new History(`history-${channels}`);
    await history.begin();
    for (const each of steps) {
      await history.take(each).catch((cause: unknown) => {
        if (!(cause instanceof ReleaseError)) throw cause;
      });
      await history.look(each);
    }
    expect((await history.logged()).sort()).toEqual(history.stops.sort());
  });
  await fc.assert(property, { examples: found, numRuns: Number(process.env.FC_RUNS ?? 20) });
});
