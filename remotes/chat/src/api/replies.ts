import type { ContinuedDto } from '@liaozhai/shared/contract';
import { api, isApiError, newClientId, session, store } from '@liaozhai/shared/runtime';
import { isUncertain } from '../model/pendingMessage';
import { findMessage, isRunning, type Message, toMessage, withAnswer } from '../model/thread';
import { chatActions } from '../slice';
import { postCancel, postContinue } from './calls';
import { changeThread, selectThread } from './chatApi';
import { currentUserId } from './outbox';
import { threadSyncs } from './threadSync';

/** Keys of orders whose fate is unknown, so that a second tap is not a second purchase. */
const openKeys = new Map<string, string>();

const { dispatch } = store;

/** Lets the last reply go on; its text flows into the same message. Rejects with ApiError, the price given back. */
export async function continueReply(storyId: string, message: Message, price: number | undefined): Promise<void> {
  await order(storyId, message, price, (clientId) => postContinue(message.conversationId, message.id, clientId));
}

/** Orders a further revision of a message, with its price shown as spent. */
async function order(
  storyId: string,
  message: Message,
  price: number | undefined,
  ask: (clientId: string) => Promise<ContinuedDto>,
): Promise<void> {
  const attempt = `${message.id}:${message.revision}`;
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
