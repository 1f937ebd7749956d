import type { ConversationDto, CursorPage, MessageEventDto } from '@liaozhai/shared/contract';
import { serverNow } from '@liaozhai/shared/format';
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
  listen,
  messageEventSchema,
  offlineCache,
  onCaughtUpNeeded,
  type RootState,
  readAs,
  request,
  singleSchema,
  store,
} from '@liaozhai/shared/runtime';
import { stopAll } from '@liaozhai/shared/ui';
import {
  type Conversation,
  type ConversationPage,
  conversationsOf,
  merging,
  toConversationPage,
  withLastMessage,
  withMarks,
  withNewestPage,
  withoutConversation,
} from '../model/conversation';
import { chatActions, currentUserId, selectChat } from '../slice';
import { texts } from '../texts';
import { toastFailure } from './failures';

export const listSchema = cursorPageSchema(conversationSchema);

/** The list of conversations, separate from `chatApi` so that it shows before the code of the chats has loaded. */
const listApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    chatSearchConversations: build.infiniteQuery<ConversationPage, string, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      async queryFn({ queryArg: q, pageParam: cursor }, _queryApi, _options, baseQuery) {
        const params = cursor === null ? { q } : { q, cursor };
        const { data, error } = await baseQuery({ url: endpoints.conversations, params, schema: listSchema });
        return error ? { error } : { data: toConversationPage(data as CursorPage<ConversationDto>) };
      },
      // results are not reused: they change with every message
      keepUnusedDataFor: 0,
    }),

    chatGetConversations: build.infiniteQuery<ConversationPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      async queryFn({ pageParam: cursor }, _queryApi, _options, baseQuery) {
        const { data, error } = await baseQuery({
          url: endpoints.conversations,
          params: cursor === null ? {} : { cursor },
          schema: listSchema,
        });
        if (!error) {
          const page = toConversationPage(data as CursorPage<ConversationDto>);
          if (cursor === null) cacheFirstPage(page);
          return { data: page };
        }
        const copy =
          cursor === null ? await fromOfflineCache<ConversationPage>(conversationsCacheKey, error) : undefined;
        if (!copy) return { error };
        return { data: { ...copy, nextCursor: null, isCut: copy.isCut || copy.nextCursor !== null } };
      },
      async onCacheEntryAdded(_, { dispatch, getCacheEntry, cacheEntryRemoved }) {
        const stop = followConversations({
          read: () => getCacheEntry().data?.pages,
          change: (change) => dispatch(changeConversations(change)),
          drop: (id) => dispatch(dropConversation(id)),
          fetchNewest: () => dispatch(refreshConversations()),
        });
        await cacheEntryRemoved;
        stop();
      },
    }),
  }),
});

type ListChange = (pages: ConversationPage[]) => ConversationPage[];

/** Changes the list. RTK Query applies a page in flight to the list as it was when requested, so the change is applied once more. */
export const changeConversations =
  (change: ListChange) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    if (!listApi.endpoints.chatGetConversations.select()(getState()).data) return;
    dispatch(changeLoadedPages(change));
    const page = dispatch(listApi.util.getRunningQueryThunk('chatGetConversations', undefined));
    void page?.then(() => dispatch(changeLoadedPages(change)));
  };

const changeLoadedPages =
  (change: ListChange) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    const list = listApi.endpoints.chatGetConversations.select()(getState()).data;
    const pages = list && change(list.pages);
    if (!pages || pages === list.pages) return;
    const [first] = pages;
    if (first && first !== list.pages[0]) cacheFirstPage(first);
    const pageParams = list.pageParams.slice(0, pages.length);
    dispatch(listApi.util.updateQueryData('chatGetConversations', undefined, () => ({ pages, pageParams })));
  };

/** Appends pages that were loaded before below the newest one, which is listed already. */
export const appendStoredPages =
  (storedPages: ConversationPage[]) =>
  (dispatch: AppDispatch): void => {
    const withStoredPages = (pages: ConversationPage[]) => {
      const [newest] = pages;
      return newest && pages.length < storedPages.length ? withNewestPage(storedPages, newest) : pages;
    };
    const { updateQueryData } = listApi.util;
    dispatch(
      updateQueryData('chatGetConversations', undefined, (list) => {
        const pages = withStoredPages(list.pages);
        return { pages, pageParams: [null, ...pages.slice(0, -1).map(({ nextCursor }) => nextCursor)] };
      }),
    );
  };

/** Removes a deleted conversation from the list and the device. Its id stays hidden, since an older response may still contain it. */
export const dropConversation =
  (id: string, knownStoryId?: string) =>
  (dispatch: AppDispatch, getState: () => RootState): void => {
    const { pages = [] } = listApi.endpoints.chatGetConversations.select()(getState()).data ?? {};
    const storyId = knownStoryId ?? conversationsOf(pages).find((conversation) => conversation.id === id)?.storyId;
    dispatch(chatActions.conversationHidden(id));
    dispatch(changeConversations((pages) => withoutConversation(pages, id)));
    if (storyId !== undefined) void forgetMessages(id, storyId);
  };

/** The messages belong to `chatApi`, which loads later. If it fails to load, the device's copy stays until the chat is opened online. */
async function forgetMessages(id: string, storyId: string): Promise<void> {
  const userId = currentUserId();
  const chat = await loadChatApi().catch(() => undefined);
  if (chat && currentUserId() === userId) dispatch(chat.forgetThread(id, storyId));
}

// biome-ignore lint/suspicious/noImportCycles: it is fetched once the list shows, when this file has run
export const loadChatApi = () => import(/* webpackChunkName: "outbox" */ './chatApi');

/** Fetches the newest page and merges it into the list, or starts the list. Rejects with ApiError. */
export const refreshConversations =
  () =>
  async (dispatch: AppDispatch, getState: () => RootState): Promise<void> => {
    const { chatGetConversations } = listApi.endpoints;
    if (!chatGetConversations.select()(getState()).data) {
      await dispatch(chatGetConversations.initiate(undefined, { subscribe: false, forceRefetch: true })).unwrap();
      return;
    }
    const { pins } = selectChat(getState());
    const newest = toConversationPage(await request({ url: endpoints.conversations, schema: listSchema }));
    // a page that was requested before a pin was saved lacks it
    if (selectChat(getState()).pins !== pins) return dispatch(refreshConversations());
    dispatch(changeConversations((pages) => withNewestPage(pages, newest)));
  };

export const selectConversations = listApi.endpoints.chatGetConversations.select();

export const { useChatGetConversationsInfiniteQuery, useChatSearchConversationsInfiniteQuery } = listApi;

// a changed shape needs a new key: the device may hold data that an older build wrote
export const conversationsCacheKey = 'chat.conversations.3';

/** Does not store an empty page that others follow: offline, it would show as an empty list. */
const cacheFirstPage = (page: ConversationPage): void => {
  const isList = page.items.length > 0 || page.nextCursor === null;
  void offlineCache.write(conversationsCacheKey, isList ? page : null);
};

const isOutOfReach = (error: ApiError) => error.kind === 'offline' || error.kind === 'timeout';

/** Reads the device's copy if the request failed because the network is out of reach. */
export async function fromOfflineCache<Content>(key: string, error: ApiError): Promise<Content | undefined> {
  return isOutOfReach(error) ? ((await offlineCache.read(key)) as Content | undefined) : undefined;
}

interface ListPorts {
  /** undefined until the first page has loaded. */
  read: () => ConversationPage[] | undefined;
  change: (change: (pages: ConversationPage[]) => ConversationPage[]) => void;
  /** Removes a conversation that was deleted, here or on another device. */
  drop: (id: string) => void;
  /** Merges the newest page into the list. Rejects with ApiError. */
  fetchNewest: () => Promise<void>;
}

/** The first connection requests a catch-up moments after the list itself was fetched. */
const FRESH_SECONDS = 5;

/** Synchronizes the list of conversations with the user's channel. Returns the function that stops it. */
function followConversations({ read, change, drop, fetchNewest }: ListPorts): () => void {
  let fetchedAt = Date.now();

  const refresh = async () => {
    fetchedAt = Date.now();
    try {
      await fetchNewest();
    } catch (cause) {
      // not requested by the user, and the next event or connection fetches again
      if (!isApiError(cause)) throw cause;
    }
  };
  const receive = (event: MessageEventDto) => {
    const pages = read();
    if (!pages) return;
    if (withLastMessage(pages, event)) change((current) => withLastMessage(current, event) ?? current);
    else void refresh();
  };
  return stopAll(
    listen('message.created', messageEventSchema, receive),
    listen('message.completed', messageEventSchema, receive),
    listen('message.failed', messageEventSchema, receive),
    listen('conversation.deleted', idEventSchema, (event) => drop(String(event.id))),
    listen('conversation.restarted', idEventSchema, () => {
      if (read()) void refresh();
    }),
    listen('conversation.updated', conversationEventSchema, ({ conversation }) =>
      change(merging(withMarks, conversation)),
    ),
    onCaughtUpNeeded(() => {
      // a negative difference means that the clock was set back, and says nothing about the age
      if (read() && Math.abs(Date.now() - fetchedAt) > FRESH_SECONDS * 1000) void refresh();
    }),
  );
}

const { dispatch } = store;

type Marks = { read_version: number } | { pinned: boolean } | { shelved: boolean };

/** Sets the read, pinned or shelved mark of a conversation. Returns false if the response lacks it. Rejects with ApiError. */
export async function putConversation(id: string, body: Marks): Promise<boolean> {
  const response = await request({ url: endpoints.conversation(id), method: 'PUT', body });
  // some servers confirm the change without sending the conversation
  const conversation = readAs(singleSchema(conversationSchema), response);
  if (conversation) dispatch(changeConversations(merging(withMarks, conversation)));
  return conversation !== undefined;
}

/**
 * Pins or unpins a conversation. Shown immediately; a choice made while another is being saved is sent after it. If one fails,
 * the saved state shows again, with a toast.
 */
export async function pin(conversation: Conversation, pinned: boolean): Promise<void> {
  const { id } = conversation;
  const chosen = () => selectChat(store.getState()).pins[id];
  const isSaving = chosen() !== undefined;
  dispatch(chatActions.pinChosen({ id, pinnedAt: pinned ? new Date(serverNow()).toISOString() : '' }));
  if (isSaving) return;
  try {
    let isSaved: boolean | undefined;
    // undefined once the user has signed out
    for (let pinnedAt = chosen(); pinnedAt !== undefined && isSaved !== (pinnedAt !== ''); pinnedAt = chosen()) {
      isSaved = pinnedAt !== '';
      const savedConversation = { ...conversation, pinnedAt };
      if (!(await putConversation(id, { pinned: isSaved })))
        dispatch(changeConversations((pages) => withMarks(pages, savedConversation)));
    }
  } catch (cause) {
    toastFailure(cause, texts.list.pinFailed);
  } finally {
    dispatch(chatActions.pinSettled(id));
  }
}
