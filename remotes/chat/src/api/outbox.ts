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

/** Sends the user's messages: shown immediately, stored on the device, sent in order, exactly once. */
export function createOutbox() {
  /** Messages that are not stored on the device yet, so the outbox does not list them. */
  const unsaved = new Map<string, PendingMessage>();
  let started = false;
  /** Resolves when everything in the device's outbox of this user is shown. */
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
      // a guest's messages pass to the user who signs in; a member's messages pass to nobody
      if (previousId !== null) unsaved.clear();
      loaded = recoverPending(unsaved).then(loadPending);
    });
    onCaughtUpNeeded(settleUnanswered);
    window.addEventListener('online', settleUnanswered);
    loaded = recoverPending().then(loadPending);
  }

  /** Queues a message: shown immediately, stored on the device, sent as soon as possible. */
  async function enqueue(written: PendingMessage): Promise<void> {
    const writer = currentUserId();
    const painted = inOrder(written);
    const { clientId, storyId } = painted;
    sender.written(clientId);
    unsaved.set(clientId, painted);
    writePendingLog([...readPendingLog(), painted]);
    dispatch(chatActions.pendingAdded(painted));
    await loaded;
    // a member's message is sent only while its author is signed in
    if (writer !== null && currentUserId() !== writer) return;
    const pending = inOrder(painted);
    unsaved.set(clientId, pending);
    if (pending.createdAt !== painted.createdAt) dispatch(chatActions.pendingChanged(pending));
    await outboxStore.put(toOutboxEntry(pending));
    unsaved.delete(clientId);
    dropFromPendingLog(clientId);
    await sender.flush(storyId);
  }

  /** Gives the message a timestamp later than every earlier unsent message. */
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
   * Sends a failed message again under the same key, after the failed messages before it in the same story. Does nothing if the
   * message no longer belongs to the user.
   */
  async function retry({ clientId }: PendingMessage): Promise<void> {
    const pending = shownPending(clientId);
    if (pending?.state !== 'failed') return;
    for (const each of sentAgain(pending, selectChat(store.getState()).pending)) await keepPending(each);
    sender.endPause(pending.storyId);
    await sender.flush(pending.storyId);
  }

  /** Withdraws a message. Returns false if it is already being sent. */
  function remove(clientId: string): boolean {
    const pending = shownPending(clientId);
    if (!pending || pending.state === 'sending') return false;
    dispatch(chatActions.pendingRemoved(clientId));
    void outboxStore.remove(clientId);
    return true;
  }

  /** Runs when the network seems restored: sends cut-off messages again and checks those that timed out, which else stay failed. */
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
    // another user signed in meanwhile, whose messages are already being loaded
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

export const outbox = createOutbox();

async function lookFor(pending: PendingMessage): Promise<void> {
  if ((await deliveryStatus(pending)) === 'received') await confirmDelivered(pending);
}
