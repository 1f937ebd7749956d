import { useSession } from '@liaozhai/shared/runtime';
import { QueryView, Skeleton } from '@liaozhai/shared/ui';
import { useMemo } from 'react';
import { useChatGetStoryQuery, useChatGetThreadQuery } from '../api';
import { ChatView } from '../components/ChatView';
import { emptyThread, type Story } from '../model';
import { texts } from '../texts';
import styles from './StoryChatPage.module.css';
import { useChatSync } from './useChatSync';
import { useDeletionSettled } from './useDeletionSettled';
import { usePlaceLoaded } from './usePlaceLoaded';

/** The chat of one story, for the slot `story.chat`; fills the room it is given. */
export default function StoryChatPage({ storyId }: { storyId: string }) {
  return <StoryChat key={storyId} storyId={storyId} />;
}

function StoryChat({ storyId }: { storyId: string }) {
  const isMember = useSession().status === 'member';
  const storyQuery = useChatGetStoryQuery(storyId);
  const isSettled = useDeletionSettled(storyId);
  const memberThread = useChatGetThreadQuery(storyId, { skip: !isMember || !isSettled });
  const guestThread = useMemo(() => emptyThread(storyId), [storyId]);
  const thread = isMember ? memberThread.currentData : guestThread;
  const story = storyQuery.currentData ?? (storyQuery.isError ? nameless(storyId) : undefined);
  const isPlaceLoaded = usePlaceLoaded(thread);
  useChatSync(storyId);

  const both = useMemo(
    () => (story && thread && isPlaceLoaded ? { story, thread } : undefined),
    [story, thread, isPlaceLoaded],
  );
  const failed = memberThread.isError ? memberThread : storyQuery;
  const query = {
    currentData: both,
    error: both || (memberThread.isFetching && !memberThread.isError) ? undefined : failed.error,
    isFetching: !isSettled || memberThread.isFetching || storyQuery.isFetching,
    refetch: failed.refetch,
  };
  return (
    <div className={styles.chat}>
      <QueryView query={query} skeleton={<ChatSkeleton />}>
        {({ story, thread }) => (
          <ChatView key={isMember ? 'member' : 'guest'} story={story} thread={thread} isMember={isMember} />
        )}
      </QueryView>
    </div>
  );
}

/** The conversation can go on when its story cannot be had just now. */
const nameless = (id: string): Story => ({
  id,
  title: texts.chat.nameless,
  coverUrl: '',
  opening: '',
  speaker: { name: texts.chat.nameless, avatarUrl: '' },
  pricePerMessage: undefined,
});

const ChatSkeleton = () => (
  <div className={styles.skeleton}>
    <Skeleton shape="text" count={6} label={texts.chat.loading} />
  </div>
);
