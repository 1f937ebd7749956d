import type { SentDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  api,
  blockReload,
  isApiError,
  isBusy,
  isOnline,
  onCaughtUpNeeded,
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
import { toConversation, withConversation } from '../model/conversation';
import {
  fromOutboxEntry,
  hadNoAnswer,
  isUncertain,
  type PendingMessage,
  sentAgain,
  toOutboxEntry,
  wasCutOff,
} from '../model/pendingMessage';
import { runningMessage, toMessage, withAnswer, withNewest } from '../model/thread';
import { chatActions, currentUserId, selectChat } from '../slice';
import { askLatest } from './calls';
import { changeThread, chatApi, selectThread } from './chatApi';
import { changeConversations } from './listApi';
import { datedAfter, dropFromPendingLog, readPendingLog, recoverPending, writePendingLog } from './pendingLog';
import { postMessage } from './purchases';
import { threadSyncs } from './threadSync';

const { dispatch } = store;

/** Busy conversations are tried again after these pauses, in case the event that says they are free is lost. */
const BUSY: Pace = { firstMs: 3_000, longestMs: 30_000, spread: 0 };

/** Sends the reader's messages: painted immediately, stored on the device, sent in order, exactly once. */
export function createOutbox() {
  /** Not yet on the device, so the outbox does not list them. */
  const unsaved = new Map<string, PendingMessage>();
  let started = false;
  /** Once it resolves, everything the device's outbox holds for this reader is shown. */
  let loaded: Promise<unknown> = Promise.resolve();
  /** Never tried yet, so the server cannot have them. */
  const untried = new Set<string>();
  const flushing = new Map<string, { again: boolean; done: Promise<void> }>();
  /** Stories whose next message the server refused for now, with the way to cancel the timer of the next try. */
  const paused = new Map<string, () => void>();
  /** Refusals in a row, by story. */
  const refusals = new Map<string, number>();
  /** A page that goes takes its requests with it; their failing says nothing of the message. */
  let isLeaving = false;
  /** How often the network has come back, by all signs. */
  let returns = 0;
  /** Stories whose next message waits for the end of a reply. */
  let held = new Set<string>();

  /** Starts sending what the device's outbox holds; further calls do nothing. */
  function start(): void {
    if (started) return;
    started = true;
    outboxStore.subscribe(() => void loadPending());
    store.subscribe(sendFreed);
    session.onUserChanged((previousId) => {
      dispatch(chatActions.userLeft());
      for (const cancel of paused.values()) cancel();
      paused.clear();
      refusals.clear();
      // a visitor's messages pass to the user who signs in, a member's to nobody
      if (previousId !== null) unsaved.clear();
      loaded = recoverPending(unsaved).then(loadPending);
    });
    onCaughtUpNeeded(settleUnanswered);
    window.addEventListener('online', settleUnanswered);
    window.addEventListener('pagehide', () => {
      isLeaving = true;
    });
    window.addEventListener('pageshow', () => {
      isLeaving = false;
      sendWaiting();
    });
    loaded = recoverPending().then(loadPending);
  }

  /** Queues a message: painted immediately, stored on the device, sent as soon as possible. */
  async function enqueue(written: PendingMessage): Promise<void> {
    const writer = currentUserId();
    const painted = inOrder(written);
    const { clientId, storyId } = painted;
    untried.add(clientId);
    unsaved.set(clientId, painted);
    writePendingLog([...readPendingLog(), painted]);
    dispatch(chatActions.pendingAdded(painted));
    await loaded;
    // nobody else sends it
    if (writer !== null && currentUserId() !== writer) return;
    const pending = inOrder(painted);
    unsaved.set(clientId, pending);
    if (pending.createdAt !== painted.createdAt) dispatch(chatActions.pendingChanged(pending));
    await outboxStore.put(toOutboxEntry(pending));
    unsaved.delete(clientId);
    dropFromPendingLog(clientId);
    await flushOutbox(storyId);
  }

  /** With a timestamp later than those of all messages written before it. */
  function inOrder(pending: PendingMessage): PendingMessage {
    const ids = [...unsaved.keys()];
    const since = unsaved.has(pending.clientId) ? ids.slice(ids.indexOf(pending.clientId)) : [];
    const { pending: shown } = selectChat(store.getState());
    return datedAfter(
      shown.filter(({ clientId }) => !since.includes(clientId)),
      pending,
    );
  }

  /**
   * Sends a failed message again, under the same key, and what failed before it in the same story; one that is no longer
   * the user's to send is left alone.
   */
  async function retry({ clientId }: PendingMessage): Promise<void> {
    const pending = shownPending(clientId);
    if (pending?.state !== 'failed') return;
    for (const each of sentAgain(pending, selectChat(store.getState()).pending)) await keepPending(each);
    endPause(pending.storyId);
    await flushOutbox(pending.storyId);
  }

  /** Takes a message off its way; false where it can no longer be held back. The caller decides what becomes of its words. */
  function remove(clientId: string): boolean {
    const pending = shownPending(clientId);
    if (!pending || pending.state === 'sending') return false;
    dispatch(chatActions.pendingRemoved(clientId));
    void outboxStore.remove(clientId);
    return true;
  }

  /** The network is back, by all signs: what never got through goes now, what timed out is looked for and else still offered. */
  function settleUnanswered(): void {
    returns += 1;
    if (currentUserId() === null) return;
    for (const pending of selectChat(store.getState()).pending) {
      if (wasCutOff(pending)) void retry(pending);
      else if (hadNoAnswer(pending)) void lookFor(pending);
    }
    sendWaiting();
  }

  async function loadPending(): Promise<void> {
    const reader = currentUserId();
    const entries = await outboxStore.all();
    // the change of user has asked for the other's messages already
    if (currentUserId() !== reader) return;
    const shown = new Map(selectChat(store.getState()).pending.map((pending) => [pending.clientId, pending]));
    const stored = entries.map((entry) => {
      const pending = fromOutboxEntry(entry);
      return shown.get(pending.clientId)?.state === 'sending' ? { ...pending, state: 'sending' as const } : pending;
    });
    const missing = [...unsaved.values()].filter(
      (pending) => !entries.some((entry) => entry.clientId === pending.clientId),
    );
    dispatch(chatActions.pendingLoaded([...stored, ...missing]));
    sendWaiting();
  }

  /** Sends all waiting messages, story by story. */
  function sendWaiting(): void {
    for (const storyId of waitingStories()) void flushOutbox(storyId);
  }

  /** Sends the next message of each story whose reply has ended since the last look, be its chat shown or not. */
  function sendFreed(): void {
    const before = held;
    const waiting = waitingStories();
    held = new Set([...waiting].filter(isReplying));
    for (const storyId of waiting) if (before.has(storyId) && !held.has(storyId)) void flushOutbox(storyId);
  }

  /** One story's messages go one after another, and one tab at a time sends them; calls meanwhile make one more round. */
  function flushOutbox(storyId: string): Promise<void> {
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
    return currentUserId() !== null && isOnline() && !isLeaving && !paused.has(storyId) && !isReplying(storyId);
  }

  /** Sends the story's next message after a pause. Returns its length in ms. */
  function pause(storyId: string, pace: Pace, wait?: number): number {
    const failures = refusals.get(storyId) ?? 0;
    const milliseconds = pauseMs(failures, pace, wait) ?? 0;
    refusals.set(storyId, failures + 1);
    endPause(storyId);
    const goOn = () => {
      endPause(storyId);
      void flushOutbox(storyId);
    };
    paused.set(storyId, retryPolicy.after(milliseconds, goOn));
    return milliseconds;
  }

  function endPause(storyId: string): void {
    paused.get(storyId)?.();
    paused.delete(storyId);
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
    const fate = untried.delete(pending.clientId) ? 'absent' : await deliveryStatus(pending);
    if (currentUserId() !== sender) return false;
    if (fate === 'received') return delivered(pending);
    if (fate === 'unknown') return refuse({ kind: 'offline' });
    for (let attempt = 1; ; attempt += 1) {
      const error = await sendPending(pending);
      if (!error) return arrived(pending);
      if (currentUserId() !== sender) return false;
      const found = !isBusy(error) && isUncertain(error) ? await deliveryStatus(pending) : 'unknown';
      if (currentUserId() !== sender) return false;
      if (found === 'received') return delivered(pending);
      // a connection was lost on the way there, and the server can be reached: once more, under the same key
      const wasLost = error.kind === 'offline' && found === 'absent';
      if (!wasLost || attempt > 1) return refuse(error);
    }
  }

  function arrived({ storyId }: PendingMessage): true {
    refusals.delete(storyId);
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
    if (paused.has(storyId) || isLeaving || !isOnline()) {
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

  return { start, enqueue, retry, remove };
}

/** The page's own outbox. */
export const outbox = createOutbox();

const shownPending = (clientId: string): PendingMessage | undefined =>
  selectChat(store.getState()).pending.find((pending) => pending.clientId === clientId);

function waitingStories(): Set<string> {
  const waiting = selectChat(store.getState()).pending.filter((pending) => pending.state === 'waiting');
  return new Set(waiting.map((pending) => pending.storyId));
}

function isReplying(storyId: string): boolean {
  const thread = selectThread(storyId)(store.getState()).data;
  return thread !== undefined && runningMessage(thread) !== undefined;
}

/** Changes a message on the screen and on the device. */
async function keepPending(pending: PendingMessage): Promise<void> {
  dispatch(chatActions.pendingChanged(pending));
  await outboxStore.put(toOutboxEntry(pending));
}

async function lookFor(pending: PendingMessage): Promise<void> {
  if ((await deliveryStatus(pending)) === 'received') await confirmDelivered(pending);
}

const RECENT = 20;

/** Sends a message with its price shown as spent, and merges the answer. Resolves to why it failed, the price given back. */
async function sendPending(pending: PendingMessage): Promise<ApiError | undefined> {
  const sender = currentUserId();
  const price = chatApi.endpoints.chatGetStory.select(pending.storyId)(store.getState()).data?.pricePerMessage ?? 0;
  const giveBack = session.balanceShifted(-price);
  const release = blockReload('a message is on its way');
  try {
    const sent = await postMessage(pending);
    if (currentUserId() === sender) await takeAnswer(pending, sent);
    return undefined;
  } catch (cause) {
    giveBack();
    if (isApiError(cause)) return cause;
    throw cause;
  } finally {
    release();
  }
}

async function takeAnswer(pending: PendingMessage, { message, reply, conversation, balance }: SentDto): Promise<void> {
  const conversationId = String(conversation?.id ?? message.conversation_id);
  if (balance !== undefined) session.userPatched({ balance });
  const owner = currentUserId();
  await threadLoaded(pending.storyId);
  if (currentUserId() !== owner) return;
  const messages = [message, ...(reply ? [reply] : [])].map(toMessage);
  dispatch(changeThread(pending.storyId, (thread) => withAnswer(thread, conversationId, messages)));
  threadSyncs.watch(pending.storyId);
  forgetWhatChanged(pending);
  if (conversation) dispatch(changeConversations((pages) => withConversation(pages, toConversation(conversation))));
  await outboxStore.remove(pending.clientId);
  // The answer may be ahead of changes that have not arrived yet.
  if (selectThread(pending.storyId)(store.getState()).data?.ahead.length) await threadSyncs.catchUp(pending.storyId);
}

/** A message costs points, and the first one gives its story a conversation. */
function forgetWhatChanged({ conversationId, storyId }: PendingMessage): void {
  const story = { type: 'Story' as const, id: storyId };
  dispatch(api.util.invalidateTags(conversationId ? ['Transaction'] : ['Transaction', story]));
}

/** A message must not leave the screen before its thread is there to show it. */
async function threadLoaded(storyId: string): Promise<void> {
  if (selectThread(storyId)(store.getState()).data) return;
  await dispatch(chatApi.endpoints.chatGetThread.initiate(storyId, { subscribe: false }));
}

/** What the server knows of a message: it has it, it does not, or it cannot be asked. */
async function deliveryStatus(pending: PendingMessage): Promise<'received' | 'absent' | 'unknown'> {
  const where = pending.conversationId ? { conversation_id: pending.conversationId } : { story_id: pending.storyId };
  const asker = currentUserId();
  try {
    const page = await askLatest({ ...where, limit: RECENT });
    // one user's answer must not reach the thread of another
    if (currentUserId() !== asker) return 'unknown';
    if (!page.messages.some((message) => message.clientId === pending.clientId)) return 'absent';
    dispatch(changeThread(pending.storyId, (thread) => withNewest(thread, page)));
    threadSyncs.watch(pending.storyId);
    return 'received';
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    return cause.kind === 'notFound' ? 'absent' : 'unknown';
  }
}

/** Clears away a message that the server turned out to have; what it cost is read from the server. */
async function confirmDelivered(pending: PendingMessage): Promise<void> {
  const owner = currentUserId();
  await threadLoaded(pending.storyId);
  if (currentUserId() !== owner) return;
  forgetWhatChanged(pending);
  await outboxStore.remove(pending.clientId);
  await session.refresh();
}
