import { isApiError } from '@liaozhai/shared/runtime';
import { emptyThread, type Heard, type Page, runningMessage, type Thread, withChanges, withNewest } from '../model';
import type { LatestQuery } from './calls';
import { oncePerFrame } from './frame';

export interface Ports {
  storyId: string;
  /** undefined until the first page is there. */
  read: () => Thread | undefined;
  change: (next: Thread) => void;
  /** `GET /v1/messages/latest`; rejects with ApiError. */
  ask: (query: LatestQuery) => Promise<Page>;
  /** Whether the socket is believed to bring events. */
  isLive: () => boolean;
}

const PAGE_LIMIT = 100;
/** How long a running reply may be silent before the server is asked. */
const SILENCE_SECONDS = 5;
const POLL_SECONDS = [2, 5, 10];
const WITHOUT_SOCKET_SECONDS = 2;
const RETRY_SECONDS = 5;

type Change = (thread: Thread) => Heard;

/** Keeps one thread in step with the server: events once per frame, a catch-up over each gap, polls where events stay away. */
export class ThreadSync {
  readonly #ports: Ports;
  readonly #frame = oncePerFrame(() => this.#flush());
  #heard: Change[] = [];
  #catching: Promise<void> | undefined;
  #again = false;
  #polls = 0;
  /** Something is known to be missing that could not be fetched. */
  #isBehind = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Takes what an event says; applied together with whatever else comes before the next paint. */
  hear(change: Change): void {
    this.#heard.push(change);
    this.#frame.ask();
  }

  deleted(conversationId: string): void {
    if (this.#ports.read()?.conversationId === conversationId) this.#ports.change(emptyThread(this.#ports.storyId));
  }

  /** The first page is there: what was heard meanwhile is applied, what was missed is fetched. The device's copy is behind from the start. */
  loaded(isCopy: boolean): void {
    this.#isBehind = isCopy;
    this.#flush();
    const wasAsked = this.#again;
    this.#again = false;
    if (wasAsked) void this.catchUp();
    this.watch();
  }

  /** Fetches whatever changed since the version we are complete up to; calls during a flight make one more. */
  catchUp(): Promise<void> {
    if (this.#catching || !this.#ports.read()) this.#again = true;
    if (!this.#ports.read()) return Promise.resolve();
    this.#catching ??= this.#catchUpOnce().finally(() => {
      this.#catching = undefined;
      if (this.#again && !this.#stopped) {
        this.#again = false;
        void this.catchUp();
      }
    });
    return this.#catching;
  }

  /** Sets the next look at the server, counted from now, by what is going on. */
  watch(): void {
    clearTimeout(this.#timer);
    const seconds = this.#secondsToNextLook();
    if (seconds === undefined || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#polls += 1;
      void this.catchUp();
    }, seconds * 1000);
  }

  stop(): void {
    this.#stopped = true;
    this.#frame.stop();
    clearTimeout(this.#timer);
  }

  #secondsToNextLook(): number | undefined {
    if (this.#isBehind) return RETRY_SECONDS;
    const thread = this.#ports.read();
    if (!thread || !runningMessage(thread)) return undefined;
    if (!this.#ports.isLive()) return WITHOUT_SOCKET_SECONDS;
    if (this.#polls === 0) return SILENCE_SECONDS;
    return POLL_SECONDS[Math.min(this.#polls, POLL_SECONDS.length) - 1];
  }

  #flush(): void {
    const before = this.#ports.read();
    if (!before || this.#stopped) return;
    let thread = before;
    let complete = true;
    for (const change of this.#heard.splice(0)) {
      const heard = change(thread);
      thread = heard.thread;
      complete &&= heard.complete;
    }
    if (thread !== before) this.changed(thread);
    if (!complete) void this.catchUp();
  }

  /** Stores a newer state of the thread; news starts the watch anew. */
  changed(thread: Thread): void {
    this.#polls = 0;
    this.#ports.change(thread);
    this.watch();
  }

  async #catchUpOnce(): Promise<void> {
    try {
      while (await this.#takePage());
      this.#isBehind = false;
    } catch (cause) {
      if (!isApiError(cause)) throw cause;
      this.#isBehind = cause.kind !== 'notFound';
      if (!this.#isBehind) this.#begunAnew();
    }
    this.watch();
  }

  /** The conversation is gone; its story may have another since. */
  #begunAnew(): void {
    const { read, change, storyId } = this.#ports;
    this.#again ||= read()?.conversationId !== null;
    change(emptyThread(storyId));
  }

  /** Merges one page of changes; true while there are more. */
  async #takePage(): Promise<boolean> {
    const { read, ask, storyId } = this.#ports;
    const thread = read();
    if (!thread || this.#stopped) return false;
    const { conversationId, version } = thread;
    const query = conversationId
      ? { conversation_id: conversationId, after: version, limit: PAGE_LIMIT }
      : { story_id: storyId, limit: PAGE_LIMIT };
    const page = await ask(query);
    const now = read();
    // A conversation that began while we asked is not in the answer.
    if (!now || this.#stopped || now.conversationId !== conversationId) return false;
    const next = conversationId ? withChanges(now, page) : withNewest(now, page);
    if (next !== now) {
      // What a poll had to bring shows that events stay away, so the next look comes soon.
      this.#polls = Math.min(this.#polls, 1);
      this.#ports.change(next);
    }
    return conversationId !== null && page.hasMore && next !== now;
  }
}
