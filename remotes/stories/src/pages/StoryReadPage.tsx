import {
  hostConfig,
  isApiError,
  Link,
  paths,
  RemoteSlot,
  share,
  toast,
  useDocumentTitle,
  useExpiredSession,
  useGoBack,
  useParams,
  useScreen,
  useSearchParams,
  useSelector,
  useSession,
} from '@liaozhai/shared/runtime';
import {
  Button,
  ChevronDownIcon,
  EmptyState,
  IconButton,
  QueryView,
  ShareIcon,
  Skeleton,
  TopBar,
  useIsWide,
  useModule,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useEffect, useRef, useState } from 'react';
import { firstStory, listedStory, useDeviceCopy, useStoriesGetStoryQuery } from '../api/stories';
import { StoryBook, StorySkeleton } from '../components/StoryBook';
import { useFavorite } from '../components/useFavorite';
import type { Story } from '../model';
import { texts } from '../texts';
import styles from './StoryReadPage.module.css';

const loadSheet = () => import(/* webpackChunkName: "story.sheet" */ '../components/StorySheet');

export default function StoryReadPage() {
  const { id = '' } = useParams();
  const [search] = useSearchParams();
  const query = useReadableStory(id);
  const { currentData: story, error } = query;
  const chatOpen = search.get('chat') === '1';
  // next to its chat, the story's bar has the only back button, so it closes the chat
  const goBack = useGoBack(chatOpen ? paths.story(id) : paths.explore());
  useDocumentTitle(story?.title);
  if (isApiError(error) && error.kind === 'notFound') return <StoryGone onBack={goBack} />;
  return (
    <div className={clsx(styles.screen, chatOpen && styles.chatting)}>
      {chatOpen && <Conversations storyId={id} />}
      <StoryBar key={id} story={story} onBack={goBack} />
      <QueryView query={query} skeleton={<StorySkeleton />}>
        {(shown) => <StoryBook story={shown} chatOpen={chatOpen} />}
      </QueryView>
      {chatOpen && <StoryChat storyId={id} story={story} onOpen={query.refetch} />}
    </div>
  );
}

function StoryGone({ onBack }: { onBack: () => void }) {
  return (
    <>
      <TopBar title={texts.story.title} onBack={onBack} />
      <EmptyState
        drawing="book"
        text={texts.story.gone}
        action={<Button asLink={<Link to={paths.explore()} />}>{texts.story.toExplore}</Button>}
      />
    </>
  );
}

const pageStory = firstStory();

/**
 * Returns a story from the best available source: the API, the list it was tapped in, the device's copy, the page. The copy comes
 * before the page, since it contains the user's data, which a cached page lacks.
 */
function useReadableStory(id: string) {
  const query = useStoriesGetStoryQuery(id);
  const listedInFeed = useSelector((state) => listedStory(state, id));
  const liveStory = query.currentData;
  const copy = useDeviceCopy(`stories.story.2.${id}`, liveStory, !liveStory);
  const fromPage = pageStory?.id === id ? pageStory : undefined;
  return {
    ...query,
    currentData: liveStory ?? listedInFeed ?? copy.content ?? fromPage,
    error: copy.isPending ? undefined : query.error,
  };
}

async function shareStory({ id, title }: Story) {
  const outcome = await share({
    title,
    text: texts.story.shareText(hostConfig().brand.name, title),
    url: new URL(paths.story(id), location.href).href,
  });
  if (outcome === 'copied') toast(texts.story.copied, { kind: 'success' });
  if (outcome === 'failed') toast(texts.story.shareFailed, { kind: 'error' });
}

/** Transparent over the cover; opaque with the title once the cover has been scrolled out of view. */
function StoryBar({ story, onBack }: { story: Story | undefined; onBack: () => void }) {
  const { scroller } = useScreen();
  const coverEnd = useRef<HTMLSpanElement>(null);
  const [isOverCover, setOverCover] = useState(true);
  useEffect(() => {
    const end = coverEnd.current;
    if (!end) return;
    const observer = new IntersectionObserver(([entry]) => setOverCover(entry?.isIntersecting ?? true), {
      root: scroller.current,
    });
    observer.observe(end);
    return () => observer.disconnect();
  }, [scroller]);
  const favorite = useFavorite(story);
  const variant = isOverCover ? 'clear' : 'veil';
  const iconVariant = isOverCover ? 'veil' : 'plain';
  const actions = story && (
    <>
      {favorite && (
        <IconButton
          label={favorite.label}
          icon={<favorite.Icon size={22} />}
          variant={iconVariant}
          onClick={favorite.toggle}
        />
      )}
      <IconButton
        label={texts.story.share}
        icon={<ShareIcon size={22} />}
        variant={iconVariant}
        onClick={() => void shareStory(story)}
      />
    </>
  );
  return (
    <>
      <TopBar title={story?.title ?? texts.story.title} variant={variant} onBack={onBack} actions={actions} />
      <span ref={coverEnd} className={styles.coverEnd} />
    </>
  );
}

/** In a wide window, the user's other conversations next to the chat. Empty if no remote fills the slot: then the story is shown. */
function Conversations({ storyId }: { storyId: string }) {
  const isMember = useSession().status === 'member';
  const isExpired = useExpiredSession() !== null;
  if (!useIsWide() || !(isMember || isExpired)) return null;
  return (
    <div className={styles.conversations}>
      <RemoteSlot
        name="conversations"
        storyId={storyId}
        waiting={
          <div className={styles.conversationsWaiting}>
            <Skeleton shape="coverRow" />
          </div>
        }
      />
    </div>
  );
}

/** Has the same layout as the chat's own skeleton, which replaces it. */
const chatWaiting = (
  <div className={styles.chatWaiting}>
    <Skeleton count={6} />
  </div>
);

interface StoryChatProps {
  storyId: string;
  story: Story | undefined;
  /** Called when the sheet opens, to fetch the current progress. */
  onOpen: () => unknown;
}

/** The chat, which another remote renders below this bar. The title opens a sheet about the story; the story page stays underneath. */
function StoryChat({ storyId, story, onOpen }: StoryChatProps) {
  const goBack = useGoBack(paths.story(storyId));
  const chat = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const sheet = useModule(loadSheet, isOpen, () => {
    toast(texts.story.sheetFailed, { kind: 'error' });
    close();
  });
  // the pressed link is gone, so the keyboard focus would start at the top of the page or of the list next to the chat
  useEffect(() => {
    if (document.activeElement?.contains(chat.current)) chat.current?.focus({ preventScroll: true });
  }, []);
  const open = () => {
    setOpen(true);
    void onOpen();
  };
  const title = story ? (
    <button
      type="button"
      className={styles.title}
      aria-haspopup="dialog"
      aria-label={texts.story.about(story.title)}
      onClick={open}
    >
      <span className={styles.titleWords}>{story.title}</span>
      <ChevronDownIcon size={16} aria-hidden="true" />
    </button>
  ) : (
    texts.story.title
  );
  return (
    <div ref={chat} className={styles.chat} tabIndex={-1}>
      <div className={styles.chatBar}>
        <TopBar title={title} onBack={goBack} />
      </div>
      <div className={styles.slot}>
        <RemoteSlot name="story.chat" storyId={storyId} waiting={chatWaiting} />
      </div>
      {sheet && story && (
        <sheet.default open={isOpen} story={story} onShare={() => void shareStory(story)} onClose={close} />
      )}
    </div>
  );
}
