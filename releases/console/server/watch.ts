import { randomUUID } from 'node:crypto';
import { renewChannel } from '../../src/channel/changeChannel.ts';
import { makeGate } from '../../src/gate/gate.ts';
import { alarmLine, readHealth, stopIfWorse } from '../../src/health/autoStop.ts';
import { parseJson } from '../../src/model/build.ts';
import { settleProposals } from '../../src/operations/approval.ts';
import { sweepUploads } from '../../src/operations/collectGarbage.ts';
import { sweepPreviews } from '../../src/operations/override.ts';
import { takeDueSteps } from '../../src/operations/schedule.ts';
import type { Gate } from '../../src/operations/switching.ts';
import { deliver } from '../../src/operations/webhooks.ts';
import type { Store } from '../../src/store/store.ts';
import type { ConsoleContext } from './ConsoleContext.ts';

const HELD_MILLISECONDS = 20_000;
const LONGEST_BELIEVED_MILLISECONDS = 5 * 60_000;

/** One holder at a time, across processes; whoever stops renewing loses it after 20 seconds. */
export class Lease {
  readonly #store: Store;
  readonly #key: string;
  readonly #holder = randomUUID();

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#key = `leases/${name}.json`;
  }

  /** Takes the lease, or renews it in the last half of its life: on a file store each renewal is a file. Returns whether it is held now. */
  async hold(now = Date.now()): Promise<boolean> {
    const pointer = await this.#store.readPointer(this.#key);
    const held = pointer ? parseJson(pointer.body, this.#key) : null;
    if (held instanceof Object && 'holder' in held && 'until' in held) {
      const left = Number(held.until) - now;
      // longer than anybody holds it: taken by a clock that is wrong
      if (held.holder !== this.#holder && left > 0 && left <= LONGEST_BELIEVED_MILLISECONDS) return false;
      if (held.holder === this.#holder && left > HELD_MILLISECONDS / 2) return true;
    }
    const body = JSON.stringify({ holder: this.#holder, until: now + HELD_MILLISECONDS, nonce: randomUUID() });
    return this.#store.swapPointer(this.#key, body, pointer?.tag ?? null);
  }
}

const LOOK_MILLISECONDS = 5000;

/** Does each duty for every channel; what fails is counted and reported, and stops neither the other duties nor the other channels. */
async function forEachChannel(
  console: ConsoleContext,
  onProblem: (cause: unknown) => void,
  ...duties: ((channel: string) => Promise<unknown>)[]
): Promise<void> {
  for (const channel of await console.channels())
    for (const duty of duties)
      await duty(channel).catch((cause) => {
        console.options.counters?.problems.inc();
        onProblem(cause);
      });
}

/** One round over all channels: stops candidates that harm, and renews documents that age. Only the lease's holder acts. */
export async function watchOnce(
  console: ConsoleContext,
  lease: Lease,
  onProblem: (cause: unknown) => void,
): Promise<void> {
  if (!(await lease.hold())) return;
  const stop = async (channel: string) => {
    if (await stopIfWorse(console.writer(channel, 'console'), console.healthReader(channel)))
      console.options.counters?.automaticStops.inc({ channel });
  };
  const renew = async (channel: string) => renewChannel(console.writer(channel, 'console'));
  await forEachChannel(console, onProblem, stop, renew);
}

/**
 * One round over all schedules, and over what waits for a second person. It has a turn of its own, since a step to everyone asks the gate, which may take a minute: the
 * automatic stop never waits for that.
 */
export async function stepOnce(
  console: ConsoleContext,
  lease: Lease,
  onProblem: (cause: unknown) => void,
): Promise<void> {
  if (!(await lease.hold())) return;
  await forEachChannel(console, onProblem, async (channel) => {
    const writer = console.writer(channel, 'console');
    const gate = async (): Promise<Gate> => {
      const judge = makeGate(writer, { smoke: await console.options.smokeFor(channel) });
      return (proposal) => console.inTurn('schedule', () => judge(proposal));
    };
    await takeDueSteps(writer, console.healthReader(channel), gate);
    await settleProposals(writer);
  });
}

/** One round over all webhooks, if the lease is ours and for as long as it is; a receiver may take ten seconds. */
export async function deliverOnce(
  console: ConsoleContext,
  lease: Lease,
  onProblem: (cause: unknown) => void,
): Promise<void> {
  if (!(await lease.hold())) return;
  await forEachChannel(console, onProblem, async (channel) =>
    deliver(console.writer(channel, 'console'), console.webhookRules, () => lease.hold()),
  );
}

const ALARM_MILLISECONDS = 60_000;

/** Tells of every build that began to fail everybody, once for as long as it does. */
export async function alarmOnce(console: ConsoleContext, onProblem: (cause: unknown) => void): Promise<void> {
  await forEachChannel(console, onProblem, async (channel) => {
    const { health } = await readHealth(console.writer(channel, 'console'), console.healthReader(channel));
    for (const alarm of console.newAlarms(channel, health)) {
      console.options.counters?.alarms.inc({ channel });
      onProblem(new Error(`alarm in ${channel}: ${alarmLine(alarm)}`));
    }
  });
}

const SWEEP_MILLISECONDS = 3_600_000;

/** Removes uploads that were given up and leave for previews that has ended, if the lease is ours. */
export async function sweepOnce(console: ConsoleContext, lease: Lease): Promise<void> {
  if (!(await lease.hold())) return;
  const { store, key } = console.options;
  await sweepUploads(store);
  await sweepPreviews(store, key.publicKey, await store.time());
  console.quota.forget();
}

/** The work, left out while a former round of it still runs. */
function oneAtATime(work: () => Promise<void>): () => void {
  let running = false;
  return () => {
    if (running) return;
    running = true;
    void work().finally(() => {
      running = false;
    });
  };
}

/** Watches until the returned function is called. */
export function startWatch(console: ConsoleContext, onProblem: (cause: unknown) => void): () => void {
  const lease = new Lease(console.options.store, 'watch');
  const steps = new Lease(console.options.store, 'steps');
  const webhooks = new Lease(console.options.store, 'webhooks');
  const timers = [
    setInterval(
      oneAtATime(() => watchOnce(console, lease, onProblem).catch(onProblem)),
      LOOK_MILLISECONDS,
    ).unref(),
    setInterval(
      oneAtATime(() => stepOnce(console, steps, onProblem).catch(onProblem)),
      LOOK_MILLISECONDS,
    ).unref(),
    setInterval(
      oneAtATime(() => deliverOnce(console, webhooks, onProblem).catch(onProblem)),
      LOOK_MILLISECONDS,
    ).unref(),
    setInterval(() => void alarmOnce(console, onProblem).catch(onProblem), ALARM_MILLISECONDS).unref(),
    setInterval(() => void sweepOnce(console, lease).catch(onProblem), SWEEP_MILLISECONDS).unref(),
  ];
  return () => timers.forEach(clearInterval);
}
