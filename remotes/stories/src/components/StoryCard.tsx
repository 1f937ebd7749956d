import { Link, paths } from '@liaozhai/shared/runtime';
import { Cover } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo } from 'react';
import { type Story, teaserOf } from '../model';
import { texts } from '../texts';
import styles from './StoryCard.module.css';

interface StoryCardProps {
  story: Story;
  /** The first story: as wide as the feed, with its whole summary. */
  lead?: boolean;
  /** In the first view: its cover is fetched at once. */
  eager?: boolean;
}

/** One story of the feed; memoised, because a page that arrives must not draw the earlier ones again. */
export const StoryCard = memo(function StoryCard({ story, lead = false, eager = false }: StoryCardProps) {
  return (
    <li className={clsx(styles.cell, lead && styles.lead)}>
      <Link className={styles.card} to={paths.story(story.id)}>
        <Cover className={styles.cover} src={story.coverUrl} title={story.title} eager={eager} decorative />
        <div className={styles.words}>
          {lead && <p className={styles.label}>{texts.list.lead}</p>}
          <h2 className={styles.title}>{story.title}</h2>
          <p className={styles.teaser}>{lead ? story.summary : teaserOf(story.summary)}</p>
          <p className={styles.tags}>{story.tags.slice(0, 3).join(' · ')}</p>
        </div>
      </Link>
    </li>
  );
});
