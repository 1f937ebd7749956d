const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

/** Whether the server answers now. Never rejects. */
export type Ask = () => Promise<boolean>;

/**
 * Whether the server can be reached. `navigator.onLine` alone is true in every Wi-Fi without a way to the internet, so
 * requests tell how they fared: one without an answer makes this ask by itself, and when that gets none either the
 * network counts as gone until something answers. Both turns are told as the browser tells its own, by the window's
 * `offline` and `online`, so that whoever waits for those hears of all of them.
 */
export function createNetwork(ask: Ask) {
  let isReachable = true;
  /** The round of asking that is under way. */
  let asking: object | null = null;
  let wake = () => {};
  let askServer = ask;

  function become(reachable: boolean) {
    if (isReachable === reachable) return;
    isReachable = reachable;
    // what the browser itself calls offline it will call online itself
    if (navigator.onLine) window.dispatchEvent(new Event(reachable ? 'online' : 'offline'));
  }

  /** Resolves after `milliseconds`, later on a page that nobody looks at, and at once when the browser says it is online. */
  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      let isOver = false;
      const goOn = () => isOver && document.visibilityState === 'visible' && navigator.onLine && wake();
      const timer = setTimeout(() => {
        isOver = true;
        goOn();
      }, milliseconds);
      wake = () => {
        clearTimeout(timer);
        document.removeEventListener('visibilitychange', goOn);
        window.removeEventListener('online', wakeNow);
        resolve();
      };
      const wakeNow = () => wake();
      document.addEventListener('visibilitychange', goOn);
      window.addEventListener('online', wakeNow);
    });

  async function askUntilAnswered(round: object) {
    for (let failures = 0; !(await askServer()); failures += 1) {
      if (asking !== round) return;
      become(false);
      await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures));
      if (asking !== round) return;
    }
    if (asking === round) answered();
  }

  function answered() {
    if (!asking) return;
    asking = null;
    wake();
    become(true);
  }

  return {
    isOnline: (): boolean => navigator.onLine && isReachable,
    /** A request came back, with whatever answer. */
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
