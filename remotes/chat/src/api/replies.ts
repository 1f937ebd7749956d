import type { ContinuedDto, SentDto } from '@liaozhai/shared/contract';
import {
  api,
  continuedSchema,
  conversationSchema,
  endpoints,
  isApiError,
  newClientId,
  request,
  sentSchema,
  session,
  singleSchema,
  store,
} from '@liaozhai/shared/runtime';
import { believableVersion, merging, withConversation } from '../model/conversation';
import { type EditedLine, isRunning, type Message } from '../model/message';
import { isUncertain } from '../model/pendingMessage';
import { cutAfter, findMessage, highestVersion, withResponse, withRestart, withStatedVersion } from '../model/thread';
import { chatActions } from '../slice';
import { cachedThread, changeThread, loadThread } from './chatApi';
import { changeConversations } from './listApi';
import { type Purchase, sendPurchase, withLine } from './purchases';
import { threadSyncs } from './threadSync';

/** Keys of orders whose outcome is unknown, so that a second tap does not buy twice. */
const openKeys = new Map<string, string>();

const { dispatch } = store;

const replySchema = singleSchema(continuedSchema);

/** Continues the last reply; the text is appended to the same message. Rejects with ApiError, the price refunded. */
export const continueReply = (storyId: string, message: Message, price: number | undefined): Promise<void> =>
  orderRevision(storyId, message, price, {
    action: 'continue',
    async send(purchase) {
      const body = { conversation_id: message.conversationId, message_id: message.id };
      const response = await sendPurchase(purchase, { url: endpoints.continue, body, schema: replySchema });
      // what is not named is the text that is being continued
      return { ...response, message: { ...response.message, body: response.message.body ?? message.body } };
    },
    isResult: ({ variants }) => variants === message.variants,
  });

/** Requests another variant of the last reply; the previous text stays available. Rejects with ApiError, the price refunded. */
export const regenerateReply = (storyId: string, message: Message, price: number | undefined): Promise<void> =>
  orderRevision(storyId, message, price, {
    action: 'regenerate',
    send: (purchase) =>
      sendPurchase(purchase, { url: endpoints.regenerate(message.id), body: {}, schema: replySchema }),
    isResult: ({ variants }) => variants > message.variants,
  });

/**
 * Replaces one of the user's lines and requests a new reply. Everything after it up to `lastSeq` is deleted. Rejects with
 * ApiError, the price refunded.
 */
export const editMessage = (
  storyId: string,
  line: EditedLine,
  body: string,
  lastSeq: number,
  price: number | undefined,
): Promise<void> =>
  orderRevision(storyId, line, price, {
    action: `edit:${lastSeq}:${body}`,
    async send(purchase) {
      // refused if the conversation has continued, or the line has been edited, meanwhile
      const content = { body, revision: line.revision, last_seq: lastSeq };
      const options = { url: endpoints.editMessage(line.id), body: content, schema: singleSchema(sentSchema) };
      return withLine(await sendPurchase(purchase, options), body);
    },
    isResult: (current) => current.body === body,
  });

type ReplyTarget = Pick<Message, 'id' | 'conversationId' | 'seq' | 'revision'>;

type OrderResponse = ContinuedDto & Partial<Pick<SentDto, 'reply' | 'conversation'>>;

const postAction = (url: string, body: object): Promise<ContinuedDto> =>
  request({ url, method: 'POST', body, schema: replySchema });

/** Shows another variant of the last reply. Rejects with ApiError. */
export const chooseVariant = (storyId: string, message: Message, variant: number): Promise<void> =>
  whileChanging(storyId, message, async () => {
    try {
      const response = await postAction(endpoints.variant(message.id), { variant });
      const { body, variant: shownVariant } = response.message;
      // its words are still to be read
      if (body === undefined || shownVariant !== variant) await fetchMessage(storyId, message);
      else applyResponse(storyId, message, response);
    } catch (cause) {
      if (!isApiError(cause)) throw cause;
      const current = await fetchMessage(storyId, message);
      if (current?.variant !== variant) throw cause;
    }
  });

/** Runs an order if its message is still in the revision that was shown, which may have been the device's copy. Rejects with ApiError. */
async function whileChanging(
  storyId: string,
  { id, revision }: ReplyTarget,
  order: () => Promise<void>,
): Promise<void> {
  dispatch(chatActions.continuingChanged({ storyId, on: true }));
  try {
    const isLoaded = cachedThread(storyId) !== undefined;
    const thread = await loadThread(storyId);
    if (isLoaded || (thread && findMessage(thread, id)?.revision === revision)) await order();
  } finally {
    dispatch(chatActions.continuingChanged({ storyId, on: false }));
  }
}

interface RevisionOrder {
  /** Repeated orders of the same action share a key. */
  action: string;
  send: (purchase: Purchase) => Promise<OrderResponse>;
  /** Whether a later revision can be the result of this order. */
  isResult: (current: Message) => boolean;
}

/** Buys a further revision of a message and deducts its price optimistically. */
const orderRevision = (
  storyId: string,
  message: ReplyTarget,
  price: number | undefined,
  { action, send, isResult }: RevisionOrder,
): Promise<void> =>
  whileChanging(storyId, message, async () => {
    const attemptKey = `${action}:${message.id}:${message.revision}`;
    const clientId = openKeys.get(attemptKey) ?? newClientId();
    openKeys.set(attemptKey, clientId);
    const refund = session.balanceShifted(-(price ?? 0));
    try {
      const response = await send({ storyId, clientId, price });
      applyResponse(storyId, message, response);
      openKeys.delete(attemptKey);
    } catch (cause) {
      refund();
      const isOpen = isApiError(cause) && isUncertain(cause);
      if (!isOpen) openKeys.delete(attemptKey);
      // the server may have carried out a request whose response was lost
      const current = isOpen ? await fetchMessage(storyId, message) : undefined;
      if (!current || current.revision === message.revision || !isResult(current)) throw cause;
      await session.refresh();
    }
  });

function applyResponse(storyId: string, { id, conversationId, seq }: ReplyTarget, response: OrderResponse): void {
  const { conversation, balance } = response;
  if (balance !== undefined) session.userPatched({ balance });
  changeThread(storyId, (thread) => {
    // the user has opened another run since
    if (thread.conversationId !== conversationId) return thread;
    const place = findMessage(thread, id)?.seq ?? seq;
    const answer = { ...response, message: { ...response.message, seq: place } };
    if (!response.reply) return withResponse(thread, conversationId, answer);
    const version = believableVersion(highestVersion(thread), response.message.version) ?? highestVersion(thread);
    return withResponse(cutAfter(thread, place, version), conversationId, answer);
  });
  if (conversation) changeConversations(merging(withConversation, conversation));
  threadSyncs.of(storyId)?.watch();
  dispatch(api.util.invalidateTags(['Transaction']));
}

/** Fetches the current state of a message; returns the known state if the server cannot be reached. */
async function fetchMessage(storyId: string, { id }: ReplyTarget): Promise<Message | undefined> {
  await threadSyncs.of(storyId)?.catchUp();
  const thread = cachedThread(storyId);
  return thread && findMessage(thread, id);
}

/** Stops a running reply and keeps the text so far. Does nothing if it has ended meanwhile. Rejects with ApiError. */
export async function stopReply(storyId: string, message: Message): Promise<void> {
  try {
    // only the given revision, since the request may reach the server after the next one has begun
    const response = await postAction(endpoints.cancelReply(message.id), { revision: message.revision });
    applyResponse(storyId, message, response);
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    const current = await fetchMessage(storyId, message);
    if (current && isRunning(current) && current.revision === message.revision) throw cause;
  }
}

/** Deletes all messages of a conversation, so that its story starts over. Rejects with ApiError. */
export async function restartConversation(storyId: string, conversationId: string): Promise<void> {
  const attemptKey = `restart:${conversationId}`;
  const clientId = openKeys.get(attemptKey) ?? newClientId();
  openKeys.set(attemptKey, clientId);
  try {
    const conversation = await request({
      url: endpoints.restartConversation(conversationId),
      method: 'POST',
      idempotencyKey: clientId,
      body: { client_id: clientId },
      schema: singleSchema(conversationSchema),
    });
    openKeys.delete(attemptKey);
    changeThread(storyId, (thread) => {
      if (thread.conversationId !== conversationId) return thread;
      const version = believableVersion(highestVersion(thread), conversation.version) ?? highestVersion(thread);
      return withStatedVersion(withRestart(thread, version), version);
    });
    changeConversations(merging(withConversation, conversation));
    dispatch(api.util.invalidateTags(['Transaction']));
    await threadSyncs.of(storyId)?.catchUp();
  } catch (cause) {
    const isOpen = isApiError(cause) && isUncertain(cause);
    if (isOpen) await threadSyncs.of(storyId)?.catchUp();
    // the response was lost or empty, but the messages are gone
    const thread = cachedThread(storyId);
    const isDone = isOpen && thread?.conversationId === conversationId && thread.messages.length === 0;
    if (!isOpen || isDone) openKeys.delete(attemptKey);
    if (!isDone) throw cause;
    dispatch(api.util.invalidateTags(['Transaction']));
  }
}
