import type { ConversationDto, CursorPage, MessageEventDto } from '@liaozhai/shared/contract';
import { serverNow } from '@liaozhai/shared/format';
import {
  type ApiError,
  api,
  conversationEventSchema,
  conversationSchema,
  cursorPageSchema,
  endpoints,
  idEventSchema,
  infiniteCursorOptions,
  listen,
  messageEventSchema,
  offlineCache,
  onCaughtUpNeeded,
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
  withCurrentRun,
  withLastMessage,
  withMarks,
  withNewestPage,
  withoutConversation,
} from '../model/conversation';
import { chatActions, currentUserId, selectChat } from '../slice';
import { texts } from '../texts';
import { expectApiError, toastFailure } from './failures';

const { dispatch } = store;

const pageSchema = cursorPageSchema(conversationSchema);

const pageRequest = (params: Record<string, string>, cursor: string | null) => ({
  url: endpoints.conversations,
  params: cursor === null ? params : { ...params, cursor },
  schema: pageSchema,
});

/** The list of conversations, separate from `chatApi` so that it shows before the code of the chats has loaded. */
const listApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    chatSearchConversations: build.infiniteQuery<ConversationPage, string, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ queryArg: q, pageParam }) => pageRequest({ q }, pageParam),
      transformResponse: toConversationPage,
      // results are not reused: they change with every message
      keepUnusedDataFor: 0,
    }),

    chatGetRuns: build.query<Conversation[], string>({
      query: (story_id) => pageRequest({ story_id }, null),
      transformResponse: (page: CursorPage<ConversationDto>) =>
        toConversationPage(page).items.sort((left, right) => right.run - left.run),
      keepUnusedDataFor: 0,
    }),

    chatGetConversations: build.infiniteQuery<ConversationPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      async queryFn({ pageParam: cursor }, _queryApi, _options, baseQuery) {
        const { data, error } = await baseQuery(pageRequest({}, cursor));
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
      async onCacheEntryAdded(_, { cacheEntryRemoved }) {
        const stop = followConversations();
        await cacheEntryRemoved;
        stop();
      },
    }),
  }),
});

export const selectConversations = listApi.endpoints.chatGetConversations.select();

/** The list with its loaded pages; undefined until the first one has loaded. */
const loadedList = () => selectConversations(store.getState()).data;

type ListChange = (pages: ConversationPage[]) => ConversationPage[];

/** Changes the list. RTK Query applies a page in flight to the list as it was when requested, so the change is applied once more. */
export function changeConversations(change: ListChange): void {
  if (!loadedList()) return;
  changeLoadedPages(change);
  const page = dispatch(listApi.util.getRunningQueryThunk('chatGetConversations', undefined));
  void page?.then(() => changeLoadedPages(change));
}

function changeLoadedPages(change: ListChange): void {
  const former = loadedList()?.pages;
  const pages = former && change(former);
  if (!pages || pages === former) return;
  const [first] = pages;
  if (first && first !== former[0]) cacheFirstPage(first);
  const pageParams = [null, ...pages.slice(0, -1).map(({ nextCursor }) => nextCursor)];
  dispatch(listApi.util.updateQueryData('chatGetConversations', undefined, () => ({ pages, pageParams })));
}

/** Appends pages that were loaded before below the newest one, which is listed already. */
export const appendStoredPages = (storedPages: ConversationPage[]): void =>
  changeLoadedPages((pages) => (pages[0] ? withNewestPage(storedPages, pages[0]) : pages));

/** Removes a deleted conversation from the list and the device. Its id stays hidden, since an older response may still contain it. */
export function dropConversation(id: string, knownStoryId?: string): void {
  const conversations = conversationsOf(loadedList()?.pages ?? []);
  const storyId = knownStoryId ?? conversations.find((conversation) => conversation.id === id)?.storyId;
  dispatch(chatActions.conversationHidden(id));
  changeConversations((pages) => withoutConversation(pages, id));
  if (storyId !== undefined) void forgetMessages(id, storyId);
}

/** The messages belong to `chatApi`, which loads later. If it fails to load, the device's copy stays until the chat is opened online. */
async function forgetMessages(id: string, storyId: string): Promise<void> {
  const userId = currentUserId();
  const chat = await loadChatApi().catch(() => undefined);
  if (chat && currentUserId() === userId) chat.forgetThread(id, storyId);
}

// biome-ignore lint/suspicious/noImportCycles: it is fetched once the list shows, when this file has run
const loadChatApi = () => import(/* webpackChunkName: "outbox" */ './chatApi');

/** Fetches the newest page and merges it into the list, or starts the list. Rejects with ApiError. */
export async function refreshConversations(): Promise<void> {
  if (!loadedList()) {
    const { initiate } = listApi.endpoints.chatGetConversations;
    await dispatch(initiate(undefined, { subscribe: false, forceRefetch: true })).unwrap();
    return;
  }
  const { pins } = selectChat(store.getState());
  const newest = toConversationPage(await request(pageRequest({}, null)));
  // a page that was requested before a pin was saved lacks it
  if (selectChat(store.getState()).pins !== pins) return refreshConversations();
  changeConversations((pages) => withNewestPage(pages, newest));
}

export const {
  useChatGetConversationsInfiniteQuery,
  useChatSearchConversationsInfiniteQuery,
  /** Loads a story's runs, the latest first. */
  useChatGetRunsQuery,
} = listApi;

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

/** The first connection requests a catch-up moments after the list itself was fetched. */
const FRESH_SECONDS = 5;

/** Synchronizes the list of conversations with the user's channel. Returns the function that stops it. */
function followConversations(): () => void {
  let fetchedAt = Date.now();

  const refresh = async () => {
    fetchedAt = Date.now();
    // not requested by the user, and the next event or connection fetches again
    await refreshConversations().catch(expectApiError);
  };
  const receive = (event: MessageEventDto) => {
    const pages = loadedList()?.pages;
    if (!pages) return;
    if (withLastMessage(pages, event)) changeConversations((current) => withLastMessage(current, event) ?? current);
    else void refresh();
  };
  return stopAll(
    listen('message.created', messageEventSchema, receive),
    listen('message.completed', messageEventSchema, receive),
    listen('message.failed', messageEventSchema, receive),
    listen('conversation.deleted', idEventSchema, ({ id }) => dropConversation(id)),
    listen('conversation.restarted', idEventSchema, () => {
      if (loadedList()) void refresh();
    }),
    listen('conversation.updated', conversationEventSchema, ({ conversation }) =>
      changeConversations(merging(withMarks, conversation)),
    ),
    onCaughtUpNeeded(() => {
      // a negative difference means that the clock was set back, and says nothing about the age
      if (loadedList() && Math.abs(Date.now() - fetchedAt) > FRESH_SECONDS * 1000) void refresh();
    }),
  );
}

type Marks = { read_version: number } | { pinned: boolean } | { shelved: boolean };

/** Sets the read, pinned or shelved mark of a conversation. Returns false if the response lacks it. Rejects with ApiError. */
export async function putConversation(id: string, body: Marks): Promise<boolean> {
  const response = await request({ url: endpoints.conversation(id), method: 'PUT', body });
  // some servers confirm the change without sending the conversation
  const conversation = readAs(singleSchema(conversationSchema), response);
  if (conversation) changeConversations(merging(withMarks, conversation));
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
        changeConversations((pages) => withMarks(pages, savedConversation));
    }
  } catch (cause) {
    toastFailure(cause, texts.list.pinFailed);
  } finally {
    dispatch(chatActions.pinSettled(id));
  }
}

/** Resumes a run in place of the story's current one. Rejects with ApiError. */
export async function resumeRun(run: Pick<Conversation, 'id' | 'storyId'>): Promise<void> {
  await setShelved(run.id, run.storyId, false);
  changeConversations((pages) => withCurrentRun(pages, run));
}

/** Shelves the current run, so that the next line starts a new one. Rejects with ApiError. */
export const startNewRun = (storyId: string, conversationId: string): Promise<void> =>
  setShelved(conversationId, storyId, true);

async function setShelved(id: string, storyId: string, shelved: boolean): Promise<void> {
  await putConversation(id, { shelved });
  dispatch(api.util.invalidateTags(['Conversation', { type: 'Story', id: storyId }]));
  const chat = await loadChatApi();
  await chat.switchThread(storyId);
}
