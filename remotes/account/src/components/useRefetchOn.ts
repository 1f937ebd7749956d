import { anyPayload, listen, onCaughtUpNeeded } from '@liaozhai/shared/runtime';
import { stopAll } from '@liaozhai/shared/ui';
import { useEffect } from 'react';

/** Fetches again on each such event, and when events may have been missed. */
export function useRefetchOn(event: 'user.updated' | 'session.ended' | 'ticket.answered', refetch: () => unknown) {
  useEffect(() => {
    const refetchNow = () => void refetch();
    return stopAll(listen(event, anyPayload, refetchNow), onCaughtUpNeeded(refetchNow));
  }, [event, refetch]);
}
