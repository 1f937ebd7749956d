import type { ConversationDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  capabilities,
  conversationEventSchema,
  deltaEventSchema,
  endpoints,
  idEventSchema,
  isApiError,
  latestSchema,
  listen,
  messageEventSchema,
  onCaughtUpNeeded,
  type Pace,
  pauseMs,
  request,
  session,
} from '@liaozhai/shared/runtime';
import { stopAll } from '@liaozhai/shared/ui';
import { believableVersion } from '../model/conversation';
import {
  type Applied,
  applyDelta,
  applyEvent,
  contradicts,
  emptyThread,
  highestVersion,
  type Page,
  runningMessage,
  type Thread,
  toPage,
  withChanges,
  withNewest,
  withOlder,
  withRestart,
} from '../model/thread';

/** Messages per page, and messages of each thread that the offline cache holds. */
export const THREAD_PAGE = 50;

/** Filters by story or by conversation. `after` is a version, `before` a seq; without both, the newest page is returned. */
export interface LatestQuery {
  story_id?: string;
  conversation_id?: string;
  after?: number;
  before?: number;
  limit?: number;
}

export async function fetchLatest(query: LatestQuery): Promise<Page> {
  // background syncs continue after the session has expired, and each 401 would open the sign-in popup
  if (session.current().status !== 'member') throw { kind: 'unauthenticated' } satisfies ApiError;
  const body = await request({ url: endpoints.latestMessages, params: { ...query }, schema: latestSchema });
  const page = toPage(body, capabilities.has('messages.edit') || capabilities.has('conversations.restart'));
  if (query.after === undefined && page.isUnparsed) throw unusableResponse;
  return page;
}

/** Failure of a response that has another shape, or is about another conversation. */
export const unusableResponse: ApiError = { kind: 'server', status: 200 };

export interface ThreadPorts {
  storyId: string;
  /** undefined until the first page has loaded. */
  read: () => Thread | undefined;
  change: (next: Thread) => void;
  /** `GET /v1/messages/latest`; rejects with ApiError. */
  fetchPage: (query: LatestQuery) => Promise<Page>;
  /** Whether the socket is assumed to deliver events. */
  isLive: () => boolean;
}

const PAGE_LIMIT = 100;
/** Longest lag of a replica: a page that stays older than a response for longer is right, and the response was wrong. */
const REPLICA_LAG_MS = 7_000;
/** Silence of a running reply after which the server is polled. */
const SILENCE_SECONDS = 5;
const POLL_SECONDS = [2, 5, 10];
const WITHOUT_SOCKET_SECONDS = 2;
const RETRY_PACE: Pace = { firstMs: 5_000, longestMs: 60_000, spread: 0.2 };
/** Gaps in a row that are fetched immediately; later ones wait, since the server may never return what is missing. */
const IMMEDIATE_GAPS = 3;

type Change = (thread: Thread) => Applied;

/** Synchronizes a thread with the server: applies events once per frame, fetches gaps, and polls while events are missing. */
export class ThreadSync {
  readonly #ports: ThreadPorts;
  readonly #frame = createFrameScheduler(() => this.#flush());
  #queuedChanges: Change[] = [];
  #catchUpPromise: Promise<void> | undefined;
  #olderPromise: Promise<void> | undefined;
  #shouldCatchUpAgain = false;
  #pollCount = 0;
  /** Consecutive drawings whose events left a gap. */
  #gapCount = 0;
  /** Changes are known to be missing and could not be fetched. */
  #isBehind = false;
  /** The story's current run differs from the thread. */
  #isRunOutdated = false;
  #failureCount = 0;
  /** The version of consecutive pages that contradict the thread, and when the first came: one may come from a replica that lags. */
  #contradiction: { version: number; since: number } | undefined;
  /** The server's version at which the thread was last replaced because of a contradiction. */
  #replacedAtVersion: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(ports: ThreadPorts) {
    this.#ports = ports;
  }

  /** Queues an event, which is applied together with all others before the next paint. */
  receive(change: Change): void {
    this.#queuedChanges.push(change);
    this.#frame.schedule();
  }

  handleDeleted(conversationId: string): void {
    if (this.#ports.read()?.conversationId === conversationId) this.#ports.change(emptyThread(this.#ports.storyId));
  }

  /** Runs after a change of the story's current run: replaces the thread with the newest page. */
  handleRunSwitched(): Promise<void> {
    this.#isRunOutdated = true;
    return this.catchUp();
  }

  /** Handles a run that was shelved or resumed, here or on another device. */
  handleUpdated({ id, story, shelved }: ConversationDto): void {
    const shownId = this.#ports.read()?.conversationId;
    if (story?.id !== this.#ports.storyId || typeof shelved !== 'boolean' || shownId === undefined) return;
    if (shelved === (shownId === id)) void this.handleRunSwitched();
  }

  /** Applies the events received before the first page and fetches missed changes. The device's copy is always behind. */
  handleLoaded(isCached: boolean): void {
    this.#isBehind = isCached;
    this.#flush();
    const shouldCatchUp = this.#shouldCatchUpAgain;
    this.#shouldCatchUpAgain = false;
    if (shouldCatchUp) void this.catchUp();
    this.watch();
  }

  /** Fetches all changes since the thread's version. Calls during a request start one more afterwards. */
  catchUp(): Promise<void> {
    if (this.#catchUpPromise || !this.#ports.read()) this.#shouldCatchUpAgain = true;
    if (!this.#ports.read()) return Promise.resolve();
    this.#catchUpPromise ??= this.#catchUpOnce().finally(() => {
      this.#catchUpPromise = undefined;
      if (this.#shouldCatchUpAgain && !this.#isStopped) {
        this.#shouldCatchUpAgain = false;
        void this.catchUp();
      }
    });
    return this.#catchUpPromise;
  }

  /** Prepends the page before the first loaded message; one request at a time. Rejects with ApiError. */
  loadOlder(): Promise<void> {
    this.#olderPromise ??= this.#loadPageBefore().finally(() => {
      this.#olderPromise = undefined;
    });
    return this.#olderPromise;
  }

  /** Schedules the next poll, counted from now. */
  watch(): void {
    clearTimeout(this.#timer);
    const seconds = this.#secondsToNextPoll();
    if (seconds === undefined || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#pollCount += 1;
      void this.catchUp();
    }, seconds * 1000);
  }

  stop(): void {
    this.#isStopped = true;
    this.#frame.stop();
    clearTimeout(this.#timer);
  }

  #secondsToNextPoll(): number | undefined {
    if (this.#isBehind) return (pauseMs(this.#failureCount, RETRY_PACE) ?? 0) / 1000;
    const thread = this.#ports.read();
    if (!thread || !runningMessage(thread)) return undefined;
    if (!this.#ports.isLive()) return WITHOUT_SOCKET_SECONDS;
    if (this.#pollCount === 0) return SILENCE_SECONDS;
    return POLL_SECONDS[Math.min(this.#pollCount, POLL_SECONDS.length) - 1];
  }

  #flush(): void {
    const previous = this.#ports.read();
    if (!previous || this.#isStopped) return;
    let thread = previous;
    let complete = true;
    for (const change of this.#queuedChanges.splice(0)) {
      const applied = change(thread);
      thread = applied.thread;
      complete &&= applied.complete;
    }
    if (thread !== previous) this.setThread(thread);
    if (complete) this.#gapCount = 0;
    else this.#handleGap();
  }

  #handleGap(): void {
    this.#gapCount += 1;
    if (this.#gapCount <= IMMEDIATE_GAPS) void this.catchUp();
    else if (!this.#isBehind) {
      this.#isBehind = true;
      this.watch();
    }
  }

  /** Stores a newer state of the thread and restarts the polling schedule. */
  setThread(thread: Thread): void {
    this.#pollCount = 0;
    this.#ports.change(thread);
    this.watch();
  }

  async #catchUpOnce(): Promise<void> {
    try {
      while (await this.#applyNextPage());
      this.#isBehind = this.#contradiction !== undefined;
      this.#failureCount = 0;
    } catch (cause) {
      if (!isApiError(cause)) throw cause;
      if (this.#isBehind) this.#failureCount += 1;
      this.#isBehind = cause.kind !== 'notFound';
      if (!this.#isBehind) this.#resetThread();
    }
    this.watch();
  }

  /** Clears a thread whose conversation is gone, and fetches again, since the story may have a new one. */
  #resetThread(): void {
    const { read, change, storyId } = this.#ports;
    this.#shouldCatchUpAgain ||= read()?.conversationId !== null;
    change(emptyThread(storyId));
  }

  async #loadPageBefore(): Promise<void> {
    const { read, change, fetchPage } = this.#ports;
    const thread = read();
    const firstSeq = thread?.messages[0]?.seq;
    if (!thread?.hasOlder || !thread.conversationId || firstSeq === undefined) return;
    const page = await fetchPage({ conversation_id: thread.conversationId, before: firstSeq, limit: THREAD_PAGE });
    const current = read();
    if (current) change(withOlder(current, page, firstSeq));
    if ((read()?.version ?? 0) < thread.version) await this.catchUp();
  }

  /** Merges one page of changes. Returns true while there are more. */
  async #applyNextPage(): Promise<boolean> {
    const { read, fetchPage, storyId } = this.#ports;
    const thread = read();
    if (!thread || this.#isStopped) return false;
    const { conversationId, version } = thread;
    const hasConversation = conversationId !== null && !this.#isRunOutdated;
    const query = hasConversation
      ? { conversation_id: conversationId, after: version, limit: PAGE_LIMIT }
      : { story_id: storyId, limit: PAGE_LIMIT };
    this.#isRunOutdated = false;
    const page = await fetchPage(query).catch((cause: unknown) => {
      this.#isRunOutdated ||= conversationId !== null && !hasConversation;
      throw cause;
    });
    const current = read();
    // a conversation that began during the request is not in the response
    if (!current || this.#isStopped || current.conversationId !== conversationId) return false;
    const next = hasConversation ? withChanges(current, page) : withNewest(current, page);
    if (next !== current) {
      // a poll that finds changes shows that events are missing, so the next one follows soon
      this.#pollCount = Math.min(this.#pollCount, 1);
      this.#ports.change(next);
    }
    if (hasConversation && !page.hasMore) return this.#replaceContradicted(next, page, highestVersion(thread));
    return hasConversation && next !== current;
  }

  /** Replaces the thread by the newest page if pages of changes in a row contradict it. Returns true if it did. */
  async #replaceContradicted(thread: Thread, page: Page, knownVersion: number): Promise<boolean> {
    const { read, change, fetchPage, storyId } = this.#ports;
    const { version } = page;
    const isContradicted = this.#replacedAtVersion !== version && contradicts(thread, page, knownVersion);
    const former = isContradicted && this.#contradiction?.version === version ? this.#contradiction : undefined;
    this.#contradiction = isContradicted ? (former ?? { version, since: performance.now() }) : undefined;
    const isOlderThanResponse = version < (thread.statedVersion ?? 0);
    if (!former || (isOlderThanResponse && performance.now() - former.since < REPLICA_LAG_MS)) return false;
    const newest = await fetchPage({ story_id: storyId, limit: THREAD_PAGE });
    if (this.#isStopped || read()?.conversationId !== thread.conversationId) return false;
    this.#replacedAtVersion = version;
    this.#contradiction = undefined;
    change(withNewest(emptyThread(storyId), newest));
    return true;
  }
}

/** Events of messages, with the status that their name states. */
const messageEvents = [
  ['message.created', undefined],
  ['message.completed', 'completed'],
  ['message.failed', 'failed'],
] as const;

function createThreadSyncs() {
  const syncs = new Map<string, ThreadSync>();
  let isSocketLive = false;

  return {
    /** The synchronization of a story's thread, while it is cached. */
    of: (storyId: string): ThreadSync | undefined => syncs.get(storyId),

    /** Must be called by the page that observes the connection's status. */
    setSocketLive(isLive: boolean): void {
      if (isSocketLive === isLive) return;
      isSocketLive = isLive;
      for (const sync of syncs.values()) sync.watch();
    },

    /**
     * Subscribes a story's thread to the user's channel, before its first page is requested. `handleLoaded` of the result must be
     * called once that page or the device's copy has loaded.
     */
    follow(ports: Pick<ThreadPorts, 'storyId' | 'read' | 'change'>) {
      const sync = new ThreadSync({ ...ports, fetchPage: fetchLatest, isLive: () => isSocketLive });
      syncs.set(ports.storyId, sync);
      const stop = stopAll(
        ...messageEvents.map(([name, ending]) =>
          listen(name, messageEventSchema, (event) => sync.receive((thread) => applyEvent(thread, event, ending))),
        ),
        listen('message.delta', deltaEventSchema, (delta) => sync.receive((thread) => applyDelta(thread, delta))),
        listen('conversation.deleted', idEventSchema, ({ id }) => sync.handleDeleted(id)),
        listen('conversation.restarted', idEventSchema, ({ id, version }) =>
          sync.receive((thread) => {
            if (thread.conversationId !== id) return { thread, complete: true };
            const restartVersion = believableVersion(highestVersion(thread), version);
            if (restartVersion === undefined) return { thread, complete: false };
            const next = withRestart(thread, restartVersion);
            // messages after the restart may have arrived before this event and been skipped as below the window
            return { thread: next, complete: next.version >= restartVersion && !thread.hasOlder };
          }),
        ),
        listen('conversation.updated', conversationEventSchema, ({ conversation }) => sync.handleUpdated(conversation)),
        onCaughtUpNeeded(() => void sync.catchUp()),
        () => sync.stop(),
        () => syncs.get(ports.storyId) === sync && syncs.delete(ports.storyId),
      );
      return { sync, stop };
    },
  };
}

export const threadSyncs = createThreadSyncs();

const MAX_DELAY_MS = 200;
/** Two frames, so that at most every third is drawn: text at 20 updates a second reads as well, and scrolling and typing stay smooth. */
const MIN_REST_MS = 33;
/** Slow drawings update the text ten times a second. */
const MAX_REST_MS = 100;
/** Ratio of rest to drawing time: at most a fifth of the time is spent on drawing text. */
const RESTS_PER_DRAWING = 4;

/**
 * Runs `work` once before a paint: the next one, or the first one after a rest that grows with the duration of the last drawing.
 * A hidden page does not paint, so it runs after `MAX_DELAY_MS`.
 */
function createFrameScheduler(work: () => void): { schedule(): void; stop(): void } {
  let frameId: number | undefined;
  let restTimer: ReturnType<typeof setTimeout> | undefined;
  let deadlineTimer: ReturnType<typeof setTimeout> | undefined;
  let restMs = MIN_REST_MS;
  let restEndsAt = 0;
  const stop = () => {
    if (frameId !== undefined) cancelAnimationFrame(frameId);
    clearTimeout(restTimer);
    clearTimeout(deadlineTimer);
    frameId = restTimer = deadlineTimer = undefined;
  };
  const run = () => {
    stop();
    const startedAt = performance.now();
    restEndsAt = startedAt + restMs;
    work();
    // the next task runs once the drawing is finished
    setTimeout(() => {
      const drawnMs = performance.now() - startedAt;
      restMs = Math.min(Math.max(drawnMs * RESTS_PER_DRAWING, MIN_REST_MS), MAX_REST_MS);
      restEndsAt = startedAt + drawnMs + restMs;
    });
  };
  const requestFrame = () => {
    frameId = requestAnimationFrame(run);
  };
  return {
    schedule() {
      if (deadlineTimer !== undefined) return;
      const remainingMs = restEndsAt - performance.now();
      if (remainingMs > 0) restTimer = setTimeout(requestFrame, remainingMs);
      else requestFrame();
      deadlineTimer = setTimeout(run, MAX_DELAY_MS);
    },
    stop,
  };
}
