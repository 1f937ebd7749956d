import { type ApiError, LONGEST_WAIT_SECONDS, MINUTE_MS, retryAfterSeconds, SECOND_MS, waitOf } from '../contract';

export interface Clock {
  now: () => number;
  /** Runs once after that time; returns the cancel function. */
  after: (milliseconds: number, run: () => void) => () => void;
}

/** The longest `setTimeout`: browsers run a longer one immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (leftMs: number) => {
      const rest = leftMs - LONGEST_TIMER_MS;
      timer = setTimeout(() => (rest > 0 ? arm(rest) : run()), Math.min(leftMs, LONGEST_TIMER_MS));
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Requests per minute without user action. Polling without a socket needs 30, attempts to reach a lost socket 48. */
export const REQUESTS_PER_MINUTE = 90;
/** Requests that a tap exempts from `Retry-After` and from the budget, if they are sent within `TAP_MS`. */
const REQUESTS_PER_TAP = 10;
const TAP_MS = 5_000;
const MOST_HOLDS = 100;

/** The part of `AbortSignal` that axios' type guarantees. */
type Abortable = Pick<AbortSignal, 'aborted'> & Partial<Pick<AbortSignal, 'addEventListener' | 'removeEventListener'>>;

interface Hold {
  until: number;
  error: ApiError;
}

/**
 * Decides when the page may send a request: after the server's `Retry-After`, and within a budget per minute for requests without
 * user action. All requests pass through it, so that no server response can cause a flood of them.
 */
function createRetryPolicy() {
  let { now, after } = realClock;
  let sent: number[] = [];
  let queue: (() => void)[] = [];
  let stopTimer: (() => void) | null = null;
  let tap = { at: Number.NEGATIVE_INFINITY, left: 0 };
  const holds = new Map<string, Hold>();

  function isOfTap(): boolean {
    if (tap.left === 0 || now() - tap.at > TAP_MS) return false;
    tap.left -= 1;
    return true;
  }

  function serve() {
    stopTimer = null;
    sent = sent.filter((at) => now() - at < MINUTE_MS);
    while (queue.length > 0 && sent.length < REQUESTS_PER_MINUTE) {
      sent.push(now());
      queue.shift()?.();
    }
    const [oldest] = sent;
    if (queue.length > 0 && oldest !== undefined) stopTimer ??= after(MINUTE_MS - (now() - oldest), serve);
  }

  /** Resolves when the budget has room, or `signal` has ended the wait. */
  const turn = (signal?: Abortable): Promise<void> =>
    new Promise((resolve) => {
      const leave = () => {
        queue = queue.filter((each) => each !== go);
        resolve();
      };
      const go = () => {
        signal?.removeEventListener?.('abort', leave);
        resolve();
      };
      signal?.addEventListener?.('abort', leave);
      queue.push(go);
      if (!stopTimer) serve();
    });

  /** The server's last refusal of this call while its wait lasts, with the remaining seconds. */
  function standing(call: string): ApiError | undefined {
    const hold = holds.get(call);
    if (!hold) return undefined;
    const leftMs = hold.until - now();
    if (leftMs <= 0) holds.delete(call);
    if (leftMs <= 0) return undefined;
    const { error } = hold;
    const isCounted = 'retryAfterSeconds' in error && typeof error.retryAfterSeconds === 'number';
    return isCounted ? { ...error, retryAfterSeconds: Math.ceil(leftMs / SECOND_MS) } : error;
  }

  return {
    /** Runs once after that time, without the limit of `setTimeout`; returns the cancel function. */
    after: (milliseconds: number, run: () => void): (() => void) => after(milliseconds, run),

    /** Resolves when the request may be sent; immediately after a tap. Rejects with the server's last refusal while its wait lasts. */
    async pass(call: string, signal?: Abortable): Promise<void> {
      if (isOfTap()) return;
      const refuse = () => {
        const error = standing(call);
        if (error) throw error;
      };
      refuse();
      await turn(signal);
      // another request may have been refused meanwhile
      refuse();
    },

    /** Waits for the budget only, for callers with their own pauses. */
    turn,

    /** Records a response. If it has `Retry-After`, the call is not sent again until that time. */
    answered(call: string, error?: ApiError): void {
      if (error?.kind === 'offline' || error?.kind === 'timeout') return;
      holds.delete(call);
      const wait = error && waitOf(error);
      if (!error || wait === undefined) return;
      const [oldest] = holds.keys();
      if (holds.size >= MOST_HOLDS && oldest !== undefined) holds.delete(oldest);
      holds.set(call, { until: now() + (wait ?? LONGEST_WAIT_SECONDS) * SECOND_MS, error });
    },

    /** Records a user action, which exempts the next requests from waiting. */
    tapped(): void {
      tap = { at: now(), left: REQUESTS_PER_TAP };
    },

    /** Clears all state; for tests, also with another clock. */
    reset(next: Clock = realClock): void {
      stopTimer?.();
      stopTimer = null;
      for (const go of queue.splice(0)) go();
      sent = [];
      holds.clear();
      tap = { at: Number.NEGATIVE_INFINITY, left: 0 };
      ({ now, after } = next);
    },
  };
}

export const retryPolicy = createRetryPolicy();

/** `fetch` for requests that a page repeats: within its budget. Rejects while the server's `Retry-After` lasts. */
export async function fetchInTurn(url: string, init: RequestInit): Promise<Response> {
  const call = `${init.method ?? 'GET'} ${url}`;
  await retryPolicy.pass(call, init.signal ?? undefined);
  const answer = await fetch(url, init);
  const wait = answer.ok ? undefined : retryAfterSeconds(answer.headers.get('retry-after'), answer.headers.get('date'));
  retryPolicy.answered(call, {
    kind: 'server',
    status: answer.status,
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
  return answer;
}

if (typeof window !== 'undefined') {
  const options = { capture: true, passive: true };
  for (const type of ['pointerdown', 'click', 'popstate']) window.addEventListener(type, retryPolicy.tapped, options);
  // typing alone sends nothing
  window.addEventListener('keydown', ({ key }) => key === 'Enter' && retryPolicy.tapped(), options);
}
