import { paths, RemoteSlot, useGoBack } from '@liaozhai/shared/runtime';
import { TopBar } from '@liaozhai/shared/ui';
import { useEffect, useRef } from 'react';
import styles from './StoryChat.module.css';

/** The chat over its story: another team's part under our bar. The story stays below, where the reader left it. */
export function StoryChat({ storyId, title }: { storyId: string; title: string }) {
  const goBack = useGoBack(paths.story(storyId));
  const chat = useRef<HTMLDivElement>(null);
  // the link that was pressed is gone, so the keyboard would start from the page's top
  useEffect(() => {
    if (document.activeElement === document.body) chat.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div ref={chat} className={styles.chat} tabIndex={-1}>
      <TopBar title={title} onBack={goBack} />
      <div className={styles.slot}>
        <RemoteSlot name="story.chat" storyId={storyId} />
      </div>
    </div>
  );
}
