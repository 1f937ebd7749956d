import type { Position } from '@liaozhai/shared/runtime';
import { memo, type ReactNode, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { indexOfKey, type Log, type Row, rowAt } from '../../model';
import { texts } from '../../texts';
import styles from './ChatLog.module.css';
import { Follower } from './Follower';
import { OlderMark } from './OlderMark';
import { ToEndPill } from './ToEndPill';
import type { Older } from './useOlder';
import { firstOffset, storedPosition, usePlacing, usePositionSaving } from './useReadingPosition';
import { useTailFollowing } from './useTailFollowing';
import { useVirtualLog } from './useVirtualLog';

const OLDER_MARK_PX = 64;
/** Older messages are fetched when fewer screens than this are left above. */
const SCREENS_AHEAD = 2;

/** Reachable by keyboard, since it scrolls; silent, since ReplyAnnouncer speaks for it. */
const logRegion = { role: 'log', tabIndex: 0, 'aria-live': 'off', 'aria-label': texts.chat.log } as const;

export interface ChatLogProps {
  conversationId: string | null;
  log: Log;
  older: Older;
  children: (row: Row) => ReactNode;
}

/** The conversation as a list of ten thousand rows of which some twenty exist. */
export const ChatLog = memo(function ChatLog({ conversationId, log, older, children }: ChatLogProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [position] = useState(() => storedPosition(conversationId));
  const [follower] = useState(() => new Follower(startsAtEnd(log, position)));
  const view = useSyncExternalStore(follower.subscribe, follower.state);
  const paddingStart = older.hasOlder ? OLDER_MARK_PX : 0;
  const list = useVirtualLog({
    log,
    scroller,
    paddingStart,
    initialOffset: () => (isBlank(log) ? 0 : firstOffset(log, position, paddingStart)),
    onResized: follower.follow,
    onViewResized: follower.viewResized,
    onPlaced: follower.placed,
  });
  useTailFollowing(follower, list, log);
  usePlacing(list, log, position);
  const saveSoon = usePositionSaving(
    list,
    conversationId,
    useCallback(() => follower.state().atEnd, [follower]),
  );

  const askOlder = useCallback(() => {
    const element = scroller.current;
    if (older.hasOlder && element && element.scrollTop < element.clientHeight * SCREENS_AHEAD) older.load();
  }, [older]);
  useEffect(() => {
    if (log.messages.length > 0) askOlder();
  }, [askOlder, log.messages]);
  const onScroll = () => {
    follower.scrolled();
    saveSoon();
    askOlder();
  };
  const goToEnd = () => {
    follower.pin();
    list.scrollToEnd({ behavior: view.unseen ? 'auto' : 'smooth' });
  };

  return (
    <div className={styles.frame}>
      <div {...logRegion} ref={scroller} className={styles.scroller} onScroll={onScroll}>
        {older.hasOlder && <OlderMark older={older} />}
        <div ref={list.containerRef} className={styles.rows}>
          {list.getVirtualItems().map(({ key, index }) => {
            const row = rowAt(log, index);
            return (
              <div key={key} data-index={index} ref={list.measureElement} className={styles.row}>
                {row && children(row)}
              </div>
            );
          })}
        </div>
      </div>
      {!view.atEnd && !isBlank(log) && <ToEndPill isNew={view.unseen} onPress={goToEnd} />}
    </div>
  );
});

/** Nothing but the opening, which is read from its beginning. */
const isBlank = ({ messages, lines }: Log) => messages.length + lines.length === 0;

const startsAtEnd = (log: Log, position: Position | undefined) =>
  !isBlank(log) && (position === undefined || indexOfKey(log, position.messageId) < 0);
