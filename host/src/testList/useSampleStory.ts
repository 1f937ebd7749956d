import { cursorPageSchema, endpoints, storySchema } from '@liaozhai/shared/contract';
import { request } from '@liaozhai/shared/runtime';
import { useEffect, useState } from 'react';

/** The id of some story, to fill `:id` with. Undefined until known, or where there is none. */
export function useSampleStory(): string | undefined {
  const [id, setId] = useState<string>();
  useEffect(() => {
    let here = true;
    request({ url: endpoints.stories, schema: cursorPageSchema(storySchema) }).then(
      ({ items: [story] }) => here && story && setId(String(story.id)),
      // the list is of use without it
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, []);
  return id;
}
