import type { SentDto } from '@liaozhai/shared/contract';
import { api, holdReload, isApiError, outboxStore, session, store } from '@liaozhai/shared/runtime';
import { changeConversations, changeThread, chatApi, selectThread } from '../api';
import { type Line, toConversation, toMessage, withAnswer, withConversation, withNewest } from '../model';
import { askLatest, postMessage } from './calls';
import { catchUp, watchThread } from './threads';

const RECENT = 20;

const { dispatch } = store;

export const currentUserId = (): string | null => {
  const now = session.current();
  return now.status === 'member' ? now.user.id : null;
};

/** Sends a line with its price shown as spent, and merges the answer. Rejects with ApiError, the price given back. */
export async function sendLine(line: Line): Promise<void> {
  const sender = currentUserId();
  const price = chatApi.endpoints.chatGetStory.select(line.storyId)(store.getState()).data?.pricePerMessage ?? 0;
  const giveBack = session.balanceShifted(-price);
  const release = holdReload('a message is on its way');
  try {
    const sent = await postMessage(line);
    if (currentUserId() === sender) await takeAnswer(line, sent);
  } catch (cause) {
    giveBack();
    throw cause;
  } finally {
    release();
  }
}

async function takeAnswer(line: Line, { message, reply, conversation, balance }: SentDto): Promise<void> {
  const conversationId = String(conversation?.id ?? message.conversation_id);
  if (balance !== undefined) session.userPatched({ balance });
  const owner = currentUserId();
  await threadLoaded(line.storyId);
  if (currentUserId() !== owner) return;
  const messages = [message, ...(reply ? [reply] : [])].map(toMessage);
  dispatch(changeThread(line.storyId, (thread) => withAnswer(thread, conversationId, messages)));
  watchThread(line.storyId);
  forgetWhatChanged(line);
  if (conversation) dispatch(changeConversations((pages) => withConversation(pages, toConversation(conversation))));
  await outboxStore.remove(line.clientId);
  // The answer may be ahead of changes that have not been heard of.
  if (selectThread(line.storyId)(store.getState()).data?.ahead.length) await catchUp(line.storyId);
}

/** A line costs points, and the first one gives its story a conversation. */
function forgetWhatChanged({ conversationId, storyId }: Line): void {
  const story = { type: 'Story' as const, id: storyId };
  dispatch(api.util.invalidateTags(conversationId ? ['Transaction'] : ['Transaction', story]));
}

/** A line must not leave the screen before its thread is there to show it. */
async function threadLoaded(storyId: string): Promise<void> {
  if (selectThread(storyId)(store.getState()).data) return;
  await dispatch(chatApi.endpoints.chatGetThread.initiate(storyId, { subscribe: false }));
}

/** What the server knows of a line: it has it, it does not, or it cannot be asked. */
export async function fateOf(line: Line): Promise<'received' | 'absent' | 'unknown'> {
  const where = line.conversationId ? { conversation_id: line.conversationId } : { story_id: line.storyId };
  const asker = currentUserId();
  try {
    const page = await askLatest({ ...where, limit: RECENT });
    // what one user was told must not reach the thread of another
    if (currentUserId() !== asker) return 'unknown';
    if (!page.messages.some((message) => message.clientId === line.clientId)) return 'absent';
    dispatch(changeThread(line.storyId, (thread) => withNewest(thread, page)));
    watchThread(line.storyId);
    return 'received';
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    return cause.kind === 'notFound' ? 'absent' : 'unknown';
  }
}

/** Clears away a line that the server turned out to have; what it cost is read from the server. */
export async function settleLine(line: Line): Promise<void> {
  const owner = currentUserId();
  await threadLoaded(line.storyId);
  if (currentUserId() !== owner) return;
  forgetWhatChanged(line);
  await outboxStore.remove(line.clientId);
  await session.refresh();
}
