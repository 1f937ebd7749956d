import { failureText } from '@liaozhai/shared/format';
import {
  type ApiError,
  conversationSchema,
  endpoints,
  isApiError,
  request,
  singleSchema,
  store,
  toast,
} from '@liaozhai/shared/runtime';
import { type Conversation, toConversation, withMarks } from '../model/conversation';
import { type Thread, unreadVersion } from '../model/thread';
import { chatActions, selectChat } from '../slice';
import { texts } from '../texts';
import { changeConversations } from './chatApi';
import { currentUserId } from './outbox';

const { dispatch } = store;

/** What a reader does to a conversation without saying anything. Rejects with ApiError. */
async function change(id: string, body: { read_version: number } | { pinned: boolean }): Promise<void> {
  const owner = currentUserId();
  const schema = singleSchema(conversationSchema);
  const marked = toConversation(await request({ url: endpoints.conversation(id), method: 'PUT', body, schema }));
  if (currentUserId() === owner) dispatch(changeConversations((pages) => withMarks(pages, marked)));
}

const expectApiError = (cause: unknown): ApiError => {
  if (!isApiError(cause)) throw cause;
  return cause;
};

/** Tells the other devices that the thread's last reply has been seen, once for each. */
export function markAsRead(thread: Thread): void {
  const { conversationId: id } = thread;
  const version = unreadVersion(thread);
  if (id === null || version === undefined) return;
  const before = selectChat(store.getState()).read[id] ?? 0;
  if (before >= version) return;
  dispatch(chatActions.conversationRead({ id, version }));
  change(id, { read_version: version }).catch((cause: unknown) => {
    expectApiError(cause);
    // nobody asked for it; the next look at the chat tries again
    dispatch(chatActions.conversationRead({ id, version: before }));
  });
}

/** Puts a conversation first, or back into its place; shown at once, and taken back with a word where it fails. */
export async function pin(conversation: Conversation, pinned: boolean): Promise<void> {
  const { id } = conversation;
  const put = (pinnedAt: string) =>
    dispatch(changeConversations((pages) => withMarks(pages, { ...conversation, pinnedAt })));
  put(pinned ? new Date().toISOString() : '');
  try {
    await change(id, { pinned });
  } catch (cause) {
    const problem = failureText(expectApiError(cause), texts.list.pinFailed);
    put(conversation.pinnedAt);
    if (problem) toast(problem, { kind: 'error' });
  }
}
