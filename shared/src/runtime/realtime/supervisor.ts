import type { Link, LinkEvents } from './link';

export type RealtimeStatus = 'off' | 'connecting' | 'live' | 'waiting';

export interface Clock {
  now: () => number;
  after: (milliseconds: number, run: () => void) => () => void;
}

export const realClock: Clock = {
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

export interface Supervisor {
  start: () => void;
  stop: () => void;
  /** Something suggests that the network is there (again): online, visible, pageshow. */
  nudge: (reason?: 'online') => void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** a server that refuses the subscription is asked less and less */
const LONGEST_REFUSED_PAUSE_MS = 30_000;
const OPEN_BUDGET_MS = 8_000;
const JOIN_BUDGET_MS = 12_000;
const PING_BUDGET_MS = 3_000;
/** a connection that lived this long was a good one */
const GOOD_AFTER_MS = 5_000;

/**
 * Keeps one link alive: every failure, of whatever kind, leads to a new attempt after a pause of full jitter (0.5 → 5 s).
 * pusher-js by itself waits 15 → 60 s after a refused retry and gives up for ever on some codes.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { openLink, onStatus, onEvent, clock = realClock, random = Math.random } = options;
  let status: RealtimeStatus = 'off';
  let link: Link | null = null;
  let failures = 0;
  let liveSince = 0;
  let cancelTimer = () => {};
  let cancelPing = () => {};
  let run = 0;

  const setStatus = (next: RealtimeStatus, socketId?: string) => {
    status = next;
    onStatus(next, socketId);
  };
  const within = (milliseconds: number, otherwise: () => void) => {
    cancelTimer();
    cancelTimer = clock.after(milliseconds, otherwise);
  };

  const connect = async () => {
    const mine = run;
    setStatus('connecting');
    within(OPEN_BUDGET_MS, drop);
    try {
      link ??= await openLink(events);
    } catch (cause) {
      console.warn('realtime could not be loaded', cause);
      if (mine === run) drop();
      return;
    }
    if (mine !== run) return link.disconnect();
    if (status === 'connecting') link.connect();
  };

  const pause = (longest: number) => {
    const ceiling = Math.min(longest, FIRST_PAUSE_MS * 2 ** failures);
    failures += 1;
    setStatus('waiting');
    within(random() * ceiling, () => void connect());
  };

  const fail = (longest: number) => {
    if (status === 'off' || status === 'waiting') return;
    if (status === 'live' && clock.now() - liveSince >= GOOD_AFTER_MS) failures = 0;
    cancelPing();
    link?.disconnect();
    pause(longest);
  };
  const drop = () => fail(LONGEST_PAUSE_MS);
  const refuse = () => fail(LONGEST_REFUSED_PAUSE_MS);

  let openSocket = '';
  const events: LinkEvents = {
    onOpen(socketId) {
      if (status !== 'connecting') return;
      openSocket = socketId;
      within(JOIN_BUDGET_MS, refuse);
      link?.join();
    },
    onJoined() {
      if (status !== 'connecting') return;
      cancelTimer();
      liveSince = clock.now();
      setStatus('live', openSocket);
    },
    onClose: drop,
    onRefused: refuse,
    onActivity: () => cancelPing(),
    onEvent,
  };

  const probe = () => {
    cancelPing();
    cancelPing = clock.after(PING_BUDGET_MS, drop);
    link?.ping();
  };

  return {
    start() {
      if (status !== 'off') return;
      run += 1;
      failures = 0;
      void connect();
    },
    stop() {
      if (status === 'off') return;
      run += 1;
      cancelTimer();
      cancelPing();
      setStatus('off');
      link?.disconnect();
    },
    nudge(reason) {
      if (status === 'live') probe();
      if (status === 'waiting') void connect();
      // an attempt begun before the network came may hang in it
      if (status === 'connecting' && reason === 'online' && link) {
        link.disconnect();
        void connect();
      }
    },
  };
}
