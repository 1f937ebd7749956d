import { useRealtimeStatus } from '@liaozhai/shared/runtime';
import { useEffect } from 'react';
import { startOutbox } from '../api/outbox';
import { catchUp, socketChanged } from '../api/threads';

/** While no socket tells of what other devices write. */
const LOOK_SECONDS = 15;

/** What a chat needs going while it shows: the outbox and the right pace of looking. */
export function useChatSync(storyId: string): void {
  const isLive = useRealtimeStatus() === 'live';
  useEffect(startOutbox, []);
  useEffect(() => socketChanged(isLive), [isLive]);
  useEffect(() => {
    if (isLive) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void catchUp(storyId);
    }, LOOK_SECONDS * 1000);
    return () => clearInterval(timer);
  }, [isLive, storyId]);
}
