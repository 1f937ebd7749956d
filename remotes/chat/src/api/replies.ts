import type { ContinuedDto } from '@liaozhai/shared/contract';
import { api, isApiError, newClientId, session, store } from '@liaozhai/shared/runtime';
import { isUncertain } from '../model/pendingMessage';
import { findMessage, isRunning, type Message, toMessage, withAnswer } from '../model/thread';
import { chatActions } from '../slice';
import { postCancel, postContinue, postRegenerate, postVariant } from './calls';
import { changeThread, selectThread } from './chatApi';
import { currentUserId } from './outbox';
import { threadSyncs } from './threadSync';

/** Keys of orders whose fate is unknown, so that a second tap is not a second purchase. */
const openKeys = new Map<string, string>();

const { dispatch } = store;

/** Lets the last reply go on; its text flows into the same message. Rejects with ApiError, the price given back. */
export async function continueReply(storyId: string, message: Message, price: number | undefined): Promise<void> {
  await order('continue', storyId, message, price, (clientId) =>
    postContinue(message.conversationId, message.id, clientId),
  );
}

/** Has the last reply told another way; its text so far can be had again. Rejects with ApiError, the price given back. */
export async function regenerateReply(storyId: string, message: Message, price: number | undefined): Promise<void> {
  await order('regenerate', storyId, message, price, (clientId) => postRegenerate(message.id, clientId));
}

/** Lets the last reply show another of its texts. Rejects with ApiError. */
export async function chooseVariant(storyId: string, message: Message, variant: number): Promise<void> {
  const reader = currentUserId();
  dispatch(chatActions.continuingChanged({ storyId, on: true }));
  try {
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

/** Orders a further revision of a message, with its price shown as spent; `what` is asked for is bought once. */
async function order(
  what: string,
  storyId: string,
  message: Message,
  price: number | undefined,
  ask: (clientId: string) => Promise<ContinuedDto>,
): Promise<void> {
  const attempt = `${what}:${message.id}:${message.revision}`;
  const clientId = openKeys.get(attempt) ?? newClientId();
  openKeys.set(attempt, clientId);
  const buyer = currentUserId();
  const giveBack = session.balanceShifted(-(price ?? 0));
  dispatch(chatActions.continuingChanged({ storyId, on: true }));
  try {
    const answer = await ask(clientId);
    // what one user was told must not reach the thread of another
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

function takeAnswer(storyId: string, { conversationId }: Message, answer: ContinuedDto): void {
  if (answer.balance !== undefined) session.userPatched({ balance: answer.balance });
  dispatch(changeThread(storyId, (thread) => withAnswer(thread, conversationId, [toMessage(answer.message)])));
  threadSyncs.watch(storyId);
  dispatch(api.util.invalidateTags(['Transaction']));
}

/** Whether the server carried out a request whose answer was lost. */
async function hasGoneOn(storyId: string, message: Message): Promise<boolean> {
  const now = await lookAt(storyId, message);
  if (!now || now.revision === message.revision) return false;
  await session.refresh();
  return true;
}

/** The message as the server has it now; as it is known where the server cannot be asked. */
async function lookAt(storyId: string, { id }: Message): Promise<Message | undefined> {
  await threadSyncs.catchUp(storyId);
  const thread = selectThread(storyId)(store.getState()).data;
  return thread && findMessage(thread, id);
}

/** Stops a reply that is being written, unless it has ended meanwhile; what has come of it stays. Rejects with ApiError. */
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
