/** Functions inside the measured page, installed before its own scripts. */
interface Watch {
  /**
   * ms from each key press to the end of the frame that renders it. Event Timing would wait for the compositor, whose reports a
   * busy machine delays by seconds.
   */
  keyPaints: number[];
  /** Starts recording each frame, with the distance of the log from its end. */
  startFrames(): void;
  stopFrames(): FrameNote[];
  /** Measures the ms from the next click until the second frame in which `selector` is visible; `clicked()` returns them. */
  clickUntil(selector: string): void;
  clicked(): Promise<number>;
  /** Sends pieces of a running reply to the open socket, as the server would. Resolves with their number. */
  stream(reply: RunningReply, piecesPerSecond: number, seconds: number): Promise<number>;
  /** Imitates a phone in the background: the page is hidden, and sockets fail. */
  sleep(): void;
  /** Shows the page again. Resolves with the ms from `since` (epoch ms) until `text` is in the log. */
  wake(text: string, since: number): Promise<number>;
}

export interface FrameNote {
  at: number;
  /** px between the view and the log's end */
  toEnd: number;
  /** px between the tops of the view and of its last row; while positive, the view follows the reply */
  lastRowTop: number;
}

export interface RunningReply {
  userId: string;
  messageId: string;
  conversationId: string;
  revision: number;
  /** number of code points already written */
  offset: number;
}

declare global {
  interface Window {
    __watch: Watch;
  }
}

/** Must be self-contained, because the page gets its source. */
export function installWatch() {
  const sockets = new Set<WebSocket>();
  let isAsleep = false;
  const RealSocket = window.WebSocket;
  window.WebSocket = class extends RealSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(isAsleep ? 'ws://127.0.0.1:9' : url, protocols);
      sockets.add(this);
    }
  };
  Object.defineProperty(document, 'visibilityState', { get: () => (isAsleep ? 'hidden' : 'visible') });
  const notifyVisibility = () => document.dispatchEvent(new Event('visibilitychange'));

  const log = () => document.querySelector('[role=log]');
  const isVisible = (selector: string) =>
    [...document.querySelectorAll(selector)].some((element) => element.checkVisibility() && element.clientHeight > 0);
  const timeUntil = (start: number, test: () => boolean) =>
    new Promise<number>((resolve) => {
      const check = () =>
        test() ? requestAnimationFrame((now) => resolve(now - start)) : requestAnimationFrame(check);
      requestAnimationFrame(check);
    });

  let notes: FrameNote[] = [];
  let frame = 0;
  const recordFrame = (at: number) => {
    const view = document.querySelector('[role=log]');
    const rows = view ? [...view.querySelectorAll('[data-index]')] : [];
    const indexOf = (row: Element) => Number(row.getAttribute('data-index'));
    const last = rows.reduce<Element | undefined>((a, b) => (a && indexOf(a) > indexOf(b) ? a : b), undefined);
    notes.push({
      at,
      toEnd: view ? view.scrollHeight - view.clientHeight - view.scrollTop : 0,
      lastRowTop: view && last ? last.getBoundingClientRect().top - view.getBoundingClientRect().top : 0,
    });
    frame = requestAnimationFrame(recordFrame);
  };
  const startFrames = () => {
    notes = [];
    frame = requestAnimationFrame(recordFrame);
  };
  const stopFrames = () => {
    cancelAnimationFrame(frame);
    return notes;
  };
  const keyPaints: number[] = [];
  const afterFrame = (then: () => void) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = then;
      port2.postMessage(null);
    });
  const onKey = ({ timeStamp }: Event) => afterFrame(() => keyPaints.push(performance.now() - timeStamp));
  // before the composer, which stops the propagation of keys
  window.addEventListener('keydown', onKey, { capture: true });

  let clickTime = Promise.resolve(0);
  window.__watch = {
    keyPaints,
    startFrames,
    stopFrames,
    clicked: () => clickTime,
    clickUntil(selector) {
      clickTime = new Promise((resolve) => {
        const onClick = (event: Event) => resolve(timeUntil(event.timeStamp, () => isVisible(selector)));
        document.addEventListener('click', onClick, { capture: true, once: true });
      });
    },
    stream({ userId, messageId, conversationId, revision, offset }, piecesPerSecond, seconds) {
      const words = '夜雨敲窗，她把灯芯拨亮，';
      const channel = `private-App.Models.User.${userId}`;
      const start = performance.now();
      let sentCount = 0;
      const sendNext = () => {
        const at = sentCount * 2;
        const text = words.slice(at % words.length, (at % words.length) + 2);
        const delta = { message_id: messageId, conversation_id: conversationId, revision, offset: offset + at, text };
        const data = JSON.stringify({ event: 'message.delta', channel, data: JSON.stringify(delta) });
        for (const socket of sockets)
          if (socket.readyState === 1) socket.dispatchEvent(new MessageEvent('message', { data }));
        sentCount += 1;
      };
      return new Promise((resolve) => {
        const timer = setInterval(() => {
          const elapsedMs = Math.min(performance.now() - start, seconds * 1000);
          const dueCount = Math.floor(elapsedMs * (piecesPerSecond / 1000));
          while (sentCount < dueCount) sendNext();
          if (elapsedMs < seconds * 1000) return;
          clearInterval(timer);
          resolve(sentCount);
        }, 1000 / piecesPerSecond);
      });
    },
    sleep() {
      isAsleep = true;
      notifyVisibility();
      for (const socket of sockets) socket.close();
      sockets.clear();
    },
    wake(text, since) {
      isAsleep = false;
      const start = since - performance.timeOrigin;
      const arrivalTime = timeUntil(start, () => log()?.textContent?.includes(text) ?? false);
      notifyVisibility();
      return arrivalTime;
    },
  };
}
