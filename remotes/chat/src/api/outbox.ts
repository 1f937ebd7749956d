import { onCaughtUpNeeded, outboxStore, session, store } from '@liaozhai/shared/runtime';
import {
  fromOutboxEntry,
  hadNoAnswer,
  type PendingMessage,
  sentAgain,
  toOutboxEntry,
  wasCutOff,
} from '../model/pendingMessage';
import { chatActions, currentUserId, selectChat } from '../slice';
import { confirmDelivered, deliveryStatus, keepPending, shownPending } from './delivery';
import { createSender } from './outboxSender';
import { datedAfter, dropFromPendingLog, readPendingLog, recoverPending, writePendingLog } from './pendingLog';

const { dispatch } = store;

/** Sends the reader's messages: painted immediately, stored on the device, sent in order, exactly once. */
export function createOutbox() {
  /** Not yet on the device, so the outbox does not list them. */
  const unsaved = new Map<string, PendingMessage>();
  let started = false;
  /** Once it resolves, everything the device's outbox holds for this reader is shown. */
  let loaded: Promise<unknown> = Promise.resolve();
  const sender = createSender();

  /** Starts sending what the device's outbox holds; further calls do nothing. */
  function start(): void {
    if (started) return;
    started = true;
    outboxStore.subscribe(() => void loadPending());
    sender.start();
    session.onUserChanged((previousId) => {
      dispatch(chatActions.userLeft());
      sender.reset();
      // a visitor's messages pass to the user who signs in, a member's to nobody
      if (previousId !== null) unsaved.clear();
      loaded = recoverPending(unsaved).then(loadPending);
    });
    onCaughtUpNeeded(settleUnanswered);
    window.addEventListener('online', settleUnanswered);
    loaded = recoverPending().then(loadPending);
  }

  /** Queues a message: painted immediately, stored on the device, sent as soon as possible. */
  async function enqueue(written: PendingMessage): Promise<void> {
    const writer = currentUserId();
    const painted = inOrder(written);
    const { clientId, storyId } = painted;
    sender.written(clientId);
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
    await sender.flush(storyId);
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
    sender.endPause(pending.storyId);
    await sender.flush(pending.storyId);
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
    sender.networkReturned();
    if (currentUserId() === null) return;
    for (const pending of selectChat(store.getState()).pending) {
      if (wasCutOff(pending)) void retry(pending);
      else if (hadNoAnswer(pending)) void lookFor(pending);
    }
    sender.sendWaiting();
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
    sender.sendWaiting();
  }

  return { start, enqueue, retry, remove };
}

/** The page's own outbox. */
export const outbox = createOutbox();

async function lookFor(pending: PendingMessage): Promise<void> {
  if ((await deliveryStatus(pending)) === 'received') await confirmDelivered(pending);
}
