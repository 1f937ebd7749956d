import { drafts } from '@liaozhai/shared/runtime';
import { useCallback, useEffect, useState } from 'react';

/** What is written and not sent for a story; kept on the device, followed in other tabs. */
export function useDraft(storyId: string): [text: string, write: (text: string) => void] {
  const key = `story.${storyId}`;
  const [draft, setDraft] = useState(() => ({ key, text: drafts.read(key) }));
  useEffect(() => {
    setDraft({ key, text: drafts.read(key) });
    return drafts.subscribe(key, (text) => setDraft({ key, text }));
  }, [key]);
  const write = useCallback(
    (text: string) => {
      setDraft({ key, text });
      drafts.write(key, text);
    },
    [key],
  );
  return [draft.key === key ? draft.text : drafts.read(key), write];
}
