import {
  type AppDispatch,
  api,
  cursorPage,
  infiniteCursorOptions,
  listen,
  store,
  unwrap,
} from '@liaozhai/shared/runtime';
import { type Story, type StoryDto, type StoryPage, toStory, withNewest } from './model';

interface MessageDto {
  story_id: string | number;
  conversation_id: string | number;
}

/** `message.created`, as much of it as matters here: the message itself, or an envelope around it. */
type MessageEventDto = Partial<MessageDto> & { message?: MessageDto };

/** `conversation.deleted` */
interface DeletionEventDto {
  id: string | number;
}

const parsePage = cursorPage((item) => toStory(item as StoryDto));

export const storiesApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    storiesGetStories: build.infiniteQuery<StoryPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ pageParam }) => ({ url: '/v1/stories', params: pageParam === null ? {} : { cursor: pageParam } }),
      transformResponse: parsePage,
    }),
    // the first page by itself: what a look for new stories compares the shown feed with
    storiesGetNewest: build.query<StoryPage, void>({
      query: () => '/v1/stories',
      transformResponse: parsePage,
      keepUnusedDataFor: 0,
    }),
    storiesGetStory: build.query<Story, string>({
      query: (id) => `/v1/stories/${encodeURIComponent(id)}`,
      transformResponse: (body) => toStory(unwrap(body) as StoryDto),
      providesTags: (_story, _error, id) => [{ type: 'Story', id }],
      // 开始 becomes 继续 with the first message, and 开始 again when the conversation is deleted
      async onCacheEntryAdded(id, { updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const stops = [
          listen<MessageEventDto>('message.created', (event) =>
            updateCachedData((story) => {
              const message = event.message ?? event;
              if (String(message.story_id) === id) story.conversationId = String(message.conversation_id);
            }),
          ),
          listen<DeletionEventDto>('conversation.deleted', (event) =>
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
 * Starts the feed from the stories the page itself brought (`#liaozhai-first`, the body of `GET /v1/stories`),
 * so that cards drawn by the server never make way for a skeleton. Later loads of the feed ask the server.
 */
export function adoptFirstStories() {
  const element = document.getElementById('liaozhai-first');
  if (!element?.textContent) return;
  const value = { pages: [parsePage(JSON.parse(element.textContent))], pageParams: [null] };
  store.dispatch(storiesApi.util.upsertQueryEntries([{ endpointName: 'storiesGetStories', arg: undefined, value }]));
  element.remove();
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

export const { useStoriesGetStoriesInfiniteQuery, useStoriesGetStoryQuery } = storiesApi;
