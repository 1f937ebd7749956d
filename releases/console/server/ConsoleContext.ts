import { isName } from '@liaozhai/shared/contract';
import type { Catalog } from '../../src/builds/catalog.ts';
import { limitsFrom, Quota, type QuotaLimits } from '../../src/builds/quota.ts';
import type { Writer } from '../../src/channel/changeChannel.ts';
import { requireChannel } from '../../src/channel/readChannel.ts';
import { refused } from '../../src/errors.ts';
import type { GateCheck, GateSubject } from '../../src/gate/gate.ts';
import { HealthReader } from '../../src/health/healthRecord.ts';
import type { ChannelDocument } from '../../src/model/channel.ts';
import type { SigningKey } from '../../src/model/signing.ts';
import { localClient, type ReleaseClient } from '../../src/releaseClient.ts';
import type { Store } from '../../src/store/store.ts';

const MOST_OF_ONE = 3;

/** Runs one work after another, in the order they came; nobody can fill the row. */
class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<string, number>();

  /** Throws refused if three works of this caller wait or run already. */
  async run<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(caller) ?? 0;
    if (waiting >= MOST_OF_ONE)
      throw refused(`${waiting} browser checks of yours are waiting already`, 'Wait until they are done.');
    this.#waiting.set(caller, waiting + 1);
    const mine = this.#last.then(work, work);
    this.#last = mine;
    try {
      return await mine;
    } finally {
      this.#leave(caller);
    }
  }

  #leave(caller: string): void {
    const left = (this.#waiting.get(caller) ?? 1) - 1;
    if (left > 0) this.#waiting.set(caller, left);
    else this.#waiting.delete(caller);
  }
}

export interface ConsoleOptions {
  store: Store;
  catalog: Catalog;
  key: SigningKey;
  /** The channel shown first. */
  channel: string;
  /** The gate's browser check for a channel, or null to go without. */
  smokeFor: (channel: string) => Promise<GateCheck | null>;
  /** How much may be published; those of the environment if left out. */
  limits?: QuotaLimits;
}

/** What the API's handlers share. */
export class ConsoleContext {
  readonly options: ConsoleOptions;
  readonly quota: Quota;
  readonly #health = new Map<string, HealthReader>();
  readonly #smokes = new OneAtATime();

  constructor(options: ConsoleOptions) {
    this.options = options;
    this.quota = new Quota(options.store, options.limits ?? limitsFrom());
  }

  /** A writer in someone's name. Throws refused for channels that do not exist. */
  writer(channel: string, who: string): Writer {
    if (!isName(channel)) throw refused(`"${channel}" is not a channel name`);
    const { store, catalog, key } = this.options;
    return { store, catalog, key, channel, who, now: () => new Date() };
  }

  /** With `judging` the browser check comes along; one browser runs at a time, whoever asks. */
  async client(channel: string, who: string, judging = false): Promise<ReleaseClient> {
    const provenance = () => ({ commit: null, at: new Date().toISOString(), publisher: who });
    const found = judging ? await this.options.smokeFor(channel) : null;
    const smoke = found && {
      name: found.name,
      run: (subject: GateSubject) => this.#smokes.run(who, () => found.run(subject)),
    };
    return localClient(this.writer(channel, who), { smoke, provenance });
  }

  async current(channel: string): Promise<ChannelDocument> {
    const { store, key } = this.options;
    return (await requireChannel(store, channel, key.publicKey)).document;
  }

  async channels(): Promise<string[]> {
    return (await this.options.store.children('channels/')).map((file) => file.replace(/\.json$/, ''));
  }

  healthReader(channel: string): HealthReader {
    const reader = this.#health.get(channel) ?? new HealthReader(this.options.store, channel);
    this.#health.set(channel, reader);
    return reader;
  }
}
