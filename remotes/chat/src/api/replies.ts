import type { ContinuedDto, SentDto } from '@liaozhai/shared/contract';
import { api, isApiError, newClientId, session, store } from '@liaozhai/shared/runtime';
import { toConversation, withConversation } from '../model/conversation';
import { isUncertain } from '../model/pendingMessage';
import {
  cutAfter,
  type EditedLine,
  findMessage,
  isRunning,
  type Message,
  placedIn,
  restarted,
  toMessage,
  withAnswer,
} from '../model/thread';
import { chatActions, currentUserId } from '../slice';
import { postCancel, postRestart, postVariant } from './calls';
import { changeThread, loadedThread, selectThread } from './chatApi';
import { changeConversations } from './listApi';
import { type Purchase, postContinue, postEdit, postRegenerate } from './purchases';
import { threadSyncs } from './threadSync';

/** Keys of orders whose outcome is unknown, so that a second tap does not buy twice. */
const openKeys = new Map<string, string>();

const { dispatch } = store;

/** Continues the last reply; the text is appended to the same message. Rejects with ApiError, the price refunded. */
export async function continueReply(storyId: string, message: Message, price: number | undefined): Promise<void> {
  await order('continue', storyId, message, price, (purchase) =>
    postContinue(purchase, message.conversationId, message.id),
  );
}

/** Requests another variant of the last reply; the previous text stays available. Rejects with ApiError, the price refunded. */
export async function regenerateReply(storyId: string, message: Message, price: number | undefined): Promise<void> {
  await order('regenerate', storyId, message, price, (purchase) => postRegenerate(purchase, message.id));
}

/**
 * Replaces one of the user's lines and requests a new reply. Everything after it up to `lastSeq` is deleted. Rejects with
 * ApiError, the price refunded.
 */
export async function editMessage(
  storyId: string,
  line: EditedLine,
  body: string,
  lastSeq: number,
  price: number | undefined,
): Promise<void> {
  const what = `edit:${lastSeq}:${body}`;
  await order(what, storyId, line, price, (purchase) => postEdit(purchase, line, body, lastSeq));
}

type ReplyTarget = Pick<Message, 'id' | 'conversationId' | 'revision'>;

type Answer = ContinuedDto & Partial<Pick<SentDto, 'reply' | 'conversation'>>;

/** Shows another variant of the last reply. Rejects with ApiError. */
export async function chooseVariant(storyId: string, message: Message, variant: number): Promise<void> {
  const reader = currentUserId();
  dispatch(chatActions.continuingChanged({ storyId, on: true }));
  try {
    if (!(await isCurrent(storyId, message))) return;
    const answer = await postVariant(message.id, variant);
    if (currentUserId() === reader) takeAnswer(storyId, message, answer);
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    const now = await lookAt(storyId, message);
    if (now?.variant !== variant && currentUserId() === reader) throw cause;
  } finally {
    dispatch(chatActions.continuingChanged({ storyId, on: false }));
  }
}

/** Whether a message is still in the revision that was shown, which may have been the device's copy. Rejects with ApiError. */
async function isCurrent(storyId: string, { id, revision }: ReplyTarget): Promise<boolean> {
  const isKnown = selectThread(storyId)(store.getState()).data !== undefined;
  const thread = await loadedThread(storyId);
  return isKnown || (thread !== undefined && findMessage(thread, id)?.revision === revision);
}

/** Buys a further revision of a message and deducts its price optimistically. Repeated orders of the same `what` share a key. */
async function order(
  what: string,
  storyId: string,
  message: ReplyTarget,
  price: number | undefined,
  ask: (purchase: Purchase) => Promise<Answer>,
): Promise<void> {
  const attempt = `${what}:${message.id}:${message.revision}`;
  const clientId = openKeys.get(attempt) ?? newClientId();
  openKeys.set(attempt, clientId);
  const buyer = currentUserId();
  let giveBack = () => {};
  dispatch(chatActions.continuingChanged({ storyId, on: true }));
  try {
    if (!(await isCurrent(storyId, message))) return;
    giveBack = session.balanceShifted(-(price ?? 0));
    const answer = await ask({ storyId, clientId, price });
    // another user may have signed in meanwhile: this response must not change their thread
    if (currentUserId() !== buyer) return;
    takeAnswer(storyId, message, answer);
    openKeys.delete(attempt);
  } catch (cause) {
    giveBack();
    if (!isApiError(cause) || !isUncertain(cause)) openKeys.delete(attempt);
    else if (await hasGoneOn(storyId, message)) return;
    throw cause;
  } finally {
    dispatch(chatActions.continuingChanged({ storyId, on: false }));
  }
}

function takeAnswer(storyId: string, { conversationId }: ReplyTarget, answer: Answer): void {
  const { reply, conversation, balance } = answer;
  if (balance !== undefined) session.userPatched({ balance });
  const message = toMessage(answer.message);
  dispatch(
    changeThread(storyId, (thread) => {
      if (!reply) return withAnswer(thread, conversationId, [message]);
      const { seq } = placedIn(thread.messages, message);
      return withAnswer(cutAfter(thread, seq, message.version), conversationId, [message, toMessage(reply)]);
    }),
  );
  if (conversation) dispatch(changeConversations((pages) => withConversation(pages, toConversation(conversation))));
  threadSyncs.watch(storyId);
  dispatch(api.util.invalidateTags(['Transaction']));
}

/** Whether the server carried out a request whose response was lost. */
async function hasGoneOn(storyId: string, message: ReplyTarget): Promise<boolean> {
  const now = await lookAt(storyId, message);
  if (!now || now.revision === message.revision) return false;
  await session.refresh();
  return true;
}

/** Fetches the current state of a message; returns the known state if the server cannot be reached. */
async function lookAt(storyId: string, { id }: ReplyTarget): Promise<Message | undefined> {
  await threadSyncs.catchUp(storyId);
  const thread = selectThread(storyId)(store.getState()).data;
  return thread && findMessage(thread, id);
}

/** Stops a running reply and keeps the text so far. Does nothing if it has ended meanwhile. Rejects with ApiError. */
export async function stopReply(storyId: string, message: Message): Promise<void> {
  const reader = currentUserId();
  try {
    const answer = await postCancel(message.id, message.revision);
    if (currentUserId() === reader) takeAnswer(storyId, message, answer);
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    const now = await lookAt(storyId, message);
    const isWritten = now !== undefined && isRunning(now) && now.revision === message.revision;
    if (isWritten && currentUserId() === reader) throw cause;
  }
}

/** Deletes all messages of a conversation, so that its story starts over. Rejects with ApiError. */
export async function restartConversation(storyId: string, conversationId: string): Promise<void> {
  const attempt = `restart:${conversationId}`;
  const clientId = openKeys.get(attempt) ?? newClientId();
  openKeys.set(attempt, clientId);
  const reader = currentUserId();
  try {
    const conversation = toConversation(await postRestart(conversationId, clientId));
    openKeys.delete(attempt);
    if (currentUserId() !== reader) return;
    dispatch(changeThread(storyId, (thread) => restarted(thread, conversation.version)));
    dispatch(changeConversations((pages) => withConversation(pages, conversation)));
    dispatch(api.util.invalidateTags(['Transaction']));
    await threadSyncs.catchUp(storyId);
  } catch (cause) {
    if (!isApiError(cause) || !isUncertain(cause)) openKeys.delete(attempt);
    throw cause;
  }
}
