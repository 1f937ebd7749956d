import type { ApiError } from '@liaozhai/shared/contract';
import { failureText } from '@liaozhai/shared/format';
import {
  cursorPageSchema,
  endpoints,
  infiniteCursorOptions,
  isApiError,
  readAs,
  request,
  requestLogin,
  session,
  singleSchema,
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

/** Saves the choice. A tap that finds the session expired counts once the same user has signed in again. Rejects with ApiError. */
async function putFavorite(id: string, favorite: boolean): Promise<void> {
  const userId = shownUserId();
  const put = async () => {
    const answer = await request({ url: endpoints.favorite(id), method: 'PUT', body: { favorite } });
    const story = readAs(singleSchema(storySchema), answer);
    if (story?.is_favorite === !favorite) throw { kind: 'server', status: 200 } satisfies ApiError;
  };
  await put().catch(async (cause: unknown) => {
    const isExpired = isApiError(cause) && cause.kind === 'unauthenticated' && !session.isUnkept();
    if (!isExpired || !(await requestLogin()) || shownUserId() !== userId) throw cause;
    await put();
  });
}

interface Choice {
  isFavorite: boolean;
  /** resolves with what the server has in the end; null while nothing is being saved */
  saving: Promise<boolean> | null;
}

/** The latest choice of each user for each story. */
const choices = new Map<string, Choice>();

/**
 * Adds or removes a favourite. Shown immediately; a choice made while another is being saved is sent after it. If one fails, it is
 * reverted and a toast shows. A guest signs in first. Returns whether the story is a favourite in the end.
 */
export async function setFavorite(id: string, isFavorite: boolean): Promise<boolean> {
  if (session.current().status !== 'member' && !(await requestLogin())) return !isFavorite;
  const userId = shownUserId();
  const key = `${userId} ${id}`;
  const choice: Choice = choices.get(key) ?? { isFavorite, saving: null };
  choices.set(key, choice);
  choice.isFavorite = isFavorite;
  const updateStory = () => {
    // the story that the next user sees is not changed
    if (shownUserId() !== userId) return;
    store.dispatch(
      storiesApi.util.updateQueryData('storiesGetStory', id, (story) => {
        story.isFavorite = choice.isFavorite;
      }),
    );
  };
  const showChoice = () => {
    updateStory();
    // a response in flight, e.g. after signing in, may contain the former state
    void store.dispatch(storiesApi.util.getRunningQueryThunk('storiesGetStory', id))?.then(updateStory);
  };
  const save = async () => {
    let isSaved = !isFavorite;
    try {
      while (isSaved !== choice.isFavorite) {
        const next = choice.isFavorite;
        await putFavorite(id, next);
        isSaved = next;
      }
      store.dispatch(favoritesApi.util.invalidateTags([favoritesTag]));
      if (isSaved) toast(texts.favorites.saved, { kind: 'success' });
    } catch (cause) {
      choice.isFavorite = isSaved;
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause, isSaved ? texts.favorites.removeFailed : texts.favorites.failed);
      if (problem) toast(problem, { kind: 'error' });
    } finally {
      choice.saving = null;
      showChoice();
    }
    return isSaved;
  };
  showChoice();
  choice.saving ??= save();
  return choice.saving;
}

export const { useStoriesGetFavoritesInfiniteQuery } = favoritesApi;
