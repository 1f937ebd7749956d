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
import { chatActions, currentUserId, selectChat } from '../slice';
import { selectThread } from './chatApi';
import { confirmDelivered, deliveryStatus, keepPending, sendPending, shownPending } from './delivery';

const { dispatch } = store;

/** Busy conversations are tried again after these pauses, in case the event that says they are free is lost. */
const BUSY: Pace = { firstMs: 3_000, longestMs: 30_000, spread: 0 };

interface Pause {
  pace: Pace;
  /** in a row, of this pace */
  refusals: number;
  /** Cancels the timer of the next try; null once it is over. */
  cancel: (() => void) | null;
}

/** Sends what the device's outbox holds: a story's messages in order, one tab at a time, after the pauses that servers ask for. */
export function createSender() {
  /** Never tried yet, so the server cannot have them. */
  const untried = new Set<string>();
  const flushing = new Map<string, { again: boolean; done: Promise<void> }>();
  /** Of stories whose last message the server refused for now. */
  const pauses = new Map<string, Pause>();
  /** `pagehide` aborts requests: their failure says nothing about the message. */
  let isLeaving = false;
  /** How often the network has come back, by all signs. */
  let returns = 0;
  /** Stories whose next message waits for the end of a reply. */
  let held = new Set<string>();

  function start(): void {
    store.subscribe(sendFreed);
    window.addEventListener('pagehide', () => {
      isLeaving = true;
    });
    window.addEventListener('pageshow', () => {
      isLeaving = false;
      sendWaiting();
    });
  }

  /** Forgets the pauses of the user who left. */
  function reset(): void {
    for (const storyId of [...pauses.keys()]) forgetPauses(storyId);
  }

  /** Sends all waiting messages, story by story. */
  function sendWaiting(): void {
    for (const storyId of waitingStories()) void flush(storyId);
  }

  /** Sends the next message of each story whose reply has ended since the last look, be its chat shown or not. */
  function sendFreed(): void {
    const before = held;
    const waiting = waitingStories();
    held = new Set([...waiting].filter(isReplying));
    for (const storyId of waiting) {
      if (!before.has(storyId) || held.has(storyId)) continue;
      if (pauses.get(storyId)?.pace === BUSY) forgetPauses(storyId);
      void flush(storyId);
    }
  }

  /** One story's messages go one after another, and one tab at a time sends them; calls meanwhile make one more round. */
  function flush(storyId: string): Promise<void> {
    const under = flushing.get(storyId);
    if (under) {
      under.again = true;
      return under.done;
    }
    const round = { again: false, done: Promise.resolve() };
    flushing.set(storyId, round);
    round.done = withLock(`liaozhai-outbox-${storyId}`, async () => {
      do {
        round.again = false;
        await sendAll(storyId);
      } while (round.again);
    }).finally(() => flushing.delete(storyId));
    return round.done;
  }

  async function sendAll(storyId: string): Promise<void> {
    let goesOn = true;
    while (goesOn && maySend(storyId)) {
      const sender = currentUserId();
      // Read each time: another tab may have sent or withdrawn a message meanwhile.
      const first = (await outboxStore.all()).find((entry) => entry.storyId === storyId);
      // the server gets messages in the order in which they were written: nothing overtakes one that failed
      goesOn = first?.state === 'waiting' && currentUserId() === sender && (await deliver(fromOutboxEntry(first)));
    }
  }

  /** While a reply is being written the server would refuse, and after a refusal it wants to be left alone for a while. */
  function maySend(storyId: string): boolean {
    return currentUserId() !== null && isOnline() && !isLeaving && !isPaused(storyId) && !isReplying(storyId);
  }

  /** Sends the story's next message after a pause. Returns its length in ms. */
  function pause(storyId: string, pace: Pace, wait?: number): number {
    const before = pauses.get(storyId);
    const refusals = before?.pace === pace ? before.refusals : 0;
    const milliseconds = pauseMs(refusals, pace, wait) ?? 0;
    endPause(storyId);
    const goOn = () => {
      endPause(storyId);
      void flush(storyId);
    };
    pauses.set(storyId, { pace, refusals: refusals + 1, cancel: retryPolicy.after(milliseconds, goOn) });
    return milliseconds;
  }

  const isPaused = (storyId: string): boolean => Boolean(pauses.get(storyId)?.cancel);

  function endPause(storyId: string): void {
    const pause = pauses.get(storyId);
    pause?.cancel?.();
    if (pause) pause.cancel = null;
  }

  /** The story's refusals are over. */
  function forgetPauses(storyId: string): void {
    endPause(storyId);
    pauses.delete(storyId);
  }

  /** True when the story's next message may follow. A message belongs to its author, and is sent when they are back. */
  async function deliver(pending: PendingMessage): Promise<boolean> {
    const sender = currentUserId();
    const returnsBefore = returns;
    const refuse = (error: ApiError) => {
      // nobody will tell of this return of the network again
      const isBack = error.kind === 'offline' && returns !== returnsBefore;
      return isBack ? waitAgain(pending) : refused(pending, error);
    };
    // taken back while the outbox was being read, or not shown yet and asked for again once it is
    if (!shownPending(pending.clientId)) return false;
    dispatch(chatActions.pendingChanged({ ...pending, state: 'sending', error: undefined }));
    const status = untried.delete(pending.clientId) ? 'absent' : await deliveryStatus(pending);
    if (currentUserId() !== sender) return false;
    if (status === 'received') return delivered(pending);
    if (status === 'unknown') return refuse({ kind: 'offline' });
    for (let attempt = 1; ; attempt += 1) {
      const error = await sendPending(pending);
      if (!error) return arrived(pending);
      if (currentUserId() !== sender) return false;
      const delivery = !isBusy(error) && isUncertain(error) ? await deliveryStatus(pending) : 'unknown';
      if (currentUserId() !== sender) return false;
      if (delivery === 'received') return delivered(pending);
      // a connection was lost on the way there, and the server can be reached: once more, under the same key
      const wasLost = error.kind === 'offline' && delivery === 'absent';
      if (!wasLost || attempt > 1) return refuse(error);
    }
  }

  function arrived({ storyId }: PendingMessage): true {
    forgetPauses(storyId);
    return true;
  }

  async function delivered(pending: PendingMessage): Promise<true> {
    await confirmDelivered(pending);
    return arrived(pending);
  }

  async function waitAgain(pending: PendingMessage): Promise<true> {
    await keepPending({ ...pending, state: 'waiting', error: undefined });
    return true;
  }

  /** What can still be sent automatically waits; the reader decides on everything else. True when the next message may follow. */
  async function refused(pending: PendingMessage, error: ApiError): Promise<boolean> {
    const { storyId } = pending;
    const wait = waitOf(error);
    if (isBusy(error)) pause(storyId, BUSY);
    else if (typeof wait === 'number') {
      // whole seconds: what is left over spreads pages and is no figure for a reader
      const seconds = Math.floor(pause(storyId, PATIENT, wait) / 1000);
      const until = performance.now() + seconds * 1000;
      dispatch(chatActions.waitRequested({ storyId, until }));
    }
    if (isPaused(storyId) || isLeaving || !isOnline()) {
      dispatch(chatActions.pendingChanged({ ...pending, state: 'waiting', error }));
      return false;
    }
    if (error.kind === 'insufficientBalance' && error.required > error.balance) {
      session.userPatched({ balance: error.balance });
    }
    if (error.kind === 'invalid' && error.fields.suggestion_id) {
      // The suggestion has expired; the words are the reader's all the same.
      return waitAgain({ ...pending, suggestionId: undefined });
    }
    // The same words restart a conversation that was deleted.
    const conversationId = error.kind === 'notFound' ? null : pending.conversationId;
    await keepPending({ ...pending, conversationId, state: 'failed', error });
    return true;
  }

  return {
    start,
    reset,
    flush,
    sendWaiting,
    endPause,
    /** A message that the server cannot have yet. */
    written: (clientId: string): void => {
      untried.add(clientId);
    },
    /** By all signs the network is back. */
    networkReturned: (): void => {
      returns += 1;
    },
  };
}

function waitingStories(): Set<string> {
  const waiting = selectChat(store.getState()).pending.filter((pending) => pending.state === 'waiting');
  return new Set(waiting.map((pending) => pending.storyId));
}

function isReplying(storyId: string): boolean {
  const thread = selectThread(storyId)(store.getState()).data;
  return thread !== undefined && runningMessage(thread) !== undefined;
}
