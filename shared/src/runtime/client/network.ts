import { type Pace, pauseMs } from '../../contract';
import { listenTo, stopAll } from '../../format/browser';
import { retryPolicy } from '../retryPolicy';

const PROBES: Pace = { firstMs: 1_000, longestMs: 15_000, spread: 0.2 };

/** Resolves to whether the server responds. Never rejects. */
export type Probe = () => Promise<boolean>;

/**
 * Tracks whether the server can be reached. `navigator.onLine` alone is true in every Wi-Fi without internet, so requests
 * report their outcome. A request without a response starts probes; if they fail too, the network counts as lost until a
 * response arrives. Both changes dispatch `offline` and `online` on `window`, like the browser's own. In web views without
 * permission to see the network `navigator.onLine` is always false: a response overrides it.
 */
export function createNetwork(probe: Probe) {
  let isReachable = true;
  /** Identifies the current round of probes. */
  let currentRound: object | null = null;
  let endPause = () => {};
  let probeServer = probe;
  /** A response has arrived since the browser reported that it is offline. */
  let isNetworkProven = false;
  const hasNetwork = () => navigator.onLine || isNetworkProven;

  let isDispatching = false;
  /** When the browser last reported that it is offline, by the page's clock. */
  let reportedOfflineAt = Number.NEGATIVE_INFINITY;

  function dispatchStatus() {
    isDispatching = true;
    window.dispatchEvent(new Event(isReachable ? 'online' : 'offline'));
    isDispatching = false;
  }

  function setReachable(reachable: boolean) {
    if (isReachable === reachable) return;
    isReachable = reachable;
    // where the browser reports offline, it will also report online
    if (hasNetwork()) dispatchStatus();
  }

  /** Resolves after `milliseconds`, later on a hidden page, and immediately when the browser reports online. */
  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      let isOver = false;
      const endPauseIfReady = () => isOver && document.visibilityState === 'visible' && hasNetwork() && endPause();
      const cancel = retryPolicy.after(milliseconds, () => {
        isOver = true;
        endPauseIfReady();
      });
      endPause = stopAll(
        cancel,
        listenTo(document, ['visibilitychange'], endPauseIfReady),
        listenTo(window, ['online'], () => endPause()),
        resolve,
      );
    });

  async function probeUntilAnswered(round: object) {
    let begunAt = performance.now();
    for (let failures = 0; !(await probeServer()); failures += 1) {
      if (currentRound !== round) return;
      setReachable(false);
      await pause(pauseMs(failures, PROBES) ?? 0);
      if (currentRound !== round) return;
      begunAt = performance.now();
    }
    if (currentRound === round) recordResponse(begunAt);
  }

  function recordResponse(begunAt = performance.now()) {
    // a request that began before the loss may have been answered already
    const isBackOnline = !hasNetwork() && begunAt >= reportedOfflineAt;
    isNetworkProven ||= isBackOnline;
    if (isBackOnline && isReachable) dispatchStatus();
    if (!currentRound) return;
    currentRound = null;
    endPause();
    setReachable(true);
  }

  window.addEventListener('offline', () => {
    if (isDispatching) return;
    isNetworkProven = false;
    reportedOfflineAt = performance.now();
  });

  return {
    isOnline: (): boolean => hasNetwork() && isReachable,
    /** Records a response of any kind. `begunAt` is when its request began, by the page's clock. */
    recordResponse,
    /** Records a request without a response or a broken socket: probes run until the server responds. */
    recordFailure() {
      if (currentRound) return;
      currentRound = {};
      void probeUntilAnswered(currentRound);
    },
    /** For tests. */
    replaceProbe(replacement: Probe): void {
      probeServer = replacement;
    },
  };
}
