import { paths, RemoteSlot, useGoBack } from '@liaozhai/shared/runtime';
import { TopBar } from '@liaozhai/shared/ui';
import styles from './StoryChat.module.css';

/** The chat over its story: another team's part under our bar. The story stays below, where the reader left it. */
export function StoryChat({ storyId, title }: { storyId: string; title: string }) {
  const goBack = useGoBack(paths.story(storyId));
  return (
    <div className={styles.chat}>
      <TopBar title={title} onBack={goBack} />
      <div className={styles.slot}>
        <RemoteSlot name="story.chat" storyId={storyId} />
      </div>
    </div>
  );
}
