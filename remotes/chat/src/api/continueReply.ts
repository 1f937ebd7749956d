import { api, isApiError, newClientId, session, store } from '@liaozhai/shared/runtime';
import { isUncertain } from '../model/pendingMessage';
import { findMessage, type Message, toMessage, withAnswer } from '../model/thread';
import { chatActions } from '../slice';
import { postContinue } from './calls';
import { changeThread, selectThread } from './chatApi';
import { currentUserId } from './outbox';
import { prices } from './points';
import { threadSyncs } from './threadSync';

/** Keys of continuations whose fate is unknown, so that a second tap is not a second purchase. */
const openKeys = new Map<string, string>();

const { dispatch } = store;

/** Lets the last reply go on; its text flows into the same message. Rejects with ApiError, the price given back. */
export async function continueReply(storyId: string, message: Message): Promise<void> {
  const attempt = `${message.id}:${message.revision}`;
  const clientId = openKeys.get(attempt) ?? newClientId();
  openKeys.set(attempt, clientId);
  const buyer = currentUserId();
  const giveBack = session.balanceShifted(-(prices().resume ?? 0));
  dispatch(chatActions.continuingChanged({ storyId, on: true }));
  try {
    const { conversationId } = message;
    const answer = await postContinue(conversationId, message.id, clientId);
    // what one user was told must not reach the thread of another
    if (currentUserId() !== buyer) return;
    if (answer.balance !== undefined) session.userPatched({ balance: answer.balance });
    dispatch(changeThread(storyId, (thread) => withAnswer(thread, conversationId, [toMessage(answer.message)])));
    threadSyncs.watch(storyId);
    dispatch(api.util.invalidateTags(['Transaction']));
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

/** Whether the server carried out a request whose answer was lost. */
async function hasGoneOn(storyId: string, message: Message): Promise<boolean> {
  await threadSyncs.catchUp(storyId);
  const thread = selectThread(storyId)(store.getState()).data;
  const now = thread && findMessage(thread, message.id);
  if (!now || now.revision === message.revision) return false;
  await session.refresh();
  return true;
}
