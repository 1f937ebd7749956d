export type RealtimeStatus = 'off' | 'connecting' | 'live' | 'waiting';

export interface Clock {
  now: () => number;
  /** Runs once after that time; returns the way to prevent it. */
  after: (milliseconds: number, run: () => void) => () => void;
}

const realClock: Clock = {
  now: () => performance.now(),
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
/** the longest pause, to which pauses double from the first */
const LONGEST_PAUSE_MS: Record<CloseReason, number> = {
  unreachable: 5_000,
  unauthorized: 30_000,
  refused: 10 * 60_000,
};
/** short, so that an attempt begun in an outage does not outlast it by much … */
const OPEN_BUDGET_MS = 4_000;
/** … but now and then long enough for the slowest network */
const LONG_OPEN_BUDGET_MS = 12_000;
const LONG_ATTEMPT_EVERY = 4;
const JOIN_BUDGET_MS = 12_000;
const PING_BUDGET_MS = 3_000;
/** a connection that lived this long was a good one */
const GOOD_AFTER_MS = 5_000;
/** how long a page may go on listening whose session has ended unheard, give or take a fifth so that pages spread */
const REAUTHORIZE_AFTER_MS = 5 * 60_000;
/** lets a log-out in another tab be heard by that tab's own word first */
const SESSION_ENDED_PAUSE_MS = 1_000;

/** What makes another attempt worth while: another network, or somebody who looks. */
export type Nudge = 'network' | 'attention';

/**
 * Keeps one link alive: every failure leads to a new attempt after a pause of full jitter, up to 5 s where the server is
 * away, 10 min where it has refused. pusher-js by itself waits 15 → 60 s after a refused retry and gives up for ever on some codes.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #clock: Clock;
  #status: RealtimeStatus = 'off';
  #link: Link | null = null;
  #loading: Promise<Link | null> | null = null;
  /** since the last good connection */
  #failures = 0;
  /** refusals in a row */
  #refusals = 0;
  #attempts = 0;
  #liveSince = 0;
  #socketId = '';
  /** counts starts and stops, so that what was begun before is recognised */
  #run = 0;
  #cancelTimer = () => {};
  #cancelPing = () => {};
  #cancelReauthorization = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  start() {
    if (this.#status !== 'off') return;
    this.#run += 1;
    this.#failures = 0;
    this.#refusals = 0;
    void this.#connect();
  }

  stop() {
    if (this.#status === 'off') return;
    this.#run += 1;
    this.#cancelTimer();
    this.#cancelPing();
    this.#cancelReauthorization();
    this.#become('off');
    this.#link?.disconnect();
  }

  /** Something suggests that it may work now. Attention alone does not open what was refused. */
  nudge(by: Nudge) {
    if (this.#status === 'live') this.#probe();
    else if (this.#status === 'waiting') {
      if (by === 'network' || this.#refusals === 0) void this.#connect();
    } else if (this.#status === 'connecting' && this.#link) {
      // an attempt begun without the network, or before the page was frozen, may hang
      this.#link.disconnect();
      void this.#connect();
    }
  }

  /** A session of this user has ended somewhere: whether it was this page's, the server says. */
  sessionEnded() {
    if (this.#status === 'live') this.#reauthorizeAfter(SESSION_ENDED_PAUSE_MS);
  }

  readonly #events: LinkEvents = {
    onOpen: (socketId) => {
      if (this.#status !== 'connecting') return;
      this.#socketId = socketId;
      this.#within(JOIN_BUDGET_MS, () => this.#fail('unauthorized'));
      this.#link?.join();
    },
    onJoined: () => {
      if (this.#status !== 'connecting') return;
      this.#cancelTimer();
      this.#attempts = 0;
      this.#refusals = 0;
      this.#liveSince = this.#clock.now();
      this.#reauthorizeAfter(REAUTHORIZE_AFTER_MS * (0.8 + 0.4 * this.#random()));
      this.#become('live', this.#socketId);
    },
    onClose: (reason) => this.#fail(reason),
    onActivity: () => this.#cancelPing(),
    onEvent: (event, payload) => this.#options.onEvent(event, payload),
  };

  async #connect() {
    const run = this.#run;
    this.#become('connecting');
    this.#attempts += 1;
    const isLong = this.#attempts % LONG_ATTEMPT_EVERY === 0;
    // after a wait that long there is nobody to spare
    this.#within(isLong ? LONG_OPEN_BUDGET_MS : OPEN_BUDGET_MS, () => this.#fail('unreachable', FIRST_PAUSE_MS));
    this.#link ??= await this.#load();
    if (run !== this.#run || this.#status !== 'connecting') return;
    if (this.#link) this.#link.connect();
    else this.#fail('unreachable');
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

  #fail(reason: CloseReason, longestPauseMs = LONGEST_PAUSE_MS[reason]) {
    if (this.#status === 'off' || this.#status === 'waiting') return;
    if (this.#status === 'live' && this.#clock.now() - this.#liveSince >= GOOD_AFTER_MS) this.#failures = 0;
    this.#cancelPing();
    this.#cancelReauthorization();
    this.#link?.disconnect();
    const doublings = reason === 'refused' ? this.#refusals : this.#failures;
    const ceiling = Math.min(longestPauseMs, FIRST_PAUSE_MS * 2 ** doublings);
    this.#failures += 1;
    this.#refusals = reason === 'refused' ? this.#refusals + 1 : 0;
    this.#become('waiting');
    this.#within(this.#random() * ceiling, () => void this.#connect());
  }

  #probe() {
    this.#cancelPing();
    this.#cancelPing = this.#clock.after(PING_BUDGET_MS, () => this.#fail('unreachable'));
    this.#link?.ping();
  }

  #reauthorizeAfter(milliseconds: number) {
    this.#cancelReauthorization();
    this.#cancelReauthorization = this.#clock.after(milliseconds, () => {
      this.#link?.reauthorize();
      this.#reauthorizeAfter(REAUTHORIZE_AFTER_MS);
    });
  }

  #random(): number {
    const { random = Math.random } = this.#options;
    return random();
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

/** Why there is no connection. */
export type CloseReason =
  /** The network or the server is away, or the server has ended the connection: worth another attempt soon. */
  | 'unreachable'
  /** The server does not let this page join now; it may a little later, or with a new session. */
  | 'unauthorized'
  /** No socket will be had this way: no such address, no such app, not from this origin. */
  | 'refused';

/** What a link tells its supervisor. */
export interface LinkEvents {
  /** The socket is open; `socketId` names it to the server. */
  onOpen: (socketId: string) => void;
  onClose: (reason: CloseReason) => void;
  onJoined: () => void;
  /** Any frame has arrived. */
  onActivity: () => void;
  onEvent: (event: string, payload: unknown) => void;
}

/** A socket with one private channel. After `disconnect` it is silent until `connect`. */
export interface Link {
  connect: () => void;
  disconnect: () => void;
  join: () => void;
  /** Asks for a sign of life. */
  ping: () => void;
  /** Asks the server whether this page may still listen; closes if it may not. */
  reauthorize: () => void;
}

export type OpenLink = (userId: string, events: LinkEvents) => Link | Promise<Link>;
