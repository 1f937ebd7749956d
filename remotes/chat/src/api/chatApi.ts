import type { ConversationDto, CursorPage, LatestDto, MessageEventDto, StoryDto } from '@liaozhai/shared/contract';
import { failureText } from '@liaozhai/shared/format';
import {
  type ApiError,
  type AppDispatch,
  api,
  conversationEventSchema,
  conversationSchema,
  cursorPageSchema,
  endpoints,
  idEventSchema,
  infiniteCursorOptions,
  isApiError,
  latestSchema,
  listen,
  messageEventSchema,
  offlineCache,
  onCaughtUpNeeded,
  type RootState,
  request,
  singleSchema,
  store,
  storySchema,
  toast,
} from '@liaozhai/shared/runtime';
import {
  type Conversation,
  type ConversationPage,
  conversationsOf,
  toConversation,
  toConversationPage,
  withLastMessage,
  withMarks,
  withNewestPage,
  withoutConversation,
  withThread,
} from '../model/conversation';
import { type Story, toStory } from '../model/story';
import { emptyThread, runningMessage, type Thread, toPage, unreadVersion, withNewest } from '../model/thread';
import { chatActions, selectChat } from '../slice';
import { texts } from '../texts';
import { currentUserId } from './outbox';
import { threadSyncs } from './threadSync';

const THREAD_KEPT_SECONDS = 3600;
const listSchema = cursorPageSchema(conversationSchema);

// endpoint names carry the remote's name, because all remotes share one api
export const chatApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    chatGetStory: build.query<Story, string>({
      async queryFn(id, _queryApi, _options, ask) {
        const { data, error } = await ask({ url: endpoints.story(id), schema: singleSchema(storySchema) });
        if (error) {
          const copy = await fromOfflineCache<Story>(storyCacheKey(id), error);
          return copy ? { data: copy } : { error };
        }
        const story = toStory(data as StoryDto);
        void offlineCache.write(storyCacheKey(id), story);
        return { data: story };
      },
      keepUnusedDataFor: THREAD_KEPT_SECONDS,
    }),

    chatGetThread: build.query<Thread, string>({
      async queryFn(storyId, _queryApi, _options, ask) {
        const params = { story_id: storyId, limit: THREAD_PAGE };
        const { data, error } = await ask({ url: endpoints.latestMessages, params, schema: latestSchema });
        if (!error) {
          const thread = withNewest(emptyThread(storyId), toPage(data as LatestDto));
          if (!runningMessage(thread)) void cacheThread(thread);
          return { data: thread };
        }
        const copy = await fromOfflineCache<Thread>(threadCacheKey(storyId), error);
        return copy ? { data: copy, meta: { isCached: true } } : { error };
      },
      keepUnusedDataFor: THREAD_KEPT_SECONDS,
      async onCacheEntryAdded(storyId, { dispatch, getCacheEntry, cacheDataLoaded, cacheEntryRemoved }) {
        const { loaded, stop } = threadSyncs.follow({
          storyId,
          read: () => getCacheEntry().data,
          change: (next) => dispatch(changeThread(storyId, () => next)),
        });
        // it rejects when the entry goes before anything came
        void cacheDataLoaded.then(
          ({ meta }) => loaded(meta !== undefined && 'isCached' in meta),
          () => undefined,
        );
        await cacheEntryRemoved;
        stop();
      },
    }),

    chatSearchConversations: build.infiniteQuery<ConversationPage, string, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      async queryFn({ queryArg: q, pageParam: cursor }, _queryApi, _options, ask) {
        const params = cursor === null ? { q } : { q, cursor };
        const { data, error } = await ask({ url: endpoints.conversations, params, schema: listSchema });
        return error ? { error } : { data: toConversationPage(data as CursorPage<ConversationDto>) };
      },
      // what is found today is not what is found tomorrow
      keepUnusedDataFor: 0,
    }),

    chatGetConversations: build.infiniteQuery<ConversationPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      async queryFn({ pageParam: cursor }, _queryApi, _options, ask) {
        const { data, error } = await ask({
          url: endpoints.conversations,
          params: cursor === null ? {} : { cursor },
          schema: listSchema,
        });
        if (!error) {
          const page = toConversationPage(data as CursorPage<ConversationDto>);
          if (cursor === null) void offlineCache.write(conversationsCacheKey, page);
          return { data: page };
        }
        const copy =
          cursor === null ? await fromOfflineCache<ConversationPage>(conversationsCacheKey, error) : undefined;
        return copy ? { data: { ...copy, nextCursor: null } } : { error };
      },
      async onCacheEntryAdded(_, { dispatch, getCacheEntry, cacheEntryRemoved }) {
        const stop = followConversations({
          read: () => getCacheEntry().data?.pages,
          change: (change) => dispatch(changeConversations(change)),
          drop: (id) => dispatch(dropConversation(id)),
          takeNewest: () => dispatch(refreshConversations()),
        });
        await cacheEntryRemoved;
        stop();
      },
    }),
  }),
});

/** Changes a thread in the cache; what it comes to goes into the list of conversations and the device's copy. */
export const changeThread =
  (storyId: string, change: (thread: Thread) => Thread) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    const thread = selectThread(storyId)(getState()).data;
    const next = thread && change(thread);
    if (!next || next === thread) return;
    // frozen, or the cache would look through all of its messages with each piece of a reply
    dispatch(chatApi.util.updateQueryData('chatGetThread', storyId, () => Object.freeze(next), false));
    if (runningMessage(next)) return;
    void cacheThread(next);
    dispatch(changeConversations((pages) => withThread(pages, next)));
  };

type ListChange = (pages: ConversationPage[]) => ConversationPage[];

/** Changes the list. A page on its way is put to the list as it was when asked for, so the change is made once more upon it. */
export const changeConversations =
  (change: ListChange) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    if (!chatApi.endpoints.chatGetConversations.select()(getState()).data) return;
    dispatch(changeListed(change));
    const page = dispatch(chatApi.util.getRunningQueryThunk('chatGetConversations', undefined));
    void page?.then(() => dispatch(changeListed(change)));
  };

const changeListed =
  (change: ListChange) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    const list = chatApi.endpoints.chatGetConversations.select()(getState()).data;
    const pages = list && change(list.pages);
    if (!pages || pages === list.pages) return;
    const [first] = pages;
    if (first !== list.pages[0]) void offlineCache.write(conversationsCacheKey, first);
    const pageParams = list.pageParams.slice(0, pages.length);
    dispatch(chatApi.util.updateQueryData('chatGetConversations', undefined, () => ({ pages, pageParams })));
  };

/** Lists pages that were read before below the newest one, which is listed already. */
export const putKeptConversations =
  (kept: ConversationPage[]) =>
  (dispatch: AppDispatch): void => {
    const below = (pages: ConversationPage[]) => {
      const [newest] = pages;
      return newest && pages.length < kept.length ? withNewestPage(kept, newest) : pages;
    };
    const { updateQueryData } = chatApi.util;
    dispatch(
      updateQueryData('chatGetConversations', undefined, (list) => {
        const pages = below(list.pages);
        return { pages, pageParams: [null, ...pages.slice(0, -1).map(({ nextCursor }) => nextCursor)] };
      }),
    );
  };

/** Takes a conversation away that was deleted, also off the device, and hides it wherever an answer from before still brings it. */
export const dropConversation =
  (id: string, storyOfIt?: string) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    const { pages = [] } = chatApi.endpoints.chatGetConversations.select()(getState()).data ?? {};
    const storyId = storyOfIt ?? conversationsOf(pages).find((conversation) => conversation.id === id)?.storyId;
    dispatch(chatActions.conversationHidden(id));
    dispatch(changeConversations((now) => withoutConversation(now, id)));
    if (storyId === undefined) return;
    dispatch(changeThread(storyId, (thread) => (thread.conversationId === id ? emptyThread(storyId) : thread)));
    if (!selectThread(storyId)(getState()).data) void cacheThread(emptyThread(storyId));
  };

/** Asks for the newest page and puts it over the list, or for the list if there is none yet. Rejects with ApiError. */
export const refreshConversations =
  () =>
  async (dispatch: AppDispatch, getState: () => RootState): Promise<void> => {
    const { chatGetConversations } = chatApi.endpoints;
    if (!chatGetConversations.select()(getState()).data) {
      await dispatch(chatGetConversations.initiate(undefined, { subscribe: false, forceRefetch: true })).unwrap();
      return;
    }
    const newest = toConversationPage(await request({ url: endpoints.conversations, schema: listSchema }));
    dispatch(changeConversations((pages) => withNewestPage(pages, newest)));
  };

export const selectConversations = chatApi.endpoints.chatGetConversations.select();

export const selectThread = (storyId: string) => chatApi.endpoints.chatGetThread.select(storyId);

export const {
  useChatGetStoryQuery,
  useChatGetThreadQuery,
  useChatGetConversationsInfiniteQuery,
  useChatSearchConversationsInfiniteQuery,
} = chatApi;

/** As many messages as a page brings, and as the device keeps of a thread. */
export const THREAD_PAGE = 50;

// a newer shape gets a newer key, since the device may hold what an older build wrote
export const storyCacheKey = (id: string) => `chat.story.1.${id}`;
export const threadCacheKey = (storyId: string) => `chat.thread.1.${storyId}`;
const conversationsCacheKey = 'chat.conversations.2';

const isOutOfReach = (error: ApiError) => error.kind === 'offline' || error.kind === 'timeout';

/** What the device kept of an answer, when the network has none. */
async function fromOfflineCache<Content>(key: string, error: ApiError): Promise<Content | undefined> {
  return isOutOfReach(error) ? ((await offlineCache.read(key)) as Content | undefined) : undefined;
}

const cacheThread = (thread: Thread): Promise<void> => {
  const messages = thread.messages.slice(-THREAD_PAGE);
  const hasOlder = thread.hasOlder || messages.length < thread.messages.length;
  return offlineCache.write(threadCacheKey(thread.storyId), { ...thread, messages, hasOlder });
};

interface Ports {
  /** undefined until the first page is there. */
  read: () => ConversationPage[] | undefined;
  change: (change: (pages: ConversationPage[]) => ConversationPage[]) => void;
  /** Takes a conversation away that was deleted, here or elsewhere. */
  drop: (id: string) => void;
  /** Puts the newest page over the list; rejects with ApiError. */
  takeNewest: () => Promise<void>;
}

/** The first catch-up comes with the first connection, moments after the list itself. */
const FRESH_SECONDS = 5;

/** Keeps the list of conversations in step with the user's channel. Returns the function that stops it. */
function followConversations({ read, change, drop, takeNewest }: Ports): () => void {
  let askedAt = Date.now();

  const look = async () => {
    askedAt = Date.now();
    try {
      await takeNewest();
    } catch (cause) {
      // nobody asked for this look, and the next event or connection makes another
      if (!isApiError(cause)) throw cause;
    }
  };
  const receive = (event: MessageEventDto) => {
    const pages = read();
    if (!pages) return;
    if (withLastMessage(pages, event)) change((now) => withLastMessage(now, event) ?? now);
    else void look();
  };
  const stops = [
    listen('message.created', messageEventSchema, receive),
    listen('message.completed', messageEventSchema, receive),
    listen('message.failed', messageEventSchema, receive),
    listen('conversation.deleted', idEventSchema, (event) => drop(String(event.id))),
    listen('conversation.restarted', idEventSchema, () => {
      if (read()) void look();
    }),
    listen('conversation.updated', conversationEventSchema, ({ conversation }) =>
      change((pages) => withMarks(pages, toConversation(conversation))),
    ),
    onCaughtUpNeeded(() => {
      // a clock that was put back says nothing
      if (read() && Math.abs(Date.now() - askedAt) > FRESH_SECONDS * 1000) void look();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

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

/** Seconds until a mark that the server did not take is sent again; after these the next look at the chat begins anew. */
const MARK_AGAIN_SECONDS = [2, 10, 60, 300];

const mayPass: ApiError['kind'][] = ['offline', 'timeout', 'server', 'tooOften'];

/** Tells the other devices that the thread's last reply has been seen, once for each, even if the reader leaves the chat meanwhile. */
export function markAsRead(thread: Thread): void {
  const { conversationId: id } = thread;
  const version = unreadVersion(thread);
  if (id === null || version === undefined) return;
  const before = selectChat(store.getState()).read[id] ?? 0;
  if (before >= version) return;
  dispatch(chatActions.conversationRead({ id, version }));
  void sendMark({ id, version, before }, MARK_AGAIN_SECONDS);
}

async function sendMark(
  mark: { id: string; version: number; before: number },
  [pause, ...pauses]: readonly number[],
): Promise<void> {
  const { id, version, before } = mark;
  const owner = currentUserId();
  try {
    await change(id, { read_version: version });
  } catch (cause) {
    const { kind } = expectApiError(cause);
    const isNewest = () => currentUserId() === owner && selectChat(store.getState()).read[id] === version;
    if (pause !== undefined && mayPass.includes(kind))
      setTimeout(() => isNewest() && void sendMark(mark, pauses), pause * 1000);
    else if (isNewest()) dispatch(chatActions.conversationRead({ id, version: before }));
  }
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
