import { useRealtimeStatus, useSelector } from '@liaozhai/shared/runtime';
import { useEffect } from 'react';
import { selectThread } from '../api';
import { sendWaiting } from '../api/drain';
import { startOutbox } from '../api/outbox';
import { catchUp, socketChanged } from '../api/threads';
import { runningMessage } from '../model';

/** While no socket tells of what other devices write. */
const LOOK_SECONDS = 15;

/** What a chat needs going while it shows: the outbox, the right pace of looking, the next line once a reply is done. */
export function useChatSync(storyId: string): void {
  const isLive = useRealtimeStatus() === 'live';
  const isBusy = useSelector((state) => {
    const thread = selectThread(storyId)(state).data;
    return thread !== undefined && runningMessage(thread) !== undefined;
  });
  useEffect(startOutbox, []);
  useEffect(() => socketChanged(isLive), [isLive]);
  useEffect(() => {
    if (!isBusy) sendWaiting();
  }, [isBusy]);
  useEffect(() => {
    if (isLive) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void catchUp(storyId);
    }, LOOK_SECONDS * 1000);
    return () => clearInterval(timer);
  }, [isLive, storyId]);
}
