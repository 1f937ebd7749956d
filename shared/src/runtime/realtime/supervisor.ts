import type { Link, LinkEvents } from './link';

export type RealtimeStatus = 'off' | 'connecting' | 'live' | 'waiting';

export interface Clock {
  now: () => number;
  /** Runs once after that time; returns the way to prevent it. */
  after: (milliseconds: number, run: () => void) => () => void;
}

const realClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

interface SupervisorOptions {
  openLink: (events: LinkEvents) => Link | Promise<Link>;
  onStatus: (status: RealtimeStatus, socketId?: string) => void;
  onEvent: LinkEvents['onEvent'];
  clock?: Clock;
  /** in [0, 1) */
  random?: () => number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** a server that refuses the subscription is asked less and less */
const LONGEST_REFUSED_PAUSE_MS = 30_000;
/** short, so that an attempt begun in an outage does not outlast it by much … */
const OPEN_BUDGET_MS = 4_000;
/** … but now and then long enough for the slowest network */
const LONG_OPEN_BUDGET_MS = 12_000;
const LONG_ATTEMPT_EVERY = 4;
const JOIN_BUDGET_MS = 12_000;
const PING_BUDGET_MS = 3_000;
/** a connection that lived this long was a good one */
const GOOD_AFTER_MS = 5_000;

/**
 * Keeps one link alive: every failure, of whatever kind, leads to a new attempt after a pause of full jitter (0.5 → 5 s).
 * pusher-js by itself waits 15 → 60 s after a refused retry and gives up for ever on some codes.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #clock: Clock;
  #status: RealtimeStatus = 'off';
  #link: Link | null = null;
  #loading: Promise<Link | null> | null = null;
  /** since the last good connection */
  #failures = 0;
  #attempts = 0;
  #liveSince = 0;
  #socketId = '';
  /** counts starts and stops, so that what was begun before is recognised */
  #run = 0;
  #cancelTimer = () => {};
  #cancelPing = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  start() {
    if (this.#status !== 'off') return;
    this.#run += 1;
    this.#failures = 0;
    void this.#connect();
  }

  stop() {
    if (this.#status === 'off') return;
    this.#run += 1;
    this.#cancelTimer();
    this.#cancelPing();
    this.#become('off');
    this.#link?.disconnect();
  }

  /** Something suggests that the network is there (again): `online`, or the page is looked at. */
  nudge() {
    if (this.#status === 'live') this.#probe();
    else if (this.#status === 'waiting') void this.#connect();
    else if (this.#status === 'connecting' && this.#link) {
      // an attempt begun without the network, or before the page was frozen, may hang
      this.#link.disconnect();
      void this.#connect();
    }
  }

  readonly #events: LinkEvents = {
    onOpen: (socketId) => {
      if (this.#status !== 'connecting') return;
      this.#socketId = socketId;
      this.#within(JOIN_BUDGET_MS, () => this.#fail(LONGEST_REFUSED_PAUSE_MS));
      this.#link?.join();
    },
    onJoined: () => {
      if (this.#status !== 'connecting') return;
      this.#cancelTimer();
      this.#attempts = 0;
      this.#liveSince = this.#clock.now();
      this.#become('live', this.#socketId);
    },
    onClose: () => this.#fail(LONGEST_PAUSE_MS),
    onRefused: () => this.#fail(LONGEST_REFUSED_PAUSE_MS),
    onActivity: () => this.#cancelPing(),
    onEvent: (event, payload) => this.#options.onEvent(event, payload),
  };

  async #connect() {
    const run = this.#run;
    this.#become('connecting');
    this.#attempts += 1;
    const isLong = this.#attempts % LONG_ATTEMPT_EVERY === 0;
    // after a wait that long there is nobody to spare
    this.#within(isLong ? LONG_OPEN_BUDGET_MS : OPEN_BUDGET_MS, () => this.#fail(FIRST_PAUSE_MS));
    this.#link ??= await this.#load();
    if (run !== this.#run || this.#status !== 'connecting') return;
    if (this.#link) this.#link.connect();
    else this.#fail(LONGEST_PAUSE_MS);
  }

  /** Two attempts may wait for the same code. */
  #load(): Promise<Link | null> {
    this.#loading ??= Promise.resolve(this.#options.openLink(this.#events))
      .catch((cause: unknown) => {
        console.warn('realtime could not be loaded', cause);
        return null;
      })
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  #fail(longestPauseMs: number) {
    if (this.#status === 'off' || this.#status === 'waiting') return;
    if (this.#status === 'live' && this.#clock.now() - this.#liveSince >= GOOD_AFTER_MS) this.#failures = 0;
    this.#cancelPing();
    this.#link?.disconnect();
    const ceiling = Math.min(longestPauseMs, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#become('waiting');
    const { random = Math.random } = this.#options;
    this.#within(random() * ceiling, () => void this.#connect());
  }

  #probe() {
    this.#cancelPing();
    this.#cancelPing = this.#clock.after(PING_BUDGET_MS, () => this.#fail(LONGEST_PAUSE_MS));
    this.#link?.ping();
  }

  #within(milliseconds: number, run: () => void) {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(milliseconds, run);
  }

  #become(status: RealtimeStatus, socketId?: string) {
    this.#status = status;
    this.#options.onStatus(status, socketId);
  }
}
