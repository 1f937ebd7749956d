import { failureText } from '@liaozhai/shared/format';
import {
  cursorPageSchema,
  endpoints,
  infiniteCursorOptions,
  isApiError,
  request,
  requestLogin,
  session,
  store,
  storySchema,
  toast,
} from '@liaozhai/shared/runtime';
import { type StoryPage, toStoryPage } from '../model';
import { texts } from '../texts';
import { storiesApi } from './stories';

const pageSchema = cursorPageSchema(storySchema);

/** What is listed under 收藏. */
const list = { type: 'Story', id: 'favorites' } as const;

const favoritesApi = storiesApi.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    storiesGetFavorites: build.infiniteQuery<StoryPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ pageParam }) => ({
        url: endpoints.favorites,
        params: pageParam === null ? {} : { cursor: pageParam },
        schema: pageSchema,
      }),
      transformResponse: toStoryPage,
      providesTags: [list],
    }),
  }),
});

/** Saves a story or lets it go; shown immediately, and undone with a message if it fails. A guest signs in first. */
export async function setFavorite(id: string, isFavorite: boolean): Promise<void> {
  if (session.current().status !== 'member' && !(await requestLogin())) return;
  const put = (shown: boolean) =>
    store.dispatch(
      storiesApi.util.updateQueryData('storiesGetStory', id, (story) => {
        story.isFavorite = shown;
      }),
    );
  put(isFavorite);
  try {
    await request({ url: endpoints.favorite(id), method: 'PUT', body: { favorite: isFavorite } });
    store.dispatch(favoritesApi.util.invalidateTags([list]));
    if (isFavorite) toast(texts.favorites.saved, { kind: 'success' });
    // an answer that is on its way, as after a sign-in, may be older
    await store.dispatch(storiesApi.util.getRunningQueryThunk('storiesGetStory', id));
    put(isFavorite);
  } catch (cause) {
    put(!isFavorite);
    if (!isApiError(cause)) throw cause;
    const problem = failureText(cause, isFavorite ? texts.favorites.failed : texts.favorites.removeFailed);
    if (problem) toast(problem, { kind: 'error' });
  }
}

export const { useStoriesGetFavoritesInfiniteQuery } = favoritesApi;
