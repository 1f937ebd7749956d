import { store } from '@liaozhai/shared/runtime';
import { changeThread, selectThread } from '../api';
import { withOlder } from '../model';
import { askLatest } from './calls';
import { THREAD_PAGE } from './copies';
import { catchUp } from './threads';

const loading = new Map<string, Promise<void>>();

const threadOf = (storyId: string) => selectThread(storyId)(store.getState()).data;

/** Puts the page before the first loaded message in front of it; one at a time. Rejects with ApiError. */
export function loadOlder(storyId: string): Promise<void> {
  const under = loading.get(storyId) ?? load(storyId).finally(() => loading.delete(storyId));
  loading.set(storyId, under);
  return under;
}

async function load(storyId: string): Promise<void> {
  const thread = threadOf(storyId);
  const before = thread?.messages[0]?.seq;
  if (!thread?.hasOlder || !thread.conversationId || before === undefined) return;
  const page = await askLatest({ conversation_id: thread.conversationId, before, limit: THREAD_PAGE });
  store.dispatch(changeThread(storyId, (now) => withOlder(now, page, before)));
  if ((threadOf(storyId)?.version ?? 0) < thread.version) await catchUp(storyId);
}
