import { isName } from '@liaozhai/shared/contract';
import { counterIn, type Metrics } from '@liaozhai/telemetry/metrics';
import { type Catalog, publishedIds } from '../../src/builds/catalog.ts';
import { limitsFrom, Quota, type QuotaLimits } from '../../src/builds/publish.ts';
import { currentDocument, listChannels } from '../../src/channel/readChannel.ts';
import type { Writer } from '../../src/channel/writer.ts';
import { ReleaseError, refused } from '../../src/errors.ts';
import type { GateCheck } from '../../src/gate/gate.ts';
import { INCIDENT_MS } from '../../src/health/alarm.ts';
import type { BuildHealth, Health } from '../../src/health/autoStop.ts';
import { HealthReader } from '../../src/health/healthRecord.ts';
import { nameOf } from '../../src/model/build.ts';
import type { ChannelDocument } from '../../src/model/channel.ts';
import type { SigningKey } from '../../src/model/signing.ts';
import type { SiteOf } from '../../src/operations/override.ts';
import { webhookRulesFrom } from '../../src/policies/webhookAddress.ts';
import { localClient, type ReleaseClient } from '../../src/releaseClient.ts';
import { say } from '../../src/sentences.ts';
import { namesBelow, type Store } from '../../src/store/store.ts';
import type { SignIn } from './signIn.ts';

const MAX_TASKS_PER_CALLER = 3;

/** Runs tasks one at a time, in order of arrival. Limits each caller to three, so that nobody can fill the queue. */
class TaskQueue {
  #lastTask: Promise<unknown> = Promise.resolve();
  readonly #taskCounts = new Map<string, number>();

  /** Throws refused if three tasks of this caller are queued or running. */
  async run<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    const count = this.#taskCounts.get(caller) ?? 0;
    if (count >= MAX_TASKS_PER_CALLER) throw refused(say('busy', { count }), say('busyCure'));
    this.#taskCounts.set(caller, count + 1);
    const task = this.#lastTask.then(work, work);
    this.#lastTask = task;
    try {
      return await task;
    } finally {
      this.#release(caller);
    }
  }

  #release(caller: string): void {
    const remaining = (this.#taskCounts.get(caller) ?? 1) - 1;
    if (remaining > 0) this.#taskCounts.set(caller, remaining);
    else this.#taskCounts.delete(caller);
  }
}

export function consoleCounters({ registry, countRequest }: Metrics) {
  const counter = counterIn(registry);
  return {
    countRequest,
    changes: counter(
      'console_changes_total',
      'Requested changes, by verb and how they ended: done, or the kind of the refusal.',
      'verb',
      'result',
    ),
    automaticStops: counter('automatic_stops_total', 'Candidates that this automatic stop ended.', 'channel'),
    alarms: counter('alarms_total', 'Stable builds that began to fail everybody.', 'channel'),
    problems: counter('console_problems_total', 'What the watch over the channels could not do, alarms aside.'),
  };
}

export type ConsoleCounters = ReturnType<typeof consoleCounters>;

export interface ConsoleOptions {
  store: Store;
  catalog: Catalog;
  key: SigningKey;
  /** The channel shown first. */
  channel: string;
  /** Returns the gate's browser check for a channel; null skips it. */
  smokeFor: (channel: string) => Promise<GateCheck | null>;
  /** Address at which a channel is served. */
  siteOf?: SiteOf;
  /** Public origin of the console. Default: the `Host` of each request. */
  publicOrigin?: string;
  /** Quotas for publishing. Default: those of the environment. */
  limits?: QuotaLimits;
  /** Sign-in at an OpenID provider, in addition to tokens. */
  signIn?: SignIn | null;
  /** Left out where no metrics are collected. */
  counters?: ConsoleCounters | null;
}

type ClientOptions = { withSmoke?: boolean } & Pick<Writer, 'permit' | 'actor'>;

/** State and services shared by the API's handlers. */
export class ConsoleContext {
  readonly options: ConsoleOptions;
  readonly quota: Quota;
  readonly webhookRules = webhookRulesFrom();
  readonly #health = new Map<string, HealthReader>();
  /** Time of the last alarm of each build, by channel. */
  readonly #alarms = new Map<string, Map<string, number>>();
  readonly #labels = new Map<string, string>();
  readonly #queue = new TaskQueue();

  constructor(options: ConsoleOptions) {
    this.options = options;
    this.quota = new Quota(options.store, options.limits ?? limitsFrom());
  }

  /** Returns a writer that acts as `who`. Throws refused for an invalid channel name. */
  writer(channel: string, who: string, access: Pick<Writer, 'permit' | 'actor'> = {}): Writer {
    if (!isName(channel)) throw refused(say('notAChannel', { text: channel }), say('notAChannelCure'));
    const { store, catalog, key } = this.options;
    return { store, catalog, key, channel, who, now: () => new Date(), ...access };
  }

  /** With `withSmoke`, the gate includes the browser check. */
  async client(
    channel: string,
    who: string,
    { withSmoke = false, ...access }: ClientOptions = {},
  ): Promise<ReleaseClient> {
    const provenance = () => ({ commit: null, at: new Date().toISOString(), publisher: who });
    const smoke = withSmoke ? await this.options.smokeFor(channel) : null;
    const site = this.options.siteOf?.(channel) ?? null;
    return localClient(this.writer(channel, who, access), {
      smoke,
      provenance,
      site,
      health: this.healthReader(channel),
    });
  }

  /**
   * Runs tasks that need the gate one at a time, so that only one browser runs. Each change is checked against the result of the
   * previous one, so concurrent switches of several teams all succeed.
   */
  runInTurn<Result>(who: string, work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(who, work);
  }

  current(channel: string): Promise<ChannelDocument> {
    const { store, key } = this.options;
    return currentDocument({ store, channel, key });
  }

  async channels(): Promise<string[]> {
    return listChannels(this.options.store);
  }

  /** Returns alarming builds without an alarm in the last `INCIDENT_MS`. A build that recovers briefly stays in the same incident. */
  newAlarms(channel: string, health: Health): BuildHealth[] {
    const now = Date.now();
    const alarmingBuilds = health.builds.filter(({ alarm }) => alarm);
    const lastAlarms = this.#alarms.get(channel) ?? new Map<string, number>();
    const incidents = alarmingBuilds.filter(({ build }) => now - (lastAlarms.get(build) ?? 0) >= INCIDENT_MS);
    this.#alarms.set(channel, new Map([...lastAlarms, ...alarmingBuilds.map(({ build }) => [build, now] as const)]));
    return incidents;
  }

  /** Returns every published package with its label, from the live build or else from the newest. */
  async names(channel: string): Promise<{ name: string; label: string }[]> {
    const { store, catalog } = this.options;
    const names = await namesBelow(store, 'versions/');
    const live = (await this.current(channel)).stable?.builds ?? [];
    const labelOf = async (name: string) => {
      const build = live.find((id) => nameOf(id) === name);
      const label = this.#labels.get(build ?? name) ?? (await this.#readLabel(catalog, name, build));
      this.#labels.set(build ?? name, label);
      return { name, label };
    };
    return Promise.all(names.map(labelOf));
  }

  async #readLabel(catalog: Catalog, name: string, liveBuild: string | undefined): Promise<string> {
    try {
      const id = liveBuild ?? (await publishedIds(catalog.store, name)).at(-1);
      return id ? (await catalog.record(id)).description.label || name : name;
    } catch (cause) {
      // the list of builds reports the damage
      if (cause instanceof ReleaseError) return name;
      throw cause;
    }
  }

  healthReader(channel: string): HealthReader {
    const reader = this.#health.get(channel) ?? new HealthReader(this.options.store, channel);
    this.#health.set(channel, reader);
    return reader;
  }
}
