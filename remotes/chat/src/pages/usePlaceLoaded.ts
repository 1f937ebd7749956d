import { isApiError } from '@liaozhai/shared/runtime';
import { useEffect, useState } from 'react';
import { loadOlder } from '../api/olderPages';
import { storedPosition } from '../components/log/useReadingPosition';
import { keyOf, type Thread } from '../model';

/** Further back than this the reader begins at the end instead of waiting. */
const MOST_PAGES = 12;

/** True once the row where the reader stopped is among the loaded ones, or has proved to be out of reach. */
export function usePlaceLoaded(thread: Thread | undefined): boolean {
  const [isDone, setDone] = useState(false);
  const conversationId = thread?.conversationId;
  const isLoaded = thread !== undefined && (isDone || !needsOlder(thread));
  useEffect(() => {
    if (isLoaded && !isDone) setDone(true);
  }, [isLoaded, isDone]);

  const [pages, setPages] = useState(0);
  const storyId = thread?.storyId;
  const wants = !isLoaded && conversationId !== undefined && storyId !== undefined;
  useEffect(() => {
    if (!wants || storyId === undefined) return;
    if (pages >= MOST_PAGES) return setDone(true);
    loadOlder(storyId).then(
      () => setPages(pages + 1),
      (cause: unknown) => {
        if (!isApiError(cause)) throw cause;
        setDone(true);
      },
    );
  }, [wants, storyId, pages]);
  return isLoaded;
}

function needsOlder(thread: Thread): boolean {
  const position = storedPosition(thread.conversationId);
  if (!position || !thread.hasOlder) return false;
  return !thread.messages.some((message) => keyOf(message) === position.messageId);
}
