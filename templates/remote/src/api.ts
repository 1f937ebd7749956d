import { api, cursorPageSchema, endpoints, storySchema } from '@liaozhai/shared/runtime';
import { type Story, toStories } from './model';

// endpoint names carry the remote's name, because all remotes share one api
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
