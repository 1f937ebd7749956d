import { type Pace, pauseMs } from '../../contract';
import { retryPolicy } from '../retryPolicy';

const PROBES: Pace = { firstMs: 1_000, longestMs: 15_000, spread: 0.2 };

/** Whether the server answers now. Never rejects. */
export type Ask = () => Promise<boolean>;

/**
 * Whether the server can be reached. `navigator.onLine` alone is true in every Wi-Fi without a way to the internet, so
 * requests report their outcome. One without an answer starts probes; when those get none either, the network counts as
 * gone until something answers. Both turns are the window's `offline` and `online` events, as the browser's own are.
 * `navigator.onLine` is false for ever in web views whose app may not look at the network: an answer counts for more.
 */
export function createNetwork(ask: Ask) {
  let isReachable = true;
  /** The round of probes that is under way. */
  let asking: object | null = null;
  let wake = () => {};
  let askServer = ask;
  /** An answer came since the browser said that there is no network. */
  let isProven = false;
  const hasNetwork = () => navigator.onLine || isProven;

  let isTelling = false;
  /** When the browser said last that there is no network, by the page's clock. */
  let deniedAt = Number.NEGATIVE_INFINITY;

  function tell() {
    isTelling = true;
    window.dispatchEvent(new Event(isReachable ? 'online' : 'offline'));
    isTelling = false;
  }

  function become(reachable: boolean) {
    if (isReachable === reachable) return;
    isReachable = reachable;
    // what the browser itself calls offline it will call online itself
    if (hasNetwork()) tell();
  }

  /** Resolves after `milliseconds`, later on a hidden page, and immediately when the browser says that it is online. */
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
    // what was asked before may have been on its way already
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
    /** A request came back, with any answer; when it began, by the page's clock. */
    answered,
    /** A request got no answer, or a socket broke: the server is asked until it answers. */
    doubted() {
      if (asking) return;
      asking = {};
      void askUntilAnswered(asking);
    },
    /** For tests: another way to ask. Returns the way to undo it, with the network there. */
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
