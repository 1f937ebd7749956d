import {
  type ApiError,
  isBusy,
  isOnline,
  outboxStore,
  PATIENT,
  type Pace,
  pauseMs,
  retryPolicy,
  session,
  store,
  waitOf,
  withLock,
} from '@liaozhai/shared/runtime';
import { fromOutboxEntry, isUncertain, type PendingMessage } from '../model/pendingMessage';
import { runningMessage } from '../model/thread';
import { chatActions, currentUserId, selectChat, selectIsRestarting } from '../slice';
import { cachedThread } from './chatApi';
import { confirmDelivered, deliveryStatus, findPending, sendPending, storePending } from './delivery';

const { dispatch } = store;

/** Delays before a busy conversation is tried again, in case the event that ends the reply is lost. */
const BUSY_PACE: Pace = { firstMs: 3_000, longestMs: 30_000, spread: 0 };

interface Pause {
  pace: Pace;
  /** Consecutive refusals at this pace. */
  refusals: number;
  /** Cancels the timer of the next attempt; null once it has fired. */
  cancel: (() => void) | null;
}

/** Sends the messages in the device's outbox: per story in order, from one tab at a time, after the pauses that the server requests. */
export function createSender() {
  /** Client ids of messages that were never sent, so the server cannot have them. */
  const untriedIds = new Set<string>();
  const runningRounds = new Map<string, { again: boolean; done: Promise<void> }>();
  /** By story, while the server refuses its next message. */
  const pauses = new Map<string, Pause>();
  /** `pagehide` aborts requests: such a failure says nothing about the message. */
  let isUnloading = false;
  /** How often the network seemed restored. */
  let restoreCount = 0;
  /** Stories whose next message waits for the end of the running reply, or of a restart. */
  let blockedStories = new Set<string>();

  function start(): void {
    store.subscribe(sendUnblocked);
    window.addEventListener('pagehide', () => {
      isUnloading = true;
    });
    window.addEventListener('pageshow', () => {
      isUnloading = false;
      sendWaiting();
    });
  }

  /** Clears the pauses of the previous user. */
  function reset(): void {
    for (const storyId of [...pauses.keys()]) clearPauses(storyId);
  }

  function sendWaiting(): void {
    for (const storyId of findWaitingStories()) void flush(storyId);
  }

  /** Sends the next message of each story that is no longer blocked since the last check, even if its chat is not shown. */
  function sendUnblocked(): void {
    const previouslyBlocked = blockedStories;
    const waitingStories = findWaitingStories();
    blockedStories = new Set([...waitingStories].filter(isBlocked));
    for (const storyId of waitingStories) {
      if (!previouslyBlocked.has(storyId) || blockedStories.has(storyId)) continue;
      if (pauses.get(storyId)?.pace === BUSY_PACE) clearPauses(storyId);
      void flush(storyId);
    }
  }

  /** Sends a story's messages one after another, from one tab at a time. Calls during a run start one more round. */
  function flush(storyId: string): Promise<void> {
    const runningRound = runningRounds.get(storyId);
    if (runningRound) {
      runningRound.again = true;
      return runningRound.done;
    }
    const round = { again: false, done: Promise.resolve() };
    runningRounds.set(storyId, round);
    round.done = withLock(`liaozhai-outbox-${storyId}`, async () => {
      do {
        round.again = false;
        await sendAll(storyId);
        await releaseUnsent(storyId);
      } while (round.again);
    }).finally(() => runningRounds.delete(storyId));
    return round.done;
  }

  async function sendAll(storyId: string): Promise<void> {
    let shouldContinue = true;
    while (shouldContinue && maySend(storyId)) {
      const userId = currentUserId();
      // read each time, because another tab may have sent or withdrawn a message
      const nextEntry = (await outboxStore.all()).find((entry) => entry.storyId === storyId);
      // the server must receive messages in the order they were written, so none overtakes a failed one
      shouldContinue =
        nextEntry !== undefined &&
        nextEntry.state !== 'failed' &&
        currentUserId() === userId &&
        (await deliver(fromOutboxEntry(nextEntry)));
    }
  }

  /** What this tab could not send, or a killed tab was sending, waits again. */
  async function releaseUnsent(storyId: string): Promise<void> {
    for (const entry of await outboxStore.all())
      if (entry.storyId === storyId && entry.state === 'sending') await requeue(fromOutboxEntry(entry));
  }

  /** After a refusal the server has requested a pause. */
  function maySend(storyId: string): boolean {
    return currentUserId() !== null && isOnline() && !isUnloading && !isPaused(storyId) && !isBlocked(storyId);
  }

  /** Schedules the story's next message after a pause. Returns its length in ms. */
  function pause(storyId: string, pace: Pace, wait?: number): number {
    const previous = pauses.get(storyId);
    const refusals = previous?.pace === pace ? previous.refusals : 0;
    const delayMs = pauseMs(refusals, pace, wait) ?? 0;
    endPause(storyId);
    const resume = () => {
      endPause(storyId);
      void flush(storyId);
    };
    pauses.set(storyId, { pace, refusals: refusals + 1, cancel: retryPolicy.after(delayMs, resume) });
    return delayMs;
  }

  const isPaused = (storyId: string): boolean => Boolean(pauses.get(storyId)?.cancel);

  function endPause(storyId: string): void {
    const pause = pauses.get(storyId);
    pause?.cancel?.();
    if (pause) pause.cancel = null;
  }

  function clearPauses(storyId: string): void {
    endPause(storyId);
    pauses.delete(storyId);
  }

  /** Returns true if the story's next message may follow. A message is sent only while its author is signed in. */
  async function deliver(pending: PendingMessage): Promise<boolean> {
    const userId = currentUserId();
    const restoreCountBefore = restoreCount;
    const handleFailure = (error: ApiError) => {
      // the network was restored during the request, so no further event would trigger another attempt
      const isNetworkRestored = error.kind === 'offline' && restoreCount !== restoreCountBefore;
      return isNetworkRestored ? requeue(pending) : handleRefusal(pending, error);
    };
    const status = untriedIds.delete(pending.clientId) ? 'absent' : await deliveryStatus(pending);
    if (currentUserId() !== userId) return false;
    if (status === 'received') return handleDelivered(pending);
    if (status === 'unknown') return handleFailure({ kind: 'offline' });
    for (let attempt = 1; ; attempt += 1) {
      // withdrawn meanwhile, perhaps in another tab, or not shown yet: loading the outbox starts another round
      const sending: PendingMessage = { ...pending, state: 'sending', error: undefined };
      if (!findPending(pending.clientId) || !(await storePending(sending))) return false;
      if (currentUserId() !== userId) return false;
      const error = await sendPending(pending);
      if (!error) return handleSent(pending);
      if (currentUserId() !== userId) return false;
      const delivery = !isBusy(error) && isUncertain(error) ? await deliveryStatus(pending) : 'unknown';
      if (currentUserId() !== userId) return false;
      if (delivery === 'received') return handleDelivered(pending);
      // the connection was lost but the server is reachable: sends once more, under the same key
      const wasLost = error.kind === 'offline' && delivery === 'absent';
      if (!wasLost || attempt > 1) return handleFailure(error);
    }
  }

  function handleSent({ storyId }: PendingMessage): true {
    clearPauses(storyId);
    return true;
  }

  async function handleDelivered(pending: PendingMessage): Promise<true> {
    await confirmDelivered(pending);
    return handleSent(pending);
  }

  async function requeue(pending: PendingMessage): Promise<true> {
    await storePending({ ...pending, state: 'waiting', error: undefined });
    return true;
  }

  /** Leaves a message waiting if it can be sent automatically, otherwise the user decides. Returns true if the next may follow. */
  async function handleRefusal(pending: PendingMessage, error: ApiError): Promise<boolean> {
    const { storyId } = pending;
    const waitSeconds = waitOf(error);
    if (isBusy(error)) pause(storyId, BUSY_PACE);
    else if (typeof waitSeconds === 'number') {
      // whole seconds: the random fraction only spreads the load and is not shown
      const seconds = Math.floor(pause(storyId, PATIENT, waitSeconds) / 1000);
      const until = performance.now() + seconds * 1000;
      dispatch(chatActions.pauseRequested({ storyId, pause: { until, isOverloaded: error.kind === 'server' } }));
    }
    if (isPaused(storyId) || isUnloading || !isOnline()) return false;
    if (error.kind === 'insufficientBalance' && error.required > error.balance) {
      session.userPatched({ balance: error.balance });
    }
    if (error.kind === 'invalid' && error.fields.suggestion_id) {
      // the suggestion has expired, but the text is still the user's
      return requeue({ ...pending, suggestionId: undefined });
    }
    // without its id, the message starts a new conversation in place of the deleted one
    const conversationId = error.kind === 'notFound' ? null : pending.conversationId;
    await storePending({ ...pending, conversationId, state: 'failed', error });
    return true;
  }

  return {
    start,
    reset,
    flush,
    sendWaiting,
    endPause,
    /** Records that the server cannot have this message yet. */
    markUntried: (clientId: string): void => {
      untriedIds.add(clientId);
    },
    recordNetworkRestored: (): void => {
      restoreCount += 1;
    },
  };
}

/** Stories with unsent messages, one of which another tab may be sending. */
function findWaitingStories(): Set<string> {
  const waitingMessages = selectChat(store.getState()).pending.filter((pending) => pending.state !== 'failed');
  return new Set(waitingMessages.map((pending) => pending.storyId));
}

/** During a reply the server would refuse a message; a restart would delete it. */
function isBlocked(storyId: string): boolean {
  const thread = cachedThread(storyId);
  if (selectIsRestarting(store.getState(), storyId, thread?.conversationId)) return true;
  return thread !== undefined && runningMessage(thread) !== undefined;
}
