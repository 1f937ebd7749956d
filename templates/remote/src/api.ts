import type { CursorPage, StoryDto } from '@liaozhai/shared/contract';
import { UNTITLED } from '@liaozhai/shared/format';
import { api, cursorPageSchema, endpoints, storySchema } from '@liaozhai/shared/runtime';

interface Story {
  id: string;
  title: string;
  summary: string;
}

/** Converts the DTO, so that the API's snake_case names are not used elsewhere. */
const toStory = (dto: StoryDto): Story => ({
  id: dto.id,
  title: dto.title || UNTITLED,
  summary: dto.summary ?? '',
});

const toStories = (page: CursorPage<StoryDto>): Story[] => page.items.map(toStory);

// endpoint names are prefixed with the remote's name, because all remotes share one api
export const sampleApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    sampleGetStories: build.query<Story[], void>({
      query: () => ({ url: endpoints.stories, schema: cursorPageSchema(storySchema) }),
      transformResponse: toStories,
      providesTags: ['Story'],
    }),
  }),
});

export const { useSampleGetStoriesQuery } = sampleApi;
