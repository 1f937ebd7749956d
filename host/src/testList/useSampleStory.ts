import { request } from '@liaozhai/shared/runtime';
import { useEffect, useState } from 'react';

/** The id of some story, to fill `:id` with. Undefined until known, or where there is none. */
export function useSampleStory(): string | undefined {
  const [id, setId] = useState<string>();
  useEffect(() => {
    let here = true;
    request<{ data?: { id: unknown }[] }>({ url: '/v1/stories' }).then(
      ({ data }) => here && data?.[0] && setId(String(data[0].id)),
      // the list is of use without it
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, []);
  return id;
}
