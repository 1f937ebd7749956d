import { type ApiError, MAX_WAIT_SECONDS, MINUTE_MS, retryAfterSeconds, SECOND_MS, waitOf } from '../contract';

/** The longest `setTimeout`: browsers run a longer one immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const realClock = {
  now: (): number => performance.now(),
  /** Runs once after that time; returns the cancel function. */
  after(milliseconds: number, run: () => void): () => void {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (remainingMs: number) => {
      const laterMs = remainingMs - MAX_TIMER_MS;
      timer = setTimeout(() => (laterMs > 0 ? arm(laterMs) : run()), Math.min(remainingMs, MAX_TIMER_MS));
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
};

export type Clock = typeof realClock;

/** Requests per minute without user action. Polling without a socket needs 30, attempts to reach a lost socket 48. */
export const REQUESTS_PER_MINUTE = 90;
/** Requests that a tap exempts from `Retry-After` and from the budget, if they are sent within `TAP_MS`. */
const REQUESTS_PER_TAP = 10;
const TAP_MS = 5_000;
const MAX_HOLDS = 100;

/** The part of `AbortSignal` that axios' type guarantees. */
type Abortable = Pick<AbortSignal, 'aborted'> & Partial<Pick<AbortSignal, 'addEventListener' | 'removeEventListener'>>;

/**
 * Decides when the page may send a request: after the server's `Retry-After`, and within a budget per minute for requests without
 * user action. All requests pass through it, so that no server response can cause a flood of them.
 */
function createRetryPolicy() {
  let { now, after } = realClock;
  let sentTimes: number[] = [];
  let queue: (() => void)[] = [];
  let stopTimer: (() => void) | null = null;
  let tap = { at: Number.NEGATIVE_INFINITY, remaining: 0 };
  const holds = new Map<string, { until: number; error: ApiError }>();

  function consumeTap(): boolean {
    if (tap.remaining === 0 || now() - tap.at > TAP_MS) return false;
    tap.remaining -= 1;
    return true;
  }

  function releaseQueue() {
    stopTimer = null;
    sentTimes = sentTimes.filter((at) => now() - at < MINUTE_MS);
    while (queue.length > 0 && sentTimes.length < REQUESTS_PER_MINUTE) {
      sentTimes.push(now());
      queue.shift()?.();
    }
    const [oldest] = sentTimes;
    if (queue.length > 0 && oldest !== undefined) stopTimer ??= after(MINUTE_MS - (now() - oldest), releaseQueue);
  }

  /** Resolves when the budget has room, or `signal` has ended the wait. */
  const turn = (signal?: Abortable): Promise<void> =>
    new Promise((resolve) => {
      const abort = () => {
        queue = queue.filter((each) => each !== proceed);
        resolve();
      };
      const proceed = () => {
        signal?.removeEventListener?.('abort', abort);
        resolve();
      };
      signal?.addEventListener?.('abort', abort);
      queue.push(proceed);
      if (!stopTimer) releaseQueue();
    });

  /** The server's last refusal of this call while its wait lasts, with the remaining seconds. */
  function activeRefusal(call: string): ApiError | undefined {
    const hold = holds.get(call);
    if (!hold) return undefined;
    const remainingMs = hold.until - now();
    if (remainingMs <= 0) holds.delete(call);
    if (remainingMs <= 0) return undefined;
    const { error } = hold;
    const isCounted = 'retryAfterSeconds' in error && typeof error.retryAfterSeconds === 'number';
    return isCounted ? { ...error, retryAfterSeconds: Math.ceil(remainingMs / SECOND_MS) } : error;
  }

  return {
    /** Runs once after that time, without the limit of `setTimeout`; returns the cancel function. */
    after: (milliseconds: number, run: () => void): (() => void) => after(milliseconds, run),

    /** Resolves when the request may be sent; immediately after a tap. Rejects with the server's last refusal while its wait lasts. */
    async pass(call: string, signal?: Abortable): Promise<void> {
      if (consumeTap()) return;
      const throwIfRefused = () => {
        const error = activeRefusal(call);
        if (error) throw error;
      };
      throwIfRefused();
      await turn(signal);
      // another request may have been refused meanwhile
      throwIfRefused();
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
      if (holds.size >= MAX_HOLDS && oldest !== undefined) holds.delete(oldest);
      holds.set(call, { until: now() + (wait ?? MAX_WAIT_SECONDS) * SECOND_MS, error });
    },

    /** Records a user action, which exempts the next requests from waiting. */
    tapped(): void {
      tap = { at: now(), remaining: REQUESTS_PER_TAP };
    },

    /** Clears all state; for tests, also with another clock. */
    reset(clock: Clock = realClock): void {
      stopTimer?.();
      stopTimer = null;
      for (const go of queue.splice(0)) go();
      sentTimes = [];
      holds.clear();
      tap = { at: Number.NEGATIVE_INFINITY, remaining: 0 };
      ({ now, after } = clock);
    },
  };
}

export const retryPolicy = createRetryPolicy();

/** `fetch` for requests that a page repeats: within its budget. Rejects while the server's `Retry-After` lasts. */
export async function fetchInTurn(url: string, init: RequestInit): Promise<Response> {
  const call = `${init.method ?? 'GET'} ${url}`;
  await retryPolicy.pass(call, init.signal ?? undefined);
  const response = await fetch(url, init);
  const wait = response.ok
    ? undefined
    : retryAfterSeconds(response.headers.get('retry-after'), response.headers.get('date'));
  retryPolicy.answered(call, {
    kind: 'server',
    status: response.status,
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
  return response;
}

const tapOptions = { capture: true, passive: true };
for (const type of ['pointerdown', 'click', 'popstate']) window.addEventListener(type, retryPolicy.tapped, tapOptions);
// typing alone sends nothing
window.addEventListener('keydown', ({ key }) => key === 'Enter' && retryPolicy.tapped(), tapOptions);
