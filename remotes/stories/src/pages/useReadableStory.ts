import { useSelector } from '@liaozhai/shared/runtime';
import { storiesApi, useStoriesGetStoryQuery } from '../api';
import type { Story } from '../model';
import { useDeviceCopy } from './useDeviceCopy';

const selectFeed = storiesApi.endpoints.storiesGetStories.select();

/** A story from wherever it can be had soonest: the server's answer, the feed it was tapped in, the device's copy. */
export function useReadableStory(id: string) {
  const query = useStoriesGetStoryQuery(id);
  const fromFeed = useSelector((state): Story | undefined => {
    for (const page of selectFeed(state).data?.pages ?? []) {
      const found = page.items.find((story) => story.id === id);
      if (found) return found;
    }
  });
  const live = query.currentData;
  const copy = useDeviceCopy(`stories.story.1.${id}`, live, query.isError && !live);
  return { story: live ?? fromFeed ?? copy, error: query.error, isFetching: query.isFetching, refetch: query.refetch };
}
