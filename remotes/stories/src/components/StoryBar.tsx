import { paths, share, toast, useScreen } from '@liaozhai/shared/runtime';
import { IconButton, ShareIcon, TopBar } from '@liaozhai/shared/ui';
import { useEffect, useRef, useState } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';
import styles from './StoryBar.module.css';

async function shareStory({ id, title }: Story) {
  const outcome = await share({
    title,
    text: texts.story.shareText(title),
    url: new URL(paths.story(id), location.href).href,
  });
  if (outcome === 'copied') toast(texts.story.copied, { kind: 'success' });
  if (outcome === 'failed') toast(texts.story.shareFailed, { kind: 'error' });
}

/** Clear over the cover, veiled with the title once the cover has been scrolled away. */
export function StoryBar({ story, onBack }: { story: Story | undefined; onBack: () => void }) {
  const { scroller } = useScreen();
  const coverEnd = useRef<HTMLSpanElement>(null);
  const [overCover, setOverCover] = useState(true);
  useEffect(() => {
    const end = coverEnd.current;
    if (!end) return;
    const observer = new IntersectionObserver(([entry]) => setOverCover(entry?.isIntersecting ?? true), {
      root: scroller.current,
    });
    observer.observe(end);
    return () => observer.disconnect();
  }, [scroller]);
  const variant = overCover ? 'clear' : 'veil';
  const actions = story && (
    <IconButton
      label={texts.story.share}
      icon={<ShareIcon size={22} />}
      variant={overCover ? 'veil' : 'plain'}
      onClick={() => void shareStory(story)}
    />
  );
  return (
    <>
      <TopBar title={story?.title ?? texts.story.title} variant={variant} onBack={onBack} actions={actions} />
      <span ref={coverEnd} className={styles.coverEnd} />
    </>
  );
}
