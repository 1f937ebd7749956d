import { type Pace, pauseMs } from '../../contract';
import { retryPolicy } from '../retryPolicy';

const PROBES: Pace = { firstMs: 1_000, longestMs: 15_000, spread: 0.2 };

/** Resolves to whether the server responds. Never rejects. */
export type Ask = () => Promise<boolean>;

/**
 * Tracks whether the server can be reached. `navigator.onLine` alone is true in every Wi-Fi without internet, so requests
 * report their outcome. A request without a response starts probes; if they fail too, the network counts as lost until a
 * response arrives. Both changes dispatch `offline` and `online` on `window`, like the browser's own. In web views without
 * permission to see the network `navigator.onLine` is always false: a response overrides it.
 */
export function createNetwork(ask: Ask) {
  let isReachable = true;
  /** Identifies the current round of probes. */
  let asking: object | null = null;
  let wake = () => {};
  let askServer = ask;
  /** A response has arrived since the browser reported that it is offline. */
  let isProven = false;
  const hasNetwork = () => navigator.onLine || isProven;

  let isTelling = false;
  /** When the browser last reported that it is offline, by the page's clock. */
  let deniedAt = Number.NEGATIVE_INFINITY;

  function tell() {
    isTelling = true;
    window.dispatchEvent(new Event(isReachable ? 'online' : 'offline'));
    isTelling = false;
  }

  function become(reachable: boolean) {
    if (isReachable === reachable) return;
    isReachable = reachable;
    // where the browser reports offline, it will also report online
    if (hasNetwork()) tell();
  }

  /** Resolves after `milliseconds`, later on a hidden page, and immediately when the browser reports online. */
  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      let isOver = false;
      const goOn = () => isOver && document.visibilityState === 'visible' && hasNetwork() && wake();
      const cancel = retryPolicy.after(milliseconds, () => {
        isOver = true;
        goOn();
      });
      wake = () => {
        cancel();
        document.removeEventListener('visibilitychange', goOn);
        window.removeEventListener('online', wakeNow);
        resolve();
      };
      const wakeNow = () => wake();
      document.addEventListener('visibilitychange', goOn);
      window.addEventListener('online', wakeNow);
    });

  async function askUntilAnswered(round: object) {
    let begunAt = performance.now();
    for (let failures = 0; !(await askServer()); failures += 1) {
      if (asking !== round) return;
      become(false);
      await pause(pauseMs(failures, PROBES) ?? 0);
      if (asking !== round) return;
      begunAt = performance.now();
    }
    if (asking === round) answered(begunAt);
  }

  function answered(begunAt = performance.now()) {
    // a request that began before the loss may have been answered already
    const isNews = !hasNetwork() && begunAt >= deniedAt;
    isProven ||= isNews;
    if (isNews && isReachable) tell();
    if (!asking) return;
    asking = null;
    wake();
    become(true);
  }

  if (typeof window !== 'undefined')
    window.addEventListener('offline', () => {
      if (isTelling) return;
      isProven = false;
      deniedAt = performance.now();
    });

  return {
    isOnline: (): boolean => hasNetwork() && isReachable,
    /** Records a response of any kind. `begunAt` is when its request began, by the page's clock. */
    answered,
    /** Records a request without a response or a broken socket: probes run until the server responds. */
    doubted() {
      if (asking) return;
      asking = {};
      void askUntilAnswered(asking);
    },
    /** For tests: replaces the probe. Returns a function that restores it and marks the network as reachable. */
    replaceAsk(replacement: Ask): () => void {
      const former = askServer;
      askServer = replacement;
      return () => {
        askServer = former;
        answered();
      };
    },
  };
}
