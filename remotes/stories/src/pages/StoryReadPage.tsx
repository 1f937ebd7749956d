import { anyErrorText } from '@liaozhai/shared/format';
import {
  isApiError,
  Link,
  paths,
  useDocumentTitle,
  useGoBack,
  useParams,
  useSearchParams,
} from '@liaozhai/shared/runtime';
import { Button, EmptyState, ErrorFace, ErrorRow, TopBar } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { StoryBar } from '../components/StoryBar';
import { StoryBook } from '../components/StoryBook';
import { StoryChat } from '../components/StoryChat';
import { StorySkeleton } from '../components/StorySkeleton';
import { texts } from '../texts';
import styles from './StoryReadPage.module.css';
import { useReadableStory } from './useReadableStory';

export default function StoryReadPage() {
  const { id = '' } = useParams();
  const [search] = useSearchParams();
  const { story, error, isFetching, refetch } = useReadableStory(id);
  const goBack = useGoBack(paths.explore());
  useDocumentTitle(story?.title);
  if (isApiError(error) && error.kind === 'notFound') return <StoryGone onBack={goBack} />;

  const Failed = story ? ErrorRow : ErrorFace;
  const chatOpen = search.get('chat') === '1';
  return (
    <div className={clsx(styles.screen, chatOpen && styles.chatting)}>
      <StoryBar key={id} story={story} onBack={goBack} />
      {story && <StoryBook story={story} chatOpen={chatOpen} />}
      {!story && !error && <StorySkeleton />}
      {error && (
        <div className={styles.error}>
          <Failed text={anyErrorText(error)} onRetry={refetch} retrying={isFetching} />
        </div>
      )}
      {chatOpen && <StoryChat storyId={id} title={story?.title ?? texts.story.title} />}
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
