import { useLayoutEffect, useRef } from 'react';
import { indexOfKey, isRunning, keyOf, type Log } from '../../model';
import type { Follower } from './Follower';
import type { LogVirtualizer } from './useVirtualLog';

/** After each commit, before its paint: measures what grew at the end and lets the view follow. */
export function useTailFollowing(follower: Follower, list: LogVirtualizer, log: Log): void {
  const last = log.messages.at(-1);
  const lastLine = log.lines.at(-1);
  const replyKey = last && isRunning(last) && last.revision === 1 ? keyOf(last) : null;
  const shown = useRef<{ last: unknown; lineId?: string; replyKey: string | null } | null>(null);

  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = { last, lineId: lastLine?.clientId, replyKey };
    follower.attach(list, (key) => indexOfKey(log, key));
    if (!before) return follower.follow();
    // who sends wants to see what they sent and what comes of it
    if (lastLine && lastLine.clientId !== before.lineId) follower.pin();
    if (replyKey !== null && replyKey !== before.replyKey) follower.limitTo(replyKey);
    if (last === before.last && lastLine?.clientId === before.lineId) return;
    measureLast(list, log);
    follower.grew();
  }, [follower, list, log, last, lastLine, replyKey]);
}

/** The list learns of the growth now and not after the paint, so that the end never runs ahead of the view. */
function measureLast(list: LogVirtualizer, log: Log): void {
  const last = log.messages.at(-1);
  const element = last && list.elementsCache.get(keyOf(last));
  if (last && element?.isConnected) list.resizeItem(indexOfKey(log, keyOf(last)), element.offsetHeight);
}
