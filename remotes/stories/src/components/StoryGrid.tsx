import { Link, paths } from '@liaozhai/shared/runtime';
import { Cover } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo } from 'react';
import { type Story, teaserOf } from '../model';
import { texts } from '../texts';
import styles from './StoryGrid.module.css';

/** How many covers a phone shows before the first scroll. */
const FIRST_VIEW = 5;

/** The shelf. Reading order is source order, so what is appended never moves what stands. */
interface StoryGridProps {
  stories: Story[];
  /** The first one stands out. */
  hasLead?: boolean;
}

export function StoryGrid({ stories, hasLead = true }: StoryGridProps) {
  return (
    <ul className={styles.grid} aria-label={texts.list.label}>
      {stories.map((story, index) => (
        <StoryCard
          key={story.id}
          story={story}
          lead={hasLead && index === 0}
          hung={index > 0 && index % 2 === (hasLead ? 0 : 1)}
          eager={index < FIRST_VIEW}
        />
      ))}
    </ul>
  );
}

interface StoryCardProps {
  story: Story;
  /** The first story: as wide as the feed, with its whole summary. */
  lead?: boolean;
  /** In the right one of two columns. */
  hung?: boolean;
  /** In the first view: its cover is fetched at once. */
  eager?: boolean;
}

/** One story of the feed; memoised, because a page that arrives must not draw the earlier ones again. */
const StoryCard = memo(function StoryCard({ story, lead = false, hung = false, eager = false }: StoryCardProps) {
  return (
    <li className={clsx(styles.cell, lead && styles.lead, hung && styles.hung)}>
      <Link className={styles.card} to={paths.story(story.id)}>
        <Cover src={story.coverUrl} title={story.title} color={story.coverColor} eager={eager} decorative />
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
