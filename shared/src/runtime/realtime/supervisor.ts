import { MINUTE_MS, pauseMs } from '../../contract';
import { type Clock, realClock } from '../retryPolicy';

export type RealtimeStatus = 'off' | 'connecting' | 'live' | 'waiting';

interface SupervisorOptions {
  openLink: (events: LinkEvents) => Link | Promise<Link>;
  onStatus: (status: RealtimeStatus, socketId?: string) => void;
  onEvent: LinkEvents['onEvent'];
  clock?: Clock;
  /** resolves when the page's request budget allows an attempt */
  turn?: () => Promise<void>;
  /** in [0, 1) */
  random?: () => number;
}

const FIRST_PAUSE_MS = 500;
/** the longest pause; pauses double from the first up to it */
const MAX_PAUSE_MS: Record<CloseReason, number> = {
  unreachable: 5_000,
  unauthorized: 30_000,
  refused: 10 * 60_000,
};
/** The longest pause after a minute of outage. */
const LONG_OUTAGE_PAUSE_MS = 15_000;
/** short, so that an attempt that began in an outage does not outlast it by much */
const OPEN_BUDGET_MS = 4_000;
/** every fourth attempt, for the slowest networks */
const LONG_OPEN_BUDGET_MS = 12_000;
const LONG_ATTEMPT_EVERY = 4;
const JOIN_BUDGET_MS = 12_000;
const PING_BUDGET_MS = 3_000;
/** a connection that lasted this long resets the failures */
const GOOD_AFTER_MS = 5_000;
/** interval of re-authorisation, for a session that ended without an event; ±20 % at first to spread the load */
const REAUTHORIZE_AFTER_MS = 5 * 60_000;
/** lets another tab's log-out message arrive first */
const SESSION_ENDED_PAUSE_MS = 1_000;

/** Reason for an early attempt: the network changed, or the user looks at the page. */
export type Nudge = 'network' | 'attention';

/**
 * Keeps one link alive. Each failure leads to a new attempt after a pause with full jitter. The pause is at most 5 s for an
 * unreachable server, 10 min for a refusal. pusher-js alone waits 15–60 s after a refused retry and gives up on some codes.
 */
export class Supervisor {
  readonly #options: Required<SupervisorOptions>;
  #status: RealtimeStatus = 'off';
  #link: Link | null = null;
  #pendingLink: Promise<Link | null> | null = null;
  /** since the last good connection */
  #failures = 0;
  /** consecutive refusals */
  #refusals = 0;
  #attempts = 0;
  #liveSince = 0;
  /** time of the start, or of the last moment live */
  #lastHealthyAt = 0;
  #socketId = '';
  /** counts starts and stops, to recognise work that began before one */
  #runNumber = 0;
  #cancelTimer = () => {};
  #cancelPing = () => {};
  #cancelReauthorization = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = { clock: realClock, turn: async () => {}, random: Math.random, ...options };
  }

  start() {
    if (this.#status !== 'off') return;
    this.#runNumber += 1;
    this.#lastHealthyAt = this.#options.clock.now();
    this.#failures = 0;
    this.#refusals = 0;
    void this.#connect();
  }

  stop() {
    if (this.#status === 'off') return;
    this.#runNumber += 1;
    this.#cancelTimer();
    this.#cancelPing();
    this.#cancelReauthorization();
    this.#setStatus('off');
    this.#link?.disconnect();
  }

  /** Retries early. Attention alone does not retry a refused connection. */
  nudge(reason: Nudge) {
    if (this.#status === 'live') this.#probe();
    else if (this.#status === 'waiting') {
      if (reason === 'network' || this.#refusals === 0) void this.#connect();
    } else if (this.#status === 'connecting' && this.#link) {
      // an attempt that began offline, or before the page was frozen, may never settle
      this.#link.disconnect();
      void this.#connect();
    }
  }

  /** One of the user's sessions has ended; the server's re-authorisation shows whether it was this page's. */
  sessionEnded() {
    if (this.#status === 'live') this.#reauthorizeAfter(SESSION_ENDED_PAUSE_MS);
  }

  readonly #events: LinkEvents = {
    onOpen: (socketId) => {
      if (this.#status !== 'connecting') return;
      this.#socketId = socketId;
      this.#schedule(JOIN_BUDGET_MS, () => this.#fail('unauthorized'));
      this.#link?.join();
    },
    onJoined: () => {
      if (this.#status !== 'connecting') return;
      this.#cancelTimer();
      this.#attempts = 0;
      this.#refusals = 0;
      this.#liveSince = this.#options.clock.now();
      this.#reauthorizeAfter(REAUTHORIZE_AFTER_MS * (0.8 + 0.4 * this.#options.random()));
      this.#setStatus('live', this.#socketId);
    },
    onClose: (reason) => this.#fail(reason),
    onActivity: () => this.#cancelPing(),
    onEvent: (event, payload) => this.#options.onEvent(event, payload),
  };

  async #connect() {
    const run = this.#runNumber;
    this.#setStatus('connecting');
    this.#attempts += 1;
    const isLong = this.#attempts % LONG_ATTEMPT_EVERY === 0;
    // the attempt itself has already waited, so the pause after its timeout stays short
    this.#schedule(isLong ? LONG_OPEN_BUDGET_MS : OPEN_BUDGET_MS, () => this.#fail('unreachable', FIRST_PAUSE_MS));
    const attempt = this.#attempts;
    await this.#options.turn();
    this.#link ??= await this.#loadLink();
    if (run !== this.#runNumber || attempt !== this.#attempts || this.#status !== 'connecting') return;
    if (this.#link) this.#link.connect();
    else this.#fail('unreachable');
  }

  /** Two attempts may await the same import. */
  #loadLink(): Promise<Link | null> {
    this.#pendingLink ??= Promise.resolve(this.#options.openLink(this.#events))
      .catch((cause: unknown) => {
        console.warn('realtime could not be loaded', cause);
        return null;
      })
      .finally(() => {
        this.#pendingLink = null;
      });
    return this.#pendingLink;
  }

  #longestPauseMs(reason: CloseReason): number {
    const isLong = reason === 'unreachable' && this.#options.clock.now() - this.#lastHealthyAt > MINUTE_MS;
    return isLong ? LONG_OUTAGE_PAUSE_MS : MAX_PAUSE_MS[reason];
  }

  #fail(reason: CloseReason, longestMs = this.#longestPauseMs(reason)) {
    if (this.#status === 'off' || this.#status === 'waiting') return;
    if (this.#status === 'live' && this.#options.clock.now() - this.#liveSince >= GOOD_AFTER_MS) this.#failures = 0;
    if (this.#status === 'live') this.#lastHealthyAt = this.#options.clock.now();
    this.#cancelPing();
    this.#cancelReauthorization();
    this.#link?.disconnect();
    const pause = pauseMs(
      reason === 'refused' ? this.#refusals : this.#failures,
      { firstMs: FIRST_PAUSE_MS, longestMs, spread: 1 },
      undefined,
      this.#options.random,
    );
    this.#failures += 1;
    this.#refusals = reason === 'refused' ? this.#refusals + 1 : 0;
    this.#setStatus('waiting');
    this.#schedule(pause ?? 0, () => void this.#connect());
  }

  #probe() {
    this.#cancelPing();
    this.#cancelPing = this.#options.clock.after(PING_BUDGET_MS, () => this.#fail('unreachable'));
    this.#link?.ping();
  }

  #reauthorizeAfter(milliseconds: number) {
    this.#cancelReauthorization();
    this.#cancelReauthorization = this.#options.clock.after(milliseconds, () => {
      this.#link?.reauthorize();
      this.#reauthorizeAfter(REAUTHORIZE_AFTER_MS);
    });
  }

  #schedule(milliseconds: number, run: () => void) {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(milliseconds, run);
  }

  #setStatus(status: RealtimeStatus, socketId?: string) {
    this.#status = status;
    this.#options.onStatus(status, socketId);
  }
}

/** Why a connection ended. */
export type CloseReason =
  /** Network or server unreachable, or the server closed the connection: retry soon. */
  | 'unreachable'
  /** The server refuses this page's subscription for now; it may accept it later or with a new session. */
  | 'unauthorized'
  /** The connection cannot work as configured: wrong address, unknown app, or forbidden origin. */
  | 'refused';

export interface LinkEvents {
  /** The socket is open; the server identifies it by `socketId`. */
  onOpen: (socketId: string) => void;
  onClose: (reason: CloseReason) => void;
  onJoined: () => void;
  /** Any frame arrived. */
  onActivity: () => void;
  onEvent: (event: string, payload: unknown) => void;
}

/** A socket with one private channel. After `disconnect` it reports nothing until `connect`. */
export interface Link {
  connect: () => void;
  disconnect: () => void;
  join: () => void;
  ping: () => void;
  /** Checks with the server whether this page may still listen; closes if not. */
  reauthorize: () => void;
}

export type OpenLink = (userId: string, events: LinkEvents) => Link | Promise<Link>;
