import type { MessageEventDto } from '@liaozhai/shared/contract';
import { withNewest } from '@liaozhai/shared/format';
import {
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
import { stopAll, useKeptCopy } from '@liaozhai/shared/ui';
import { useEffect } from 'react';
import {
  lastLineOf,
  type Story,
  type StoryPage,
  type StorySearch,
  searchParams,
  toRecentStories,
  toRecentStory,
  toStory,
  toStoryPage,
} from '../model';

const { dispatch } = store;

const pageSchema = cursorPageSchema(storySchema);

const pageRequest = (params: Record<string, string>, cursor: string | null) => ({
  url: endpoints.stories,
  params: cursor === null ? params : { ...params, cursor },
  schema: pageSchema,
});

export const storiesApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    storiesGetStories: build.infiniteQuery<StoryPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ pageParam }) => pageRequest({}, pageParam),
      transformResponse: toStoryPage,
      async onCacheEntryAdded(_, { updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const stop = listen('conversation.deleted', idEventSchema, (event) =>
          updateCachedData(({ pages }) => {
            for (const story of pages.flatMap(({ items }) => items))
              if (story.conversationId === event.id) story.conversationId = null;
          }),
        );
        await cacheEntryRemoved;
        stop();
      },
    }),
    // the first page, with which the check for new stories compares the shown feed
    storiesGetNewest: build.query<StoryPage, void>({
      query: () => pageRequest({}, null),
      transformResponse: toStoryPage,
      keepUnusedDataFor: 0,
    }),
    storiesSearch: build.infiniteQuery<StoryPage, StorySearch, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ queryArg, pageParam }) => pageRequest(searchParams(queryArg), pageParam),
      transformResponse: toStoryPage,
      keepUnusedDataFor: 300,
    }),
    // stories with a conversation; events keep the list up to date, so that returning to 发现 needs no request
    storiesGetRecent: build.query<RecentStory[], void>({
      query: () => ({ url: endpoints.conversations, schema: cursorPageSchema(conversationSchema) }),
      transformResponse: toRecentStories,
      providesTags: ['Conversation'],
      async onCacheEntryAdded(_, { updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const applyMessage = (event: MessageEventDto, hasEnded: boolean) => {
          const message = event.message ?? event;
          const id = String(message.story_id);
          const story = knownStory(id);
          const lastLine = lastLineOf(message.body ?? '');
          const isUnread = hasEnded && message.role === 'assistant' && capabilities.has('conversations.unread');
          updateCachedData((recent) => {
            const recentStory =
              recent.find((each) => each.id === id) ?? (story && toRecentStory(story, String(message.conversation_id)));
            return (
              recentStory && [{ ...recentStory, isUnread, ...(lastLine && { lastLine }) }, ...withoutStory(recent, id)]
            );
          });
        };
        const stop = stopAll(
          listen('message.created', messageEventSchema, (event) => applyMessage(event, false)),
          listen('message.completed', messageEventSchema, (event) => applyMessage(event, true)),
          listen('message.failed', messageEventSchema, (event) => applyMessage(event, true)),
          listen('conversation.updated', conversationEventSchema, ({ conversation }) => {
            // another run of the story becomes the current one
            if (conversation.shelved) dispatch(api.util.invalidateTags(['Conversation']));
            updateCachedData((recent) => {
              const recentStory = recent.find(({ conversationId }) => conversationId === conversation.id);
              if (recentStory) recentStory.isUnread = conversation.unread ?? false;
            });
          }),
          listen('conversation.deleted', idEventSchema, (event) =>
            updateCachedData((recent) => recent.filter(({ conversationId }) => conversationId !== event.id)),
          ),
        );
        await cacheEntryRemoved;
        stop();
      },
    }),
    storiesGetStory: build.query<Story, string>({
      query: (id) => ({ url: endpoints.story(id), schema: singleSchema(storySchema) }),
      transformResponse: toStory,
      providesTags: (_story, _error, id) => [{ type: 'Story', id }],
      // 开始 becomes 继续 with the first message, and 开始 again when the conversation is deleted
      async onCacheEntryAdded(id, { updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const stop = stopAll(
          listen('message.created', messageEventSchema, (event) =>
            updateCachedData((story) => {
              const message = event.message ?? event;
              if (String(message.story_id) === id) story.conversationId = String(message.conversation_id);
            }),
          ),
          listen('conversation.deleted', idEventSchema, (event) =>
            updateCachedData((story) => {
              if (story.conversationId === event.id) story.conversationId = null;
            }),
          ),
        );
        await cacheEntryRemoved;
        stop();
      },
    }),
  }),
});

/**
 * Seeds the feed with the stories in the page (`#liaozhai-first`, the body of `GET /v1/stories`), so that server-rendered cards
 * are never replaced by a skeleton. Later loads of the feed use the API.
 */
export function adoptFirstStories() {
  const element = document.getElementById(PAGE_ELEMENTS.first);
  if (!element?.textContent) return;
  const page = readAs(pageSchema, parseJson(element.textContent));
  if (!page) return;
  const { items, ...rest } = toStoryPage(page);
  const value = { pages: [{ ...rest, items: items.map(asCached) }], pageParams: [null] };
  dispatch(storiesApi.util.upsertQueryEntries([{ endpointName: 'storiesGetStories', arg: undefined, value }]));
  element.remove();
}

/** Returns the story in the page (`#liaozhai-first`). It has no data of the user, which the API adds. */
export function firstStory(): Story | undefined {
  const text = document.getElementById(PAGE_ELEMENTS.first)?.textContent;
  const dto = text ? readAs(singleSchema(storySchema), parseJson(text)) : undefined;
  return dto && asCached(toStory(dto));
}

/** A story of a cached page, which does not know whether a member has begun it. */
const asCached = (story: Story): Story =>
  store.getState().session.status === 'member' ? { ...story, conversationId: undefined } : story;

export function mergeNewest(newest: StoryPage): void {
  const merge = () =>
    dispatch(
      storiesApi.util.updateQueryData('storiesGetStories', undefined, (feed) => {
        const mergedPages = withNewest(feed.pages, newest);
        if (mergedPages.length !== feed.pages.length) feed.pageParams = [null];
        feed.pages = mergedPages;
      }),
    );
  merge();
  // RTK Query applies a page in flight to the pages as they were when it was requested
  void dispatch(storiesApi.util.getRunningQueryThunk('storiesGetStories', undefined))?.then(merge);
}

/** Appends pages that were loaded before below the newest one, which is listed already. Drops them if there is a gap between them. */
export const appendStoredPages = (storedPages: StoryPage[]): void =>
  void dispatch(
    storiesApi.util.updateQueryData('storiesGetStories', undefined, (feed) => {
      const [newest] = feed.pages;
      if (!newest) return;
      feed.pages = withNewest(storedPages, newest);
      feed.pageParams = [null, ...feed.pages.slice(0, -1).map(({ nextCursor }) => nextCursor)];
    }),
  );

const withoutStory = (recent: RecentStory[], id: string) => recent.filter((each) => each.id !== id);

function knownStory(id: string): Story | undefined {
  const state = store.getState();
  return storiesApi.endpoints.storiesGetStory.select(id)(state).data ?? listedStory(state, id);
}

/** Finds a story by id in all cached lists. */
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

/** Stores the latest data under `key` on the device, and returns the stored copy when `isEnabled`. */
export function useDeviceCopy<Content>(key: string, live: Content | undefined, isEnabled: boolean) {
  useEffect(() => {
    if (live !== undefined) void offlineCache.write(key, live);
  }, [key, live]);
  return useKeptCopy<Content>(offlineCache, key, isEnabled);
}
