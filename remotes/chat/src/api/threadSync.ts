import type { ConversationDto } from '@liaozhai/shared/contract';
import {
  conversationEventSchema,
  deltaEventSchema,
  idEventSchema,
  isApiError,
  listen,
  messageEventSchema,
  onCaughtUpNeeded,
  type Pace,
  pauseMs,
} from '@liaozhai/shared/runtime';
import {
  type Applied,
  applyDelta,
  applyEvent,
  emptyThread,
  type Page,
  restarted,
  runningMessage,
  type Thread,
  toDelta,
  withChanges,
  withNewest,
  withOlder,
} from '../model/thread';
import { askLatest, type LatestQuery, THREAD_PAGE } from './calls';

export interface ThreadPorts {
  storyId: string;
  /** undefined until the first page has loaded. */
  read: () => Thread | undefined;
  change: (next: Thread) => void;
  /** `GET /v1/messages/latest`; rejects with ApiError. */
  ask: (query: LatestQuery) => Promise<Page>;
  /** Whether the socket is assumed to deliver events. */
  isLive: () => boolean;
}

const PAGE_LIMIT = 100;
/** Silence of a running reply after which the server is polled. */
const SILENCE_SECONDS = 5;
const POLL_SECONDS = [2, 5, 10];
const WITHOUT_SOCKET_SECONDS = 2;
const RETRIES: Pace = { firstMs: 5_000, longestMs: 60_000, spread: 0.2 };

type Change = (thread: Thread) => Applied;

/** Synchronizes a thread with the server: applies events once per frame, fetches gaps, and polls while events are missing. */
export class ThreadSync {
  readonly #ports: ThreadPorts;
  readonly #frame = oncePerFrame(() => this.#flush());
  #applied: Change[] = [];
  #catching: Promise<void> | undefined;
  #loading: Promise<void> | undefined;
  #again = false;
  #polls = 0;
  /** Changes are known to be missing and could not be fetched. */
  #isBehind = false;
  /** The story's current run differs from the thread. */
  #isElsewhere = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(ports: ThreadPorts) {
    this.#ports = ports;
  }

  /** Queues an event, which is applied together with all others before the next paint. */
  receive(change: Change): void {
    this.#applied.push(change);
    this.#frame.ask();
  }

  deleted(conversationId: string): void {
    if (this.#ports.read()?.conversationId === conversationId) this.#ports.change(emptyThread(this.#ports.storyId));
  }

  /** Runs after a change of the story's current run: replaces the thread with the newest page. */
  switched(): Promise<void> {
    this.#isElsewhere = true;
    return this.catchUp();
  }

  /** Handles a run that was shelved or resumed, here or on another device. */
  marked({ id, story, shelved }: ConversationDto): void {
    const shown = this.#ports.read()?.conversationId;
    if (String(story?.id) !== this.#ports.storyId || typeof shelved !== 'boolean' || shown === undefined) return;
    if (shelved === (shown === String(id))) void this.switched();
  }

  /** Applies the events received before the first page and fetches missed changes. The device's copy is always behind. */
  loaded(isCached: boolean): void {
    this.#isBehind = isCached;
    this.#flush();
    const wasAsked = this.#again;
    this.#again = false;
    if (wasAsked) void this.catchUp();
    this.watch();
  }

  /** Fetches all changes since the thread's version. Calls during a request start one more afterwards. */
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

  loadOlder(): Promise<void> {
    this.#loading ??= this.#loadPageBefore().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Schedules the next poll, counted from now. */
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
    if (this.#isBehind) return (pauseMs(this.#failures, RETRIES) ?? 0) / 1000;
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
    for (const change of this.#applied.splice(0)) {
      const applied = change(thread);
      thread = applied.thread;
      complete &&= applied.complete;
    }
    if (thread !== before) this.changed(thread);
    if (!complete) void this.catchUp();
  }

  /** Stores a newer state of the thread and restarts the polling schedule. */
  changed(thread: Thread): void {
    this.#polls = 0;
    this.#ports.change(thread);
    this.watch();
  }

  async #catchUpOnce(): Promise<void> {
    try {
      while (await this.#takePage());
      this.#isBehind = false;
      this.#failures = 0;
    } catch (cause) {
      if (!isApiError(cause)) throw cause;
      if (this.#isBehind) this.#failures += 1;
      this.#isBehind = cause.kind !== 'notFound';
      if (!this.#isBehind) this.#begunAnew();
    }
    this.watch();
  }

  /** Clears a thread whose conversation is gone, and fetches again, since the story may have a new one. */
  #begunAnew(): void {
    const { read, change, storyId } = this.#ports;
    this.#again ||= read()?.conversationId !== null;
    change(emptyThread(storyId));
  }

  async #loadPageBefore(): Promise<void> {
    const { read, change, ask } = this.#ports;
    const thread = read();
    const before = thread?.messages[0]?.seq;
    if (!thread?.hasOlder || !thread.conversationId || before === undefined) return;
    const page = await ask({ conversation_id: thread.conversationId, before, limit: THREAD_PAGE });
    const now = read();
    if (now) change(withOlder(now, page, before));
    if ((read()?.version ?? 0) < thread.version) await this.catchUp();
  }

  /** Merges one page of changes. Returns true while there are more. */
  async #takePage(): Promise<boolean> {
    const { read, ask, storyId } = this.#ports;
    const thread = read();
    if (!thread || this.#stopped) return false;
    const { conversationId, version } = thread;
    const isKnown = conversationId !== null && !this.#isElsewhere;
    const query = isKnown
      ? { conversation_id: conversationId, after: version, limit: PAGE_LIMIT }
      : { story_id: storyId, limit: PAGE_LIMIT };
    this.#isElsewhere = false;
    const page = await ask(query).catch((cause: unknown) => {
      this.#isElsewhere ||= conversationId !== null && !isKnown;
      throw cause;
    });
    const now = read();
    // a conversation that began during the request is not in the response
    if (!now || this.#stopped || now.conversationId !== conversationId) return false;
    const next = isKnown ? withChanges(now, page) : withNewest(now, page);
    if (next !== now) {
      // a poll that finds changes shows that events are missing, so the next one follows soon
      this.#polls = Math.min(this.#polls, 1);
      this.#ports.change(next);
    }
    return isKnown && page.hasMore && next !== now;
  }
}

const messageEvents = ['message.created', 'message.completed', 'message.failed'] as const;

interface Following {
  /** Must be called once the first page or the device's copy has loaded. */
  loaded: (isCached: boolean) => void;
  stop: () => void;
}

/** All synchronized threads, by story. */
function createThreadSyncs() {
  const running = new Map<string, ThreadSync>();
  let socketIsLive = false;

  const catchUp = (storyId: string): Promise<void> => running.get(storyId)?.catchUp() ?? Promise.resolve();

  return {
    catchUp,

    /** Must be called by the page that observes the connection's status. */
    socketChanged(isLive: boolean): void {
      if (socketIsLive === isLive) return;
      socketIsLive = isLive;
      for (const sync of running.values()) sync.watch();
    },

    /** Reports that the story's current run has changed; returns false if its thread is not synchronized. */
    switched: (storyId: string): Promise<void> | false => running.get(storyId)?.switched() ?? false,

    /** Reports that a response has changed the thread, so that a running reply is polled. */
    watch: (storyId: string): void => running.get(storyId)?.watch(),

    /** Subscribes a story's thread to the user's channel, before its first page is requested. */
    follow(ports: Pick<ThreadPorts, 'storyId' | 'read' | 'change'>): Following {
      const sync = new ThreadSync({ ...ports, ask: askLatest, isLive: () => socketIsLive });
      running.set(ports.storyId, sync);
      const stops = [
        ...messageEvents.map((name) =>
          listen(name, messageEventSchema, (event) => sync.receive((thread) => applyEvent(thread, event))),
        ),
        listen('message.delta', deltaEventSchema, (event) => {
          const delta = toDelta(event);
          sync.receive((thread) => applyDelta(thread, delta));
        }),
        listen('conversation.deleted', idEventSchema, (event) => sync.deleted(String(event.id))),
        listen('conversation.restarted', idEventSchema, ({ id, version }) =>
          sync.receive((thread) => {
            if (thread.conversationId !== String(id)) return { thread, complete: true };
            if (typeof version !== 'number') return { thread, complete: false };
            const next = restarted(thread, version);
            // messages after the restart may have arrived before this event and been skipped as below the window
            return { thread: next, complete: next.version >= version && !thread.hasOlder };
          }),
        ),
        listen('conversation.updated', conversationEventSchema, ({ conversation }) => sync.marked(conversation)),
        onCaughtUpNeeded(() => void sync.catchUp()),
      ];
      const stop = () => {
        sync.stop();
        if (running.get(ports.storyId) === sync) running.delete(ports.storyId);
        for (const each of stops) each();
      };
      return { loaded: (isCached) => sync.loaded(isCached), stop };
    },

    /** Prepends the page before the first loaded message; one request at a time. Rejects with ApiError. */
    loadOlder: (storyId: string): Promise<void> => running.get(storyId)?.loadOlder() ?? Promise.resolve(),
  };
}

export const threadSyncs = createThreadSyncs();

const LATEST_MS = 200;
/** Two frames, so that at most every third is drawn: text at 20 updates a second reads as well, and scrolling and typing stay smooth. */
const LEAST_REST_MS = 33;
/** Slow drawings update the text ten times a second. */
const MOST_REST_MS = 100;
/** Ratio of rest to drawing time: at most a fifth of the time is spent on drawing text. */
const RESTS_PER_DRAWING = 4;

/**
 * Runs `work` once before a paint: the next one, or the first one after a rest that grows with the duration of the last drawing.
 * A hidden page does not paint, so it runs after `LATEST_MS`.
 */
function oncePerFrame(work: () => void): { ask(): void; stop(): void } {
  let frame: number | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  let latest: ReturnType<typeof setTimeout> | undefined;
  let restMs = LEAST_REST_MS;
  let restedAt = 0;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(rest);
    clearTimeout(latest);
    frame = rest = latest = undefined;
  };
  const run = () => {
    stop();
    const startedAt = performance.now();
    restedAt = startedAt + restMs;
    work();
    // the next task runs once the drawing is finished
    setTimeout(() => {
      const drawnMs = performance.now() - startedAt;
      restMs = Math.min(Math.max(drawnMs * RESTS_PER_DRAWING, LEAST_REST_MS), MOST_REST_MS);
      restedAt = startedAt + drawnMs + restMs;
    });
  };
  const awaitFrame = () => {
    frame = requestAnimationFrame(run);
  };
  return {
    ask() {
      if (latest !== undefined) return;
      const leftMs = restedAt - performance.now();
      if (leftMs > 0) rest = setTimeout(awaitFrame, leftMs);
      else awaitFrame();
      latest = setTimeout(run, LATEST_MS);
    },
    stop,
  };
}
