import { inSentence } from '@liaozhai/shared/format';
import { Link, paths } from '@liaozhai/shared/runtime';
import { Button, Cover, Foreign, useCoverColor } from '@liaozhai/shared/ui';
import { useCallback, useLayoutEffect, useRef } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';
import { growFromCard } from './coverMotion';
import styles from './StoryBook.module.css';

/** First view of a story's page. Prerendered by the server, with the same layout as `StoryBook`. */
export const StoryFront = ({ story }: { story: Story }) => (
  <article className={styles.book}>
    <div className={styles.front}>
      <StoryHead story={story} />
    </div>
    <div className={styles.body}>
      <p className={styles.summary}>
        <Foreign long>{story.summary}</Foreign>
      </p>
    </div>
    <div className={styles.action}>
      {/* the API may omit the price */}
      <p className={styles.cost} />
      <Button asLink={<Link to={paths.storyChat(story.id)} />}>
        <span data-for="guest">{texts.story.start}</span>
        <span data-for="member">{texts.story.enter}</span>
      </Button>
    </div>
  </article>
);

/** Cover up to the screen's edge, then title, author and tags, which link to their stories if `tagPath` is given. */
export function StoryHead({ story, tagPath }: { story: Story; tagPath?: ((tag: string) => string) | undefined }) {
  const plate = useRef<HTMLDivElement>(null);
  const color = useCoverColor(story.title, story.coverColor);
  const place = useCallback(
    (element: HTMLDivElement | null) => {
      plate.current = element;
      color(element);
    },
    [color],
  );
  // also runs when a kept page is shown again
  useLayoutEffect(() => {
    if (plate.current) growFromCard(plate.current, story.id);
  }, [story.id]);
  return (
    <header>
      <div ref={place} className={styles.plate}>
        {story.coverUrl && <img className={styles.glow} src={story.coverUrl} alt="" />}
        <Cover
          className={styles.cover}
          src={story.coverUrl}
          title={story.title}
          color={story.coverColor}
          eager
          decorative
        />
      </div>
      <div className={styles.headWords}>
        {/* the top bar contains the title for screen readers */}
        <p className={styles.headTitle} aria-hidden="true">
          <Foreign>{story.title}</Foreign>
        </p>
        {story.authorName && <p className={styles.author}>{texts.story.by(story.authorName)}</p>}
        {story.tags.length > 0 && (
          <ul className={styles.tags} aria-label={texts.story.tags}>
            {story.tags.map((tag) => (
              <li key={tag}>
                {tagPath ? (
                  <Link className={styles.tag} to={tagPath(tag)} aria-label={texts.story.tag(tag)}>
                    {inSentence(tag)}
                  </Link>
                ) : (
                  inSentence(tag)
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </header>
  );
}
