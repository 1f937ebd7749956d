import type { SentDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  api,
  blockReload,
  endpoints,
  isApiError,
  outboxStore,
  sentSchema,
  session,
  singleSchema,
  store,
} from '@liaozhai/shared/runtime';
import { merging, withConversation } from '../model/conversation';
import { type PendingMessage, toOutboxEntry } from '../model/pendingMessage';
import { withNewest, withResponse } from '../model/thread';
import { chatActions, currentUserId, selectChat } from '../slice';
import { cachedThread, changeThread, chatApi, loadThread } from './chatApi';
import { expectApiError } from './failures';
import { changeConversations } from './listApi';
import { sendPurchase, withLine } from './purchases';
import { fetchLatest, threadSyncs, unusableResponse } from './threadSync';

const { dispatch } = store;

export const findPending = (clientId: string): PendingMessage | undefined =>
  selectChat(store.getState()).pending.find((pending) => pending.clientId === clientId);

/** Changes a message in the state and in the device's outbox. Resolves to false if it has been withdrawn, perhaps in another tab. */
export async function storePending(pending: PendingMessage): Promise<boolean> {
  dispatch(chatActions.pendingChanged(pending));
  return outboxStore.replace(toOutboxEntry(pending));
}

const RECENT_MESSAGES = 20;

/** Sends a message, deducts its price optimistically and merges the response. Resolves to the failure, with the price refunded. */
export async function sendPending(pending: PendingMessage): Promise<ApiError | undefined> {
  const senderId = currentUserId();
  const price = chatApi.endpoints.chatGetStory.select(pending.storyId)(store.getState()).data?.pricePerMessage ?? 0;
  const refund = session.balanceShifted(-price);
  const release = blockReload('a message is on its way');
  try {
    const response = await postMessage(pending);
    if (currentUserId() === senderId) await applySent(pending, response);
    return undefined;
  } catch (cause) {
    refund();
    if (isApiError(cause)) return cause;
    throw cause;
  } finally {
    release();
  }
}

/** The same message always has the same key and body, so that it is carried out once. */
async function postMessage(pending: PendingMessage): Promise<SentDto> {
  const { storyId, conversationId, body, suggestionId, clientId, price } = pending;
  const target = conversationId ? { conversation_id: conversationId } : { story_id: storyId };
  const content = { ...target, body, ...(suggestionId && { suggestion_id: suggestionId }) };
  const options = { url: endpoints.messages, body: content, schema: singleSchema(sentSchema) };
  return withLine(await sendPurchase({ storyId, clientId, price }, options), body);
}

async function applySent(pending: PendingMessage, { message, reply, conversation, balance }: SentDto): Promise<void> {
  const conversationId = conversation?.id ?? message.conversation_id ?? pending.conversationId;
  // merging a response about another conversation would replace the thread, and the message may be lost
  if (pending.conversationId && conversationId !== pending.conversationId) throw unusableResponse;
  if (balance !== undefined) session.userPatched({ balance });
  const userId = currentUserId();
  await ensureThreadLoaded(pending.storyId);
  if (currentUserId() !== userId) return;
  if (conversationId) {
    changeThread(pending.storyId, (thread) => withResponse(thread, conversationId, { message, reply }));
  }
  // a response without its conversation or reply does not show what has begun
  if (!conversationId || !reply) await threadSyncs.of(pending.storyId)?.catchUp();
  threadSyncs.of(pending.storyId)?.watch();
  invalidateChangedTags(pending);
  if (conversation) changeConversations(merging(withConversation, conversation));
  await outboxStore.remove(pending.clientId);
  // the response may be ahead of changes that have not arrived yet, or contradict them
  const version = Math.max(message.version ?? 0, reply?.version ?? 0);
  if (version > (cachedThread(pending.storyId)?.version ?? version)) await threadSyncs.of(pending.storyId)?.catchUp();
}

/** A message costs points, and the first one creates its story's conversation. */
function invalidateChangedTags({ conversationId, storyId }: PendingMessage): void {
  const storyTag = { type: 'Story' as const, id: storyId };
  dispatch(api.util.invalidateTags(conversationId ? ['Transaction'] : ['Transaction', storyTag]));
}

/** Loads the thread, so that a sent message does not disappear from the screen before the thread can show it. */
const ensureThreadLoaded = (storyId: string) => loadThread(storyId).catch(expectApiError);

/** Checks whether the server has a message; `unknown` if it cannot be reached. */
export async function deliveryStatus(pending: PendingMessage): Promise<'received' | 'absent' | 'unknown'> {
  const target = pending.conversationId ? { conversation_id: pending.conversationId } : { story_id: pending.storyId };
  try {
    const page = await fetchLatest({ ...target, limit: RECENT_MESSAGES });
    if (!page.messages.some((message) => message.clientId === pending.clientId)) return 'absent';
    changeThread(pending.storyId, (thread) => withNewest(thread, page));
    threadSyncs.of(pending.storyId)?.watch();
    return 'received';
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    return cause.kind === 'notFound' ? 'absent' : 'unknown';
  }
}

/** Removes a message from the outbox that the server turned out to have. The balance is fetched again. */
export async function confirmDelivered(pending: PendingMessage): Promise<void> {
  const userId = currentUserId();
  await ensureThreadLoaded(pending.storyId);
  if (currentUserId() !== userId) return;
  invalidateChangedTags(pending);
  await outboxStore.remove(pending.clientId);
  await session.refresh();
}
