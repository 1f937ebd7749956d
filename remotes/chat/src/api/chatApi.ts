import type { LatestDto, StoryDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  api,
  endpoints,
  latestSchema,
  offlineCache,
  singleSchema,
  store,
  storySchema,
} from '@liaozhai/shared/runtime';
import { withThread } from '../model/conversation';
import { type Story, toStory } from '../model/story';
import { emptyThread, runningMessage, type Thread, toPage, unreadVersion, withNewest } from '../model/thread';
import { chatActions, currentUserId, selectChat } from '../slice';
import { expectApiError } from './failures';
// biome-ignore lint/suspicious/noImportCycles: the list fetches this file once it shows
import { changeConversations, fromOfflineCache, putConversation } from './listApi';
import { THREAD_PAGE, threadSyncs, unusableResponse } from './threadSync';

const KEEP_UNUSED_SECONDS = 3600;

const { dispatch } = store;

// endpoint names are prefixed with the remote's name, because all remotes share one api
export const chatApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    chatGetStory: build.query<Story, string>({
      async queryFn(id, _queryApi, _options, baseQuery) {
        const { data, error } = await baseQuery({ url: endpoints.story(id), schema: singleSchema(storySchema) });
        if (error) {
          const copy = await fromOfflineCache<Story>(storyCacheKey(id), error);
          return copy ? { data: copy } : { error };
        }
        const story = toStory(data as StoryDto);
        void offlineCache.write(storyCacheKey(id), story);
        return { data: story };
      },
      keepUnusedDataFor: KEEP_UNUSED_SECONDS,
    }),

    chatGetThread: build.query<Thread, string>({
      async queryFn(storyId, _queryApi, _options, baseQuery) {
        const params = { story_id: storyId, limit: THREAD_PAGE };
        const { data, error } = await baseQuery({ url: endpoints.latestMessages, params, schema: latestSchema });
        if (!error) {
          const page = toPage(data as LatestDto);
          if (page.isUnparsed) return { error: unusableResponse };
          const thread = withNewest(emptyThread(storyId), page);
          if (!runningMessage(thread)) void cacheThread(thread);
          return { data: thread };
        }
        const copy = await fromOfflineCache<Thread>(threadCacheKey(storyId), error);
        return copy ? { data: copy, meta: { isCached: true } } : { error };
      },
      keepUnusedDataFor: KEEP_UNUSED_SECONDS,
      async onCacheEntryAdded(storyId, { cacheDataLoaded, cacheEntryRemoved }) {
        const { sync, stop } = threadSyncs.follow({
          storyId,
          read: () => cachedThread(storyId),
          change: (next) => changeThread(storyId, () => next),
        });
        // rejects if the entry is removed before it has loaded
        void cacheDataLoaded.then(
          ({ meta }) => sync.handleLoaded(meta !== undefined && 'isCached' in meta),
          () => undefined,
        );
        await cacheEntryRemoved;
        stop();
      },
    }),
  }),
});

export const selectThread = (storyId: string) => chatApi.endpoints.chatGetThread.select(storyId);

/** The loaded thread of a story. */
export const cachedThread = (storyId: string): Thread | undefined => selectThread(storyId)(store.getState()).data;

/** Changes a thread in the cache. Updates the list of conversations and the offline copy, too, unless a reply is running. */
export function changeThread(storyId: string, change: (thread: Thread) => Thread): void {
  const thread = cachedThread(storyId);
  const next = thread && change(thread);
  if (!next || next === thread) return;
  // frozen, so that immer does not traverse all messages for each delta of a reply
  dispatch(chatApi.util.updateQueryData('chatGetThread', storyId, () => Object.freeze(next), false));
  if (runningMessage(next)) return;
  void cacheThread(next);
  changeConversations((pages) => withThread(pages, next));
}

/** Removes the messages of a deleted conversation from the cache and from the device. */
export function forgetThread(conversationId: string, storyId: string): void {
  changeThread(storyId, (thread) => (thread.conversationId === conversationId ? emptyThread(storyId) : thread));
  if (!cachedThread(storyId)) void cacheThread(emptyThread(storyId));
}

/** Replaces the cached thread of a story with the run that the user has chosen. */
export async function switchThread(storyId: string): Promise<void> {
  const sync = threadSyncs.of(storyId);
  await (sync ? sync.handleRunSwitched() : cacheThread(emptyThread(storyId)));
}

/**
 * Returns the thread to which responses are applied; the page may show the device's copy before it has loaded. Resolves to
 * undefined if the cache entry was removed meanwhile. Rejects with ApiError.
 */
export async function loadThread(storyId: string): Promise<Thread | undefined> {
  const thread = cachedThread(storyId);
  if (thread) return thread;
  const { data, error } = await dispatch(chatApi.endpoints.chatGetThread.initiate(storyId, { subscribe: false }));
  if (error) throw error;
  return data;
}

export const { useChatGetStoryQuery, useChatGetThreadQuery } = chatApi;

// a changed shape needs a new key: the device may hold data that an older build wrote
export const storyCacheKey = (id: string) => `chat.story.2.${id}`;
export const threadCacheKey = (storyId: string) => `chat.thread.1.${storyId}`;

const cacheThread = (thread: Thread): Promise<void> => {
  const messages = thread.messages.slice(-THREAD_PAGE);
  const hasOlder = thread.hasOlder || messages.length < thread.messages.length;
  return offlineCache.write(threadCacheKey(thread.storyId), { ...thread, messages, hasOlder });
};

/** Delays before a rejected read mark is sent again, in seconds. After the last one, the next visit of the chat starts over. */
const MARK_RETRY_SECONDS = [2, 10, 60, 300];

const transientErrorKinds: ApiError['kind'][] = ['offline', 'timeout', 'server', 'tooOften'];

/** Marks the thread's last reply as read, once per reply. The request is retried even after the user has left the chat. */
export function markAsRead(thread: Thread): void {
  const { conversationId: id } = thread;
  const version = unreadVersion(thread);
  if (id === null || version === undefined) return;
  const previousVersion = selectChat(store.getState()).read[id] ?? 0;
  if (previousVersion >= version) return;
  dispatch(chatActions.conversationRead({ id, version }));
  void sendMark(id, version, previousVersion, MARK_RETRY_SECONDS);
}

async function sendMark(id: string, version: number, previousVersion: number, delays: readonly number[]) {
  const [delaySeconds, ...laterDelays] = delays;
  const userId = currentUserId();
  try {
    await putConversation(id, { read_version: version });
  } catch (cause) {
    const { kind } = expectApiError(cause);
    const isNewest = () => currentUserId() === userId && selectChat(store.getState()).read[id] === version;
    if (delaySeconds !== undefined && transientErrorKinds.includes(kind))
      setTimeout(() => isNewest() && void sendMark(id, version, previousVersion, laterDelays), delaySeconds * 1000);
    else if (isNewest()) dispatch(chatActions.conversationRead({ id, version: previousVersion }));
  }
}
