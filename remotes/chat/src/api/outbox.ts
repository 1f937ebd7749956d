import { onCaughtUpNeeded, outboxStore, session, store } from '@liaozhai/shared/runtime';
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
import { dropFromPendingLog, readPendingLog, recoverPending, withDateAfter, writePendingLog } from './pendingLog';

const { dispatch } = store;

/** Sends the user's messages: shown immediately, stored on the device, sent in order, exactly once. */
export function createOutbox() {
  /** Messages that are not stored on the device yet, so the outbox does not list them. */
  const unsavedById = new Map<string, PendingMessage>();
  let isStarted = false;
  /** Resolves when everything in the device's outbox of this user is shown. */
  let loading: Promise<unknown> = Promise.resolve();
  const sender = createSender();

  /** Starts sending what the device's outbox holds; further calls do nothing. */
  function start(): void {
    if (isStarted) return;
    isStarted = true;
    outboxStore.subscribe(() => void loadPending());
    sender.start();
    session.onUserChanged((previousId) => {
      dispatch(chatActions.userLeft());
      sender.reset();
      // a guest's messages pass to the user who signs in; a member's messages pass to nobody
      if (previousId !== null) unsavedById.clear();
      loading = recoverPending(unsavedById).then(loadPending);
    });
    onCaughtUpNeeded(retryUnanswered);
    window.addEventListener('online', retryUnanswered);
    loading = recoverPending().then(loadPending);
  }

  /** Queues a message: shown immediately, stored on the device, sent as soon as possible. */
  async function enqueue(newMessage: PendingMessage): Promise<void> {
    const userId = currentUserId();
    const shownMessage = withNextDate(newMessage);
    const { clientId, storyId } = shownMessage;
    sender.markUntried(clientId);
    unsavedById.set(clientId, shownMessage);
    writePendingLog([...readPendingLog(), shownMessage]);
    dispatch(chatActions.pendingAdded(shownMessage));
    await loading;
    // a member's message is sent only while its author is signed in
    if (userId !== null && currentUserId() !== userId) return;
    const pending = withNextDate(shownMessage);
    unsavedById.set(clientId, pending);
    if (pending.createdAt !== shownMessage.createdAt) dispatch(chatActions.pendingChanged(pending));
    await outboxStore.put(toOutboxEntry(pending));
    unsavedById.delete(clientId);
    dropFromPendingLog(clientId);
    await sender.flush(storyId);
  }

  /** Gives the message a timestamp later than every earlier unsent message. */
  function withNextDate(pending: PendingMessage): PendingMessage {
    const ids = [...unsavedById.keys()];
    const laterIds = unsavedById.has(pending.clientId) ? ids.slice(ids.indexOf(pending.clientId)) : [];
    const { pending: shownMessages } = selectChat(store.getState());
    return withDateAfter(
      shownMessages.filter(({ clientId }) => !laterIds.includes(clientId)),
      pending,
    );
  }

  /**
   * Sends a failed message again under the same key, after the failed messages before it in the same story. Does nothing if the
   * message no longer belongs to the user.
   */
  async function retry({ clientId }: PendingMessage): Promise<void> {
    const pending = findPending(clientId);
    if (pending?.state !== 'failed') return;
    for (const each of messagesToRetry(pending, selectChat(store.getState()).pending)) await storePending(each);
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
    const shownById = new Map(selectChat(store.getState()).pending.map((pending) => [pending.clientId, pending]));
    const storedMessages = entries.map((entry) => {
      const pending = fromOutboxEntry(entry);
      return shownById.get(pending.clientId)?.state === 'sending' ? { ...pending, state: 'sending' as const } : pending;
    });
    const unsavedMessages = [...unsavedById.values()].filter(
      (pending) => !entries.some((entry) => entry.clientId === pending.clientId),
    );
    dispatch(chatActions.pendingLoaded([...storedMessages, ...unsavedMessages]));
    sender.sendWaiting();
  }

  return { start, enqueue, retry, remove };
}

export const outbox = createOutbox();

async function checkDelivery(pending: PendingMessage): Promise<void> {
  if ((await deliveryStatus(pending)) === 'received') await confirmDelivered(pending);
}
