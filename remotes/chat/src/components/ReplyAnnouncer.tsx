import { VisuallyHidden } from '@liaozhai/shared/ui';
import { useEffect, useRef, useState } from 'react';
import { isRunning, type Message } from '../model';
import { texts } from '../texts';

/** Tells a screen reader that a reply has begun and that it has ended: two announcements, not one per piece. */
export function ReplyAnnouncer({ last }: { last: Message | undefined }) {
  const [announced, setAnnounced] = useState('');
  const wasRunning = useRef<string | null>(null);
  const runningId = last && isRunning(last) ? last.id : null;
  const failed = last?.status === 'failed' || last?.status === 'cancelled';
  useEffect(() => {
    if (runningId !== null && wasRunning.current !== runningId) setAnnounced(texts.state.announceRunning);
    if (runningId === null && wasRunning.current !== null) {
      setAnnounced(failed ? texts.state.announceFailed : texts.state.announceDone);
    }
    wasRunning.current = runningId;
  }, [runningId, failed]);
  return (
    <div role="status">
      <VisuallyHidden>{announced}</VisuallyHidden>
    </div>
  );
}
