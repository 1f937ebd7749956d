import { api, apiUrl, endpoints, request, session, store, toast } from '@liaozhai/shared/runtime';
import { listenTo } from '@liaozhai/shared/ui';
import type { Conversation } from '../model/conversation';
import { chatActions } from '../slice';
import { texts } from '../texts';
import { toastFailure } from './failures';
import { dropConversation } from './listApi';

const UNDO_SECONDS = 6;
const { dispatch } = store;

/** Deletions that can be undone for a while. They are carried out when that time is over, on unload and before sign-out. */
function createDeletions() {
  const pending = new Map<string, Conversation>();
  /** Requests without a response yet, by story. */
  const runningRequests = new Map<string, Promise<void>>();
  let dismissToast = () => {};

  /** Hides a conversation immediately and deletes it when it can no longer be undone. */
  function remove(conversation: Conversation): void {
    const { id } = conversation;
    if (pending.has(id)) return;
    pending.set(id, conversation);
    dispatch(chatActions.conversationHidden(id));
    offerUndo();
  }

  /** Shows one toast for all pending deletions, since toasts queue. Each deletion restarts its time. */
  function offerUndo(): void {
    dismissToast();
    const [first, ...others] = pending.values();
    if (!first) return;
    const text = others.length === 0 ? texts.list.removed(first.title) : texts.list.removedSeveral(pending.size);
    const action = { label: texts.list.undo, run: undo };
    const onOver = () => void executeAll();
    dismissToast = toast(text, { action, durationMs: UNDO_SECONDS * 1000, isFirst: true, onOver });
  }

  /** Returns all pending deletions and removes them from the queue, so that they can no longer be undone. */
  function drainPending(): Conversation[] {
    const drained = [...pending.values()];
    pending.clear();
    offerUndo();
    return drained;
  }

  function undo(): void {
    for (const { id } of drainPending()) dispatch(chatActions.conversationShown(id));
  }

  const executeAll = () => Promise.all(drainPending().map(execute));

  const pendingOf = (storyId: string) =>
    [...pending.values()].filter((conversation) => conversation.storyId === storyId);

  /** Whether a story's conversation is shown as deleted while the server may still have it. */
  const isDeleting = (storyId: string): boolean => pendingOf(storyId).length > 0 || runningRequests.has(storyId);

  /** Carries out a story's pending deletions, so that no message is sent into a conversation that is about to be deleted. */
  async function settle(storyId: string): Promise<void> {
    const storyDeletions = pendingOf(storyId);
    for (const { id } of storyDeletions) pending.delete(id);
    if (storyDeletions.length > 0) offerUndo();
    await Promise.all(storyDeletions.map(execute));
    await runningRequests.get(storyId);
  }

  function execute(conversation: Conversation): Promise<void> {
    const { storyId } = conversation;
    const deletion = deleteNow(conversation).finally(() => runningRequests.delete(storyId));
    runningRequests.set(storyId, deletion);
    return deletion;
  }

  /** Unload aborts ordinary requests; one with `keepalive` outlives the page. */
  function flush(): void {
    for (const { id, storyId } of drainPending()) {
      // the page cannot show a failure any more; if it is restored from the back/forward cache, the conversation shows again
      void deleteOutlivingPage(id).then((isGone) => isGone || dispatch(chatActions.conversationShown(id)));
      dropConversation(id, storyId);
    }
  }

  // carried out before unload and sign-out: only a signed-in user may delete
  listenTo(window, ['pagehide'], flush);
  session.beforeSignOut(executeAll);
  session.onUserChanged(drainPending);
  return { remove, isDeleting, settle };
}

export const deletions = createDeletions();

async function deleteNow({ id, storyId }: Conversation): Promise<void> {
  try {
    await request({ url: endpoints.conversation(id), method: 'DELETE' });
    dispatch(api.util.invalidateTags(['Transaction', { type: 'Story', id: storyId }]));
    dropConversation(id, storyId);
  } catch (cause) {
    dispatch(chatActions.conversationShown(id));
    toastFailure(cause, texts.list.removeFailed);
  }
}

/** Returns all values of the cookie, as the API client does: another path or a parent domain may have set one of its own. */
function readTokens(): string[] {
  const values = [...document.cookie.matchAll(/(?:^|; )XSRF-TOKEN=([^;]*)/g)].map(([, value = '']) => {
    try {
      return decodeURIComponent(value);
    } catch {
      return value;
    }
  });
  return values.length > 0 ? [...new Set(values)] : [''];
}

/**
 * The client's transport is aborted on unload, and only a bare `fetch` supports `keepalive`. A second token cannot be tried after
 * a failure then, so each token gets its own request at the same time. Resolves to whether the conversation is gone.
 */
async function deleteOutlivingPage(id: string): Promise<boolean> {
  const responses = await Promise.allSettled(
    readTokens().map((token) =>
      fetch(apiUrl(endpoints.conversation(id)), {
        method: 'DELETE',
        keepalive: true,
        headers: { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest', 'X-XSRF-TOKEN': token },
      }),
    ),
  );
  // not 404: the server may lack this endpoint. A row that is wrongly restored disappears when the list is next fetched
  return responses.some((answer) => answer.status === 'fulfilled' && answer.value.ok);
}
