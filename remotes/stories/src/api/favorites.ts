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

/** Tag of the list 收藏. */
const favoritesTag = { type: 'Story', id: 'favorites' } as const;

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
      providesTags: [favoritesTag],
    }),
  }),
});

/** Id of the user, also after the session has expired; undefined for a guest. */
const shownUserId = () => {
  const current = session.current();
  if (current.status === 'member') return current.user.id;
  return current.status === 'guest' ? current.expired?.id : undefined;
};

/**
 * Adds or removes a favourite. Shown immediately; if it fails, it is reverted and a toast shows. A guest signs in first. Returns
 * whether it is done.
 */
export async function setFavorite(id: string, isFavorite: boolean): Promise<boolean> {
  if (session.current().status !== 'member' && !(await requestLogin())) return false;
  const userId = shownUserId();
  const showFavorite = (shown: boolean) => {
    // the story that the next user sees is not changed
    if (shownUserId() !== userId) return;
    store.dispatch(
      storiesApi.util.updateQueryData('storiesGetStory', id, (story) => {
        story.isFavorite = shown;
      }),
    );
  };
  showFavorite(isFavorite);
  try {
    await request({ url: endpoints.favorite(id), method: 'PUT', body: { favorite: isFavorite } });
    store.dispatch(favoritesApi.util.invalidateTags([favoritesTag]));
    if (isFavorite) toast(texts.favorites.saved, { kind: 'success' });
    // a response in flight, e.g. after signing in, may contain the former state
    await store.dispatch(storiesApi.util.getRunningQueryThunk('storiesGetStory', id));
    showFavorite(isFavorite);
    return true;
  } catch (cause) {
    showFavorite(!isFavorite);
    if (!isApiError(cause)) throw cause;
    const problem = failureText(cause, isFavorite ? texts.favorites.failed : texts.favorites.removeFailed);
    if (problem) toast(problem, { kind: 'error' });
    return false;
  }
}

export const { useStoriesGetFavoritesInfiniteQuery } = favoritesApi;
