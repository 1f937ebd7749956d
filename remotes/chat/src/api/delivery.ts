import type { SentDto } from '@liaozhai/shared/contract';
import { type ApiError, api, blockReload, isApiError, outboxStore, session, store } from '@liaozhai/shared/runtime';
import { toConversation, withConversation } from '../model/conversation';
import { type PendingMessage, toOutboxEntry } from '../model/pendingMessage';
import { toMessage, withAnswer, withNewest } from '../model/thread';
import { chatActions, currentUserId, selectChat } from '../slice';
import { askLatest } from './calls';
import { changeThread, chatApi, selectThread } from './chatApi';
import { changeConversations } from './listApi';
import { postMessage } from './purchases';
import { threadSyncs } from './threadSync';

const { dispatch } = store;

export const shownPending = (clientId: string): PendingMessage | undefined =>
  selectChat(store.getState()).pending.find((pending) => pending.clientId === clientId);

/** Changes a message on the screen and on the device. */
export async function keepPending(pending: PendingMessage): Promise<void> {
  dispatch(chatActions.pendingChanged(pending));
  await outboxStore.put(toOutboxEntry(pending));
}

const RECENT = 20;

/** Sends a message with its price shown as spent, and merges the answer. Resolves to why it failed, the price given back. */
export async function sendPending(pending: PendingMessage): Promise<ApiError | undefined> {
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
export async function deliveryStatus(pending: PendingMessage): Promise<'received' | 'absent' | 'unknown'> {
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
export async function confirmDelivered(pending: PendingMessage): Promise<void> {
  const owner = currentUserId();
  await threadLoaded(pending.storyId);
  if (currentUserId() !== owner) return;
  forgetWhatChanged(pending);
  await outboxStore.remove(pending.clientId);
  await session.refresh();
}
