import { local, onCaughtUpNeeded, outboxStore, STORAGE_KEYS, session, store } from '@liaozhai/shared/runtime';
import {
  fromOutboxEntry,
  hadNoResponse,
  messagesToRetry,
  type PendingMessage,
  toOutboxEntry,
  wasCutOff,
} from '../model/pendingMessage';
import { chatActions, currentUserId, selectChat } from '../slice';
import { confirmDelivered, deliveryStatus, findPending, storePending } from './delivery';
import { createSender } from './outboxSender';

const { dispatch } = store;

/** Sends the user's messages: shown immediately, stored on the device, sent in order, exactly once. */
export function createOutbox() {
  let isStarted = false;
  const sender = createSender();

  /** Starts sending what the device's outbox holds; further calls do nothing. */
  function start(): void {
    if (isStarted) return;
    isStarted = true;
    outboxStore.subscribe(() => void loadPending());
    sender.start();
    session.onUserChanged(() => {
      dispatch(chatActions.userLeft());
      sender.reset();
      void loadPending();
    });
    onCaughtUpNeeded(retryUnanswered);
    window.addEventListener('online', retryUnanswered);
    void loadPending();
  }

  /** Queues a message: shown and stored on the device immediately, sent as soon as possible. */
  async function enqueue(newMessage: Omit<PendingMessage, 'createdAt' | 'state'>): Promise<void> {
    const pending: PendingMessage = { ...newMessage, createdAt: nextTimestamp(), state: 'waiting' };
    sender.markUntried(pending.clientId);
    dispatch(chatActions.pendingAdded(pending));
    await outboxStore.put(toOutboxEntry(pending));
    await sender.flush(pending.storyId);
  }

  /**
   * Sends a failed message again under the same key, after the failed messages before it in the same story. Does nothing if the
   * message no longer belongs to the user.
   */
  async function retry({ clientId }: PendingMessage): Promise<void> {
    const pending = findPending(clientId);
    if (pending?.state !== 'failed') return;
    await Promise.all(messagesToRetry(pending, selectChat(store.getState()).pending).map(storePending));
    sender.endPause(pending.storyId);
    await sender.flush(pending.storyId);
  }

  /** Withdraws a message. Returns false if it is already being sent. */
  function remove(clientId: string): boolean {
    const pending = findPending(clientId);
    if (!pending || pending.state === 'sending') return false;
    dispatch(chatActions.pendingRemoved(clientId));
    void outboxStore.remove(clientId);
    return true;
  }

  /** Runs when the network seems restored: sends cut-off messages again and checks those that timed out, which else stay failed. */
  function retryUnanswered(): void {
    sender.recordNetworkRestored();
    if (currentUserId() === null) return;
    for (const pending of selectChat(store.getState()).pending) {
      if (wasCutOff(pending)) void retry(pending);
      else if (hadNoResponse(pending)) void checkDelivery(pending);
    }
    sender.sendWaiting();
  }

  async function loadPending(): Promise<void> {
    const userId = currentUserId();
    const entries = await outboxStore.all();
    // another user signed in meanwhile, whose messages are already being loaded
    if (currentUserId() !== userId) return;
    dispatch(chatActions.pendingLoaded(entries.map(fromOutboxEntry)));
    sender.sendWaiting();
  }

  return { start, enqueue, retry, remove };
}

export const outbox = createOutbox();

async function checkDelivery(pending: PendingMessage): Promise<void> {
  if ((await deliveryStatus(pending)) === 'received') await confirmDelivered(pending);
}

/** A time later than that of every message written on this device, so that a clock set back cannot reorder them. */
function nextTimestamp(): number {
  const timestamp = Math.max(Date.now(), (Number(local.get(STORAGE_KEYS.lastMessage)) || 0) + 1);
  local.set(STORAGE_KEYS.lastMessage, String(timestamp));
  return timestamp;
}
