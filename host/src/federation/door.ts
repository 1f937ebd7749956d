import { hashOf, policy } from './page';
import { patienceMs } from './patience';

interface Door {
  script(url: string): Promise<void>;
  style(url: string): Promise<void>;
}

/** `error`: no answer or a server in trouble; `gone`: the server does not have it; `corrupt`: it sent other bytes. */
type DoorFailure = 'error' | 'gone' | 'corrupt' | 'timeout' | 'unlisted';

class DoorError extends Error {
  constructor(
    readonly kind: DoorFailure,
    url: string,
    options?: ErrorOptions,
  ) {
    super(kind, options);
    this.name = `DoorError ${url}`;
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function integrityOf(url: string): string {
  try {
    return hashOf(url);
  } catch (cause) {
    throw new DoorError('unlisted', url, { cause });
  }
}

/** The element says no more than `error`; where the browser keeps the answer's status, it says the rest. */
function errorKind(url: string): DoorFailure {
  const { href } = new URL(url, location.href);
  const [timing] = performance.getEntriesByName(href).slice(-1) as PerformanceResourceTiming[];
  if (timing?.responseStatus === 200) return 'corrupt';
  return timing?.responseStatus === 404 ? 'gone' : 'error';
}

/** Appends the element and waits for it. A hang is given up; the container name per build keeps a late arrival harmless. */
function settle(element: HTMLScriptElement | HTMLLinkElement, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DoorError('timeout', url)), patienceMs());
    element.onload = () => {
      clearTimeout(timer);
      resolve();
    };
    element.onerror = () => {
      clearTimeout(timer);
      element.remove();
      reject(new DoorError(errorKind(url), url));
    };
    document.head.append(element);
  });
}

function appendScript(url: string): Promise<void> {
  const script = document.createElement('script');
  script.integrity = integrityOf(url);
  script.crossOrigin = 'anonymous';
  // the policy refuses unlisted URLs; where Trusted Types are unknown hashOf has refused already
  script.src = policy ? (policy.createScriptURL(url) as unknown as string) : url;
  return settle(script, url);
}

function appendStyle(url: string): Promise<void> {
  const { href } = new URL(url, location.href);
  const isInlined = document.querySelector(`style[data-href="${new URL(href).pathname}"]`) !== null;
  const applied = isInlined || [...document.styleSheets].some((sheet) => sheet.href === href);
  if (applied) return Promise.resolve();
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.integrity = integrityOf(url);
  link.crossOrigin = 'anonymous';
  link.href = url;
  return settle(link, url);
}

/** One retry after 50–150 ms past the HTTP cache, since corrupt bytes are cached as immutable. */
const withRetry = (append: (url: string) => Promise<void>) => async (url: string) => {
  try {
    await append(url);
  } catch (cause) {
    if (!(cause instanceof DoorError) || !['error', 'corrupt'].includes(cause.kind)) throw cause;
    await pause(50 + Math.random() * 100);
    await append(`${url}${url.includes('?') ? '&' : '?'}again=1`);
  }
};

/** Equal URLs in flight or loaded share one promise; a failed one may be asked again. */
const once = (load: (url: string) => Promise<void>) => {
  const known = new Map<string, Promise<void>>();
  return (url: string) => {
    const { href } = new URL(url, location.href);
    const running = known.get(href);
    if (running) return running;
    const started = load(href).catch((cause) => {
      known.delete(href);
      throw cause;
    });
    known.set(href, started);
    return started;
  };
};

/** The one way by which code and styles of any build enter the page: hash, Trusted Types, time limit, retry. */
export const door: Door = { script: once(withRetry(appendScript)), style: once(withRetry(appendStyle)) };

export function openDoor() {
  Object.assign(globalThis, { __door: door });
}
