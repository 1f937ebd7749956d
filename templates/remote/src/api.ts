import { api, toCursorPage } from '@liaozhai/shared/runtime';
import { type Story, type StoryDto, toStory } from './model';

// endpoint names carry the remote's name, because all remotes share one api
export const sampleApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    sampleGetStories: build.query<Story[], void>({
      query: () => '/v1/stories',
      transformResponse: (body) => toCursorPage(body).items.map((item) => toStory(item as StoryDto)),
      providesTags: ['Story'],
    }),
  }),
});

export const { useSampleGetStoriesQuery } = sampleApi;
