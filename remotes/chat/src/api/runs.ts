import type { ConversationDto, CursorPage } from '@liaozhai/shared/contract';
import { api, endpoints, store } from '@liaozhai/shared/runtime';
import { type Conversation, toConversationPage, withCurrentRun } from '../model/conversation';
import { changeConversations, listSchema, loadChatApi, putConversation } from './listApi';

const runsApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    chatGetRuns: build.query<Conversation[], string>({
      async queryFn(story_id, _queryApi, _options, baseQuery) {
        const { data, error } = await baseQuery({
          url: endpoints.conversations,
          params: { story_id },
          schema: listSchema,
        });
        if (error) return { error };
        const { items } = toConversationPage(data as CursorPage<ConversationDto>);
        return { data: items.sort((left, right) => right.run - left.run) };
      },
      keepUnusedDataFor: 0,
    }),
  }),
});

/** Loads a story's runs, the latest first. */
export const { useChatGetRunsQuery } = runsApi;

const { dispatch } = store;

/** Resumes a run in place of the story's current one. Rejects with ApiError. */
export async function resumeRun(run: Pick<Conversation, 'id' | 'storyId'>): Promise<void> {
  await setShelved(run.id, run.storyId, false);
  dispatch(changeConversations((pages) => withCurrentRun(pages, run)));
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
