import { api, client, isApiError, request, session, store, toast } from '@liaozhai/shared/runtime';
import { changeConversations, changeThread } from '../api';
import { type Conversation, emptyThread, withoutConversation } from '../model';
import { chatActions } from '../slice';
import { texts } from '../texts';
import { conversationUrl } from './calls';

const UNDO_SECONDS = 6;

interface Pending {
  conversation: Conversation;
  timer: ReturnType<typeof setTimeout>;
  dismissToast: () => void;
}

/** Conversations that are hidden and not yet deleted, by id. */
const pending = new Map<string, Pending>();
const { dispatch } = store;

/** Hides a conversation at once and deletes it when the time to undo is over, or when the page goes. */
export function deleteConversation(conversation: Conversation): void {
  const { id, title } = conversation;
  if (pending.has(id)) return;
  dispatch(chatActions.conversationHidden(id));
  const action = { label: texts.list.undo, run: () => undo(id) };
  const dismissToast = toast(texts.list.removed(title), { action, durationMs: UNDO_SECONDS * 1000 });
  const timer = setTimeout(() => void carryOut(id), UNDO_SECONDS * 1000);
  pending.set(id, { conversation, timer, dismissToast });
}

function take(id: string): Conversation | undefined {
  const found = pending.get(id);
  if (!found) return undefined;
  pending.delete(id);
  clearTimeout(found.timer);
  found.dismissToast();
  return found.conversation;
}

function undo(id: string): void {
  if (take(id)) dispatch(chatActions.conversationShown(id));
}

async function carryOut(id: string): Promise<void> {
  const conversation = take(id);
  if (!conversation) return;
  const { storyId } = conversation;
  try {
    await removeFromServer(id);
    dispatch(api.util.invalidateTags(['Transaction', { type: 'Story', id: storyId }]));
    dispatch(changeConversations((pages) => withoutConversation(pages, id)));
    dispatch(changeThread(storyId, (thread) => (thread.conversationId === id ? emptyThread(storyId) : thread)));
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    // a 401 is answered by the sign-in popup
    if (cause.kind !== 'unauthenticated') toast(texts.list.removeFailed, { kind: 'error' });
  } finally {
    dispatch(chatActions.conversationShown(id));
  }
}

/** Gone already is as good as deleted. */
async function removeFromServer(id: string): Promise<void> {
  await request({ url: conversationUrl(id), method: 'DELETE' }).catch((cause: unknown) => {
    if (!isApiError(cause) || cause.kind !== 'notFound') throw cause;
  });
}

/** The client's transport ends with its page, and only a bare fetch can be told to go on. */
function deleteOutlivingPage(id: string): Promise<Response> {
  const token = document.cookie.match(/(?:^|; )XSRF-TOKEN=([^;]*)/)?.[1] ?? '';
  return fetch(new URL(client.getUri({ url: conversationUrl(id) }), location.href), {
    method: 'DELETE',
    keepalive: true,
    headers: {
      Accept: 'application/json',
      'X-Requested-With': 'XMLHttpRequest',
      'X-XSRF-TOKEN': decodeURIComponent(token),
    },
  });
}

/** A page that goes takes ordinary requests with it; one that is kept alive outlives it. */
function flush(): void {
  for (const id of [...pending.keys()]) {
    take(id);
    // nobody is left to be told of a failure, and what was not deleted is simply there again
    void deleteOutlivingPage(id).catch(() => null);
    dispatch(changeConversations((pages) => withoutConversation(pages, id)));
    dispatch(chatActions.conversationShown(id));
  }
}

window.addEventListener('pagehide', flush);
session.onUserChanged(() => {
  for (const id of [...pending.keys()]) take(id);
});
