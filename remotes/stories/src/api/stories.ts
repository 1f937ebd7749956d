import type { MessageEventDto } from '@liaozhai/shared/contract';
import {
  type AppDispatch,
  api,
  capabilities,
  conversationEventSchema,
  conversationSchema,
  cursorPageSchema,
  endpoints,
  idEventSchema,
  infiniteCursorOptions,
  listen,
  messageEventSchema,
  offlineCache,
  PAGE_ELEMENTS,
  parseJson,
  type RecentStory,
  type RootState,
  readAs,
  singleSchema,
  store,
  storySchema,
} from '@liaozhai/shared/runtime';
import { useKeptCopy } from '@liaozhai/shared/ui';
import { useEffect } from 'react';
import {
  asRecent,
  lastLineOf,
  type Story,
  type StoryPage,
  type StorySearch,
  searchParams,
  toRecent,
  toStory,
  toStoryPage,
  withNewest,
} from '../model';

const pageSchema = cursorPageSchema(storySchema);

export const storiesApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    storiesGetStories: build.infiniteQuery<StoryPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ pageParam }) => ({
        url: endpoints.stories,
        params: pageParam === null ? {} : { cursor: pageParam },
        schema: pageSchema,
      }),
      transformResponse: toStoryPage,
      async onCacheEntryAdded(_, { updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const stop = listen('conversation.deleted', idEventSchema, (event) =>
          updateCachedData(({ pages }) => {
            for (const story of pages.flatMap(({ items }) => items))
              if (story.conversationId === String(event.id)) story.conversationId = null;
          }),
        );
        await cacheEntryRemoved;
        stop();
      },
    }),
    // the first page alone: what a look for new stories compares the shown feed with
    storiesGetNewest: build.query<StoryPage, void>({
      query: () => ({ url: endpoints.stories, schema: pageSchema }),
      transformResponse: toStoryPage,
      keepUnusedDataFor: 0,
    }),
    storiesSearch: build.infiniteQuery<StoryPage, StorySearch, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ queryArg, pageParam }) => ({
        url: endpoints.stories,
        params: { ...searchParams(queryArg), ...(pageParam !== null && { cursor: pageParam }) },
        schema: pageSchema,
      }),
      transformResponse: toStoryPage,
      keepUnusedDataFor: 300,
    }),
    // what one talked in; events keep it in step, so that coming back to 发现 asks for nothing
    storiesGetRecent: build.query<RecentStory[], void>({
      query: () => ({ url: endpoints.conversations, schema: cursorPageSchema(conversationSchema) }),
      transformResponse: toRecent,
      providesTags: ['Conversation'],
      async onCacheEntryAdded(_, { updateCachedData, cacheDataLoaded, cacheEntryRemoved, dispatch, getState }) {
        await cacheDataLoaded;
        const changed = (event: MessageEventDto, hasEnded: boolean) => {
          const message = event.message ?? event;
          const id = String(message.story_id);
          const story = knownStory(getState() as RootState, id);
          const lastLine = lastLineOf(message.body ?? '');
          const isUnread = hasEnded && message.role === 'assistant' && capabilities.has('conversations.unread');
          updateCachedData((recent) => {
            const listed =
              recent.find((each) => each.id === id) ?? (story && asRecent(story, String(message.conversation_id)));
            return listed && [{ ...listed, isUnread, ...(lastLine && { lastLine }) }, ...withoutStory(recent, id)];
          });
        };
        const stops = [
          listen('message.created', messageEventSchema, (event) => changed(event, false)),
          listen('message.completed', messageEventSchema, (event) => changed(event, true)),
          listen('message.failed', messageEventSchema, (event) => changed(event, true)),
          listen('conversation.updated', conversationEventSchema, ({ conversation }) => {
            // another run of the story takes its place
            if (conversation.shelved) dispatch(api.util.invalidateTags(['Conversation']));
            updateCachedData((recent) => {
              const listed = recent.find(({ conversationId }) => conversationId === conversation.id);
              if (listed) listed.isUnread = conversation.unread ?? false;
            });
          }),
          listen('conversation.deleted', idEventSchema, (event) =>
            updateCachedData((recent) => recent.filter(({ conversationId }) => conversationId !== String(event.id))),
          ),
        ];
        await cacheEntryRemoved;
        for (const stop of stops) stop();
      },
    }),
    storiesGetStory: build.query<Story, string>({
      query: (id) => ({ url: endpoints.story(id), schema: singleSchema(storySchema) }),
      transformResponse: toStory,
      providesTags: (_story, _error, id) => [{ type: 'Story', id }],
      // 开始 becomes 继续 with the first message, and 开始 again when the conversation is deleted
      async onCacheEntryAdded(id, { updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const stops = [
          listen('message.created', messageEventSchema, (event) =>
            updateCachedData((story) => {
              const message = event.message ?? event;
              if (String(message.story_id) === id) story.conversationId = String(message.conversation_id);
            }),
          ),
          listen('conversation.deleted', idEventSchema, (event) =>
            updateCachedData((story) => {
              if (story.conversationId === String(event.id)) story.conversationId = null;
            }),
          ),
        ];
        await cacheEntryRemoved;
        for (const stop of stops) stop();
      },
    }),
  }),
});

/**
 * Starts the feed from the stories the page itself brought (`#liaozhai-first`, the body of `GET /v1/stories`). Cards drawn by the
 * server thus never make way for a skeleton. Later loads of the feed ask the server.
 */
export function adoptFirstStories() {
  const element = document.getElementById(PAGE_ELEMENTS.first);
  if (!element?.textContent) return;
  const page = readAs(pageSchema, parseJson(element.textContent));
  if (!page) return;
  const value = { pages: [toStoryPage(page)], pageParams: [null] };
  store.dispatch(storiesApi.util.upsertQueryEntries([{ endpointName: 'storiesGetStories', arg: undefined, value }]));
  element.remove();
}

/** The story that the page itself brought (`#liaozhai-first`), as anyone may read it; the server still says what is one's own. */
export function firstStory(): Story | undefined {
  const text = document.getElementById(PAGE_ELEMENTS.first)?.textContent;
  const dto = text ? readAs(singleSchema(storySchema), parseJson(text)) : undefined;
  return dto && toStory(dto);
}

/** Puts the newest page over the feed in the cache. */
export const putNewest = (newest: StoryPage) => (dispatch: AppDispatch) => {
  const merge = () =>
    dispatch(
      storiesApi.util.updateQueryData('storiesGetStories', undefined, (feed) => {
        const renewed = withNewest(feed.pages, newest);
        if (renewed.length !== feed.pages.length) feed.pageParams = [null];
        feed.pages = renewed;
      }),
    );
  merge();
  // a next page under way comes with the pages as they were when it was asked for
  void dispatch(storiesApi.util.getRunningQueryThunk('storiesGetStories', undefined))?.then(merge);
};

/** Lists pages that were read before below the newest one, which is listed already; over a gap they are of no use. */
export const putKept = (kept: StoryPage[]) => (dispatch: AppDispatch) =>
  dispatch(
    storiesApi.util.updateQueryData('storiesGetStories', undefined, (feed) => {
      const [newest] = feed.pages;
      if (!newest) return;
      feed.pages = withNewest(kept, newest);
      feed.pageParams = [null, ...feed.pages.slice(1).map((_, index) => feed.pages[index]?.nextCursor ?? null)];
    }),
  );

const withoutStory = (recent: RecentStory[], id: string) => recent.filter((each) => each.id !== id);

/** A story that was opened or listed. */
const knownStory = (state: RootState, id: string): Story | undefined =>
  storiesApi.endpoints.storiesGetStory.select(id)(state).data ?? listedStory(state, id);

/** A story of any list that was shown, by its id. */
export function listedStory(state: RootState, id: string): Story | undefined {
  const { storiesGetStories, storiesSearch } = storiesApi.endpoints;
  const searches = storiesApi.util.selectCachedArgsForQuery(state, 'storiesSearch') as StorySearch[];
  const lists = [storiesGetStories.select()(state), ...searches.map((search) => storiesSearch.select(search)(state))];
  for (const { data } of lists)
    for (const { items } of data?.pages ?? []) {
      const match = items.find((story) => story.id === id);
      if (match) return match;
    }
}

export const {
  useStoriesGetRecentQuery,
  useStoriesGetStoriesInfiniteQuery,
  useStoriesGetStoryQuery,
  useStoriesSearchInfiniteQuery,
} = storiesApi;

/** Keeps the device's copy of what was last read under `key`, and hands it out when `wanted`. */
export function useDeviceCopy<Content>(key: string, live: Content | undefined, wanted: boolean) {
  useEffect(() => {
    if (live !== undefined) void offlineCache.write(key, live);
  }, [key, live]);
  return useKeptCopy<Content>(offlineCache, key, wanted);
}
