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
const RETRIES: Pace = { firstMs: 5_000, longestMs: 60_000, spread: 0.2 };

type Change = (thread: Thread) => Applied;

/** Keeps one thread in step with the server: events once per frame, a catch-up over each gap, polls where events stay away. */
export class ThreadSync {
  readonly #ports: ThreadPorts;
  readonly #frame = oncePerFrame(() => this.#flush());
  #applied: Change[] = [];
  #catching: Promise<void> | undefined;
  #loading: Promise<void> | undefined;
  #again = false;
  #polls = 0;
  /** Something is known to be missing that could not be fetched. */
  #isBehind = false;
  /** The story has another run than the thread shows. */
  #isElsewhere = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(ports: ThreadPorts) {
    this.#ports = ports;
  }

  /** Queues an event; applied together with all others before the next paint. */
  receive(change: Change): void {
    this.#applied.push(change);
    this.#frame.ask();
  }

  deleted(conversationId: string): void {
    if (this.#ports.read()?.conversationId === conversationId) this.#ports.change(emptyThread(this.#ports.storyId));
  }

  /** The reader is in another run of the story now, or in none: shows its newest page in the place of what is there. */
  switched(): Promise<void> {
    this.#isElsewhere = true;
    return this.catchUp();
  }

  /** A run was put aside or taken up, here or on another device. */
  marked({ id, story, shelved }: ConversationDto): void {
    const shown = this.#ports.read()?.conversationId;
    if (String(story?.id) !== this.#ports.storyId || typeof shelved !== 'boolean' || shown === undefined) return;
    if (shelved === (shown === String(id))) void this.switched();
  }

  /** The first page is there: events received meanwhile are applied, what was missed is fetched. The device's copy is behind from the start. */
  loaded(isCached: boolean): void {
    this.#isBehind = isCached;
    this.#flush();
    const wasAsked = this.#again;
    this.#again = false;
    if (wasAsked) void this.catchUp();
    this.watch();
  }

  /** Fetches all changes since the version we are complete up to; calls during a request make one more. */
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

  /** Stores a newer state of the thread; news restarts the watch. */
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

  /** The conversation is gone; its story may have another since. */
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

  /** Merges one page of changes; true while there are more. */
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
    // A conversation that began while we asked is not in the answer.
    if (!now || this.#stopped || now.conversationId !== conversationId) return false;
    const next = isKnown ? withChanges(now, page) : withNewest(now, page);
    if (next !== now) {
      // What a poll had to bring shows that events stay away, so the next look comes soon.
      this.#polls = Math.min(this.#polls, 1);
      this.#ports.change(next);
    }
    return isKnown && page.hasMore && next !== now;
  }
}

const messageEvents = ['message.created', 'message.completed', 'message.failed'] as const;

interface Following {
  /** To be called once the first page is there, or the device's copy of it. */
  loaded: (isCached: boolean) => void;
  stop: () => void;
}

/** Every thread that is being kept in step, by story. */
function createThreadSyncs() {
  const running = new Map<string, ThreadSync>();
  let socketIsLive = false;

  const catchUp = (storyId: string): Promise<void> => running.get(storyId)?.catchUp() ?? Promise.resolve();

  return {
    catchUp,

    /** Told by the page that sees the connection's status. */
    socketChanged(isLive: boolean): void {
      if (socketIsLive === isLive) return;
      socketIsLive = isLive;
      for (const sync of running.values()) sync.watch();
    },

    /** Tells that another run of the story, or none, is the reader's now; false where no thread of it is kept. */
    switched: (storyId: string): Promise<void> | false => running.get(storyId)?.switched() ?? false,

    /** Tells the sync that its thread has been changed by an answer, so that it watches the reply that has begun. */
    watch: (storyId: string): void => running.get(storyId)?.watch(),

    /** Hears the user's channel for one story's thread, from before its first page is asked for. */
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
            // lines of the new beginning may have arrived before it, and counted as older than the window
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

    /** Puts the page before the first loaded message in front of it; one at a time. Rejects with ApiError. */
    loadOlder: (storyId: string): Promise<void> => running.get(storyId)?.loadOlder() ?? Promise.resolve(),
  };
}

/** The page's own threads. */
export const threadSyncs = createThreadSyncs();

const LATEST_MS = 200;
/** Two frames' rest, so that every third at most is drawn: text that grows twenty times a second reads as well as at sixty, and the rest is for scrolling and typing. */
const LEAST_REST_MS = 33;
/** Where a drawing takes long the text grows ten times a second and in larger pieces. */
const MOST_REST_MS = 100;
/** The rest is so many times as long as the drawing before it: a fifth of the time at most goes into text. */
const RESTS_PER_DRAWING = 4;

/**
 * Runs `work` once before a paint, however often it is asked to: the next paint, or the first one after a rest since the
 * last run, the longer the slower that was drawn. A hidden page, which does not paint, runs it soon.
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
    // the next task comes when all of it is drawn
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
