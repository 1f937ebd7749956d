import { inSentence } from '@liaozhai/shared/format';
import { Link, paths } from '@liaozhai/shared/runtime';
import { Cover, RowBoundary } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo, type Ref } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';
import { leaveFromCard } from './coverMotion';
import styles from './StoryGrid.module.css';

/** How many covers a phone shows before the first scroll. */
const FIRST_VIEW = 5;

/** The part of a long shelf that is drawn: the cards up to `head`, and the rows with the cards `from` … `to`. */
export interface GridWindow {
  head: number;
  columns: number;
  from: number;
  to: number;
  /** px that the rows between the two would take */
  above: number;
  /** px that the rows below would take */
  below: number;
  /** how many cards there are; -1 where nobody knows */
  total: number;
}

interface StoryGridProps {
  ref?: Ref<HTMLUListElement>;
  stories: Story[];
  /** Of which stories one has talked, besides those that say so themselves. */
  begun?: ReadonlySet<string> | undefined;
  /** The first one stands out. */
  hasLead?: boolean;
  /** null: all are drawn */
  window?: GridWindow | null;
}

/** The shelf. Reading order is source order, so what is appended never moves what stands. */
export function StoryGrid({ ref, stories, begun, hasLead = true, window = null }: StoryGridProps) {
  const card = (each: Story, index: number, above?: number) => (
    <RowBoundary key={each.id} of={each} as="li">
      {(story) => (
        <StoryCard
          story={story}
          isBegun={story.conversationId !== null || begun?.has(story.id) === true}
          lead={hasLead && index === 0}
          hung={index > 0 && index % 2 === (hasLead ? 0 : 1)}
          eager={index < FIRST_VIEW}
          position={window ? index + 1 : undefined}
          count={window?.total}
          above={above}
        />
      )}
    </RowBoundary>
  );
  const { head, columns, from, to, above, below } = window ?? wholeOf(stories);
  return (
    <ul
      ref={ref}
      className={clsx(styles.grid, window && styles.windowed)}
      style={window ? { marginBottom: below } : undefined}
      aria-label={texts.list.label}
    >
      {stories.slice(0, head).map((story, index) => card(story, index))}
      {stories.slice(from, to).map((story, at) => card(story, from + at, at < columns ? above : undefined))}
    </ul>
  );
}

const wholeOf = ({ length }: Story[]): GridWindow => ({
  head: 0,
  columns: 0,
  from: 0,
  to: length,
  above: 0,
  below: 0,
  total: length,
});

interface StoryCardProps {
  story: Story;
  isBegun: boolean;
  /** The first story: as wide as the feed, with more of its summary. */
  lead?: boolean;
  /** In the right one of two columns. */
  hung?: boolean;
  /** In the first view: its cover is fetched immediately. */
  eager?: boolean;
  /** From 1, where not all cards are drawn. */
  position?: number | undefined;
  /** How many there are with those that are not drawn; -1 where nobody knows. */
  count?: number | undefined;
  /** px that rows which are not drawn would take above this one */
  above?: number | undefined;
}

/** One story of the feed; memoised, because a page that arrives must not draw the earlier ones again. */
const StoryCard = memo(function StoryCard({ story, isBegun, position, count, above, ...look }: StoryCardProps) {
  const { lead = false, hung = false, eager = false } = look;
  return (
    <li
      className={clsx(styles.cell, lead && styles.lead, hung && styles.hung)}
      style={above ? { marginTop: above } : undefined}
      aria-posinset={position}
      aria-setsize={count}
    >
      <Link
        className={styles.card}
        to={paths.story(story.id)}
        onClick={(event) => leaveFromCard(story.id, event.currentTarget)}
      >
        <div className={styles.cover}>
          <Cover src={story.coverUrl} title={story.title} color={story.coverColor} eager={eager} decorative />
          {isBegun && <span className={styles.begun}>{texts.list.begun}</span>}
        </div>
        <div className={styles.words}>
          {lead && <p className={styles.label}>{texts.list.lead}</p>}
          <h2 className={styles.title}>{story.title}</h2>
          <p className={styles.teaser}>{story.summary}</p>
          <p className={styles.tags}>{story.tags.slice(0, 3).map(inSentence).join(' · ')}</p>
        </div>
      </Link>
    </li>
  );
});
