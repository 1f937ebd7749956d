import {
  offlineCache,
  useCapability,
  useExpiredSession,
  useOnline,
  useRealtimeStatus,
  useScreen,
  useSelector,
  useSession,
} from '@liaozhai/shared/runtime';
import { listenTo, QueryView, Skeleton, useKeptCopy } from '@liaozhai/shared/ui';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import {
  cachedThread,
  markAsRead,
  selectThread,
  storyCacheKey,
  threadCacheKey,
  useChatGetStoryQuery,
  useChatGetThreadQuery,
} from '../api/chatApi';
import { deletions } from '../api/deletions';
import { expectApiError } from '../api/failures';
import { outbox } from '../api/outbox';
import { threadSyncs } from '../api/threadSync';
import { ChatView } from '../components/ChatView';
import { storedPosition } from '../components/virtualLog';
import { keyOf } from '../model/message';
import type { Story } from '../model/story';
import { emptyThread, type Thread } from '../model/thread';
import { texts } from '../texts';
import styles from './StoryChatPage.module.css';

/** The chat of one story, for the slot `story.chat`; fills its container. */
export default function StoryChatPage({ storyId }: { storyId: string }) {
  return <StoryChat key={storyId} storyId={storyId} />;
}

function StoryChat({ storyId }: { storyId: string }) {
  const isMember = useSession().status === 'member';
  const storyQuery = useChatGetStoryQuery(storyId);
  const isSettled = useDeletionSettled(storyId);
  const memberThread = useChatGetThreadQuery(storyId, { skip: !isMember || !isSettled });
  const expiredThread = useExpiredThread(storyId);
  const guestThread = useMemo(() => emptyThread(storyId), [storyId]);
  // the device's copy shows immediately, since offline requests fail only after a timeout
  const storyCopy = useKeptCopy<Story>(offlineCache, storyCacheKey(storyId), !storyQuery.currentData);
  const needsThread = isMember && isSettled && !memberThread.currentData;
  const threadCopy = useKeptCopy<Thread>(offlineCache, threadCacheKey(storyId), needsThread);
  const copy = needsThread ? threadCopy.content : undefined;
  const shownCopy = copy && !needsOlder(copy) ? copy : undefined;
  const thread = isMember ? (memberThread.currentData ?? shownCopy) : (expiredThread ?? guestThread);
  const knownStory = storyQuery.currentData ?? storyCopy.content;
  const story = knownStory ?? (storyQuery.isError ? placeholderStory(storyId) : undefined);
  const isPositionLoaded = usePositionLoaded(thread);
  useChatSync(storyId);
  useReading(isMember ? memberThread.currentData : undefined);

  const content = useMemo(
    () => (story && thread && isPositionLoaded ? { story, thread } : undefined),
    [story, thread, isPositionLoaded],
  );
  const failedQuery = memberThread.isError ? memberThread : storyQuery;
  const isWhole = content !== undefined && knownStory !== undefined && !(shownCopy && memberThread.isError);
  const query = {
    currentData: content,
    error: isWhole || (memberThread.isFetching && !memberThread.isError) ? undefined : failedQuery.error,
    isFetching: !isSettled || memberThread.isFetching || storyQuery.isFetching || threadCopy.isPending,
    refetch: failedQuery.refetch,
  };
  return (
    <div className={styles.chat}>
      <QueryView query={query} skeleton={skeleton}>
        {({ story, thread }) => (
          <ChatView
            key={`${isMember || expiredThread ? 'member' : 'guest'} ${thread.leftId ?? ''}`}
            story={story}
            thread={thread}
            isCopy={thread === shownCopy}
            isMember={isMember}
          />
        )}
      </QueryView>
    </div>
  );
}

/** The thread that was loaded before the session expired, if still cached. */
function useExpiredThread(storyId: string): Thread | undefined {
  const isExpired = useExpiredSession() !== null;
  const select = useMemo(() => selectThread(storyId), [storyId]);
  const thread = useSelector(select).data;
  return isExpired ? thread : undefined;
}

/** Placeholder, so that the conversation is usable if its story cannot be loaded. */
const placeholderStory = (id: string): Story => ({
  id,
  title: texts.chat.nameless,
  coverUrl: '',
  opening: '',
  openingLines: [],
  speaker: { name: texts.chat.nameless, avatarUrl: '' },
  pricePerMessage: undefined,
});

const skeleton = (
  <div className={styles.skeleton}>
    <Skeleton shape="text" count={6} label={texts.chat.loading} />
  </div>
);

/** Polling interval while no socket reports changes from other devices. */
const POLL_SECONDS = 15;

/** Starts the outbox and, without a live socket, polls for changes. */
function useChatSync(storyId: string): void {
  const isLive = useRealtimeStatus() === 'live';
  useEffect(() => outbox.start(), []);
  useEffect(() => threadSyncs.setSocketLive(isLive), [isLive]);
  useEffect(() => {
    if (isLive) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void threadSyncs.of(storyId)?.catchUp();
    }, POLL_SECONDS * 1000);
    return () => clearInterval(timer);
  }, [isLive, storyId]);
}

/** Marks the thread as read while the chat is visible. */
function useReading(thread: Thread | undefined): void {
  const canMark = useCapability('conversations.unread');
  const { isActive } = useScreen();
  const isOnline = useOnline();
  const version = thread?.version;
  const markIfVisible = useEffectEvent(() => {
    if (document.visibilityState === 'visible' && thread) markAsRead(thread);
  });
  useEffect(() => {
    if (!canMark || !isActive || !isOnline || version === undefined) return;
    markIfVisible();
    return listenTo(document, ['visibilitychange'], () => markIfVisible());
  }, [canMark, isActive, isOnline, version]);
}

/** Carries out a pending deletion of this story's conversation. Returns false until it is done, so that the next line starts a new one. */
function useDeletionSettled(storyId: string): boolean {
  const [isSettled, setSettled] = useState(() => !deletions.isDeleting(storyId));
  useEffect(() => {
    setSettled(!deletions.isDeleting(storyId));
    void deletions.settle(storyId).finally(() => setSettled(true));
  }, [storyId]);
  return isSettled;
}

/** Pages to load for the stored position; if it is further back, the chat opens at the end. */
const MAX_PAGES = 12;

/** True once the row of the stored position has loaded or cannot be reached. */
function usePositionLoaded(thread: Thread | undefined): boolean {
  const [isDone, setDone] = useState(false);
  const isLoaded = thread !== undefined && (isDone || !needsOlder(thread));
  const storyId = thread?.storyId;
  useEffect(() => {
    if (isDone || storyId === undefined) return;
    if (isLoaded) setDone(true);
    else
      void loadPosition(storyId)
        .catch(expectApiError)
        .finally(() => setDone(true));
  }, [isDone, isLoaded, storyId]);
  return isLoaded;
}

async function loadPosition(storyId: string): Promise<void> {
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const thread = cachedThread(storyId);
    if (!thread || !needsOlder(thread)) return;
    await threadSyncs.of(storyId)?.loadOlder();
  }
}

function needsOlder(thread: Thread): boolean {
  const position = storedPosition(thread.conversationId);
  if (!position || !thread.hasOlder) return false;
  return !thread.messages.some((message) => keyOf(message) === position.messageId);
}
