import type { Link, LinkEvents } from '../runtime/realtime/supervisor';
import type { Clock } from '../runtime/retryPolicy';

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that advances only by `pass`. */
export class SimulatedClock implements Clock {
  #time = 0;
  readonly #timers = new Set<Timer>();

  now = () => this.#time;

  after = (milliseconds: number, run: () => void) => {
    const timer = { at: this.#time + milliseconds, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Advances by `milliseconds`; promises settle between timers. */
  async pass(milliseconds: number) {
    const end = this.#time + milliseconds;
    for (;;) {
      await settle();
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers.delete(next);
      this.#time = next.at;
      next.run();
    }
    this.#time = end;
  }
}

async function settle() {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

/** `refusing`: unreachable, each socket fails immediately; `forbidding`: reachable, each socket is refused; `swallowing`: no response. */
export type NetworkState = 'up' | 'refusing' | 'forbidding' | 'swallowing';

const CONNECT_MS = 120;
const JOIN_MS = 60;
const QUIET_MS = 10_000;
const PONG_MS = 5_000;

/** A network that is up, refuses sockets or swallows all packets; its links behave like pusher-js. */
export class SimulatedNetwork {
  state: NetworkState = 'up';
  /** outcome of a subscription while the network is up */
  joining: 'accepted' | 'refused' | 'unanswered' = 'accepted';
  attempts = 0;
  reauthorizations = 0;
  readonly #clock: SimulatedClock;
  readonly #open = new Set<() => void>();

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  /** Closes all open sockets from the server's side. */
  breakAll() {
    for (const close of [...this.#open]) close();
  }

  link(events: LinkEvents): Link {
    let session = 0;
    let close = () => {};
    const ifCurrent = (ownSession: number, run: () => void) => () => ownSession === session && run();
    const later = (ms: number, run: () => void) => this.#clock.after(ms, ifCurrent(session, run));
    const watchSilence = () => later(QUIET_MS, () => (this.state === 'up' ? watchSilence() : later(PONG_MS, close)));
    return {
      connect: () => {
        session += 1;
        this.attempts += 1;
        close = ifCurrent(session, () => events.onClose('unreachable'));
        later(CONNECT_MS, () => {
          if (this.state === 'refusing') return events.onClose('unreachable');
          if (this.state === 'forbidding') return events.onClose('refused');
          if (this.state === 'swallowing') return;
          this.#open.add(close);
          watchSilence();
          events.onOpen('1.1');
        });
      },
      disconnect: () => {
        session += 1;
        this.#open.delete(close);
      },
      join: () =>
        later(JOIN_MS, () => {
          if (this.state !== 'up' || this.joining === 'unanswered') return;
          if (this.joining === 'refused') events.onClose('unauthorized');
          else events.onJoined();
        }),
      reauthorize: () => {
        this.reauthorizations += 1;
      },
      ping: () => later(CONNECT_MS, () => this.state === 'up' && events.onActivity()),
    };
  }
}
