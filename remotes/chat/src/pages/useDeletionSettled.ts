import { useEffect, useState } from 'react';
import { isDeleting, settleDeletion } from '../api/deletions';

/** Carries out the deletion of this story's conversation when its chat shows; false until the server has answered, so that the next line begins a new one. */
export function useDeletionSettled(storyId: string): boolean {
  const [isSettled, setSettled] = useState(() => !isDeleting(storyId));
  useEffect(() => {
    setSettled(!isDeleting(storyId));
    void settleDeletion(storyId).finally(() => setSettled(true));
  }, [storyId]);
  return isSettled;
}
