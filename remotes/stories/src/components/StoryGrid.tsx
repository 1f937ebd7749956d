import { inSentence } from '@liaozhai/shared/format';
import { Link, paths } from '@liaozhai/shared/runtime';
import { Cover, RowBoundary } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { memo, type Ref } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';
import { leaveFromCard } from './coverMotion';
import styles from './StoryGrid.module.css';

/** Covers that a phone shows before the first scroll. */
const FIRST_VIEW = 5;

/** The rendered part of a long shelf: the cards up to `head`, and the rows with the cards `from` … `to`. */
export interface GridWindow {
  head: number;
  columns: number;
  from: number;
  to: number;
  /** Height of the omitted rows between the two, in px. */
  above: number;
  /** Height of the omitted rows below, in px. */
  below: number;
  /** Number of all cards; -1 if unknown. */
  total: number;
}

interface StoryGridProps {
  ref?: Ref<HTMLUListElement>;
  stories: Story[];
  /** Ids of stories with a conversation, in addition to those with a `conversationId`. */
  begunIds?: ReadonlySet<string> | undefined;
  /** Whether the first card is shown larger. */
  hasLead?: boolean;
  /** null renders all cards. */
  window?: GridWindow | null;
}

/** The shelf. The visual order is the source order, so that appended stories never move earlier ones. */
export function StoryGrid({ ref, stories, begunIds, hasLead = true, window = null }: StoryGridProps) {
  const renderCard = (each: Story, index: number, above?: number) => (
    <RowBoundary key={each.id} of={each} as="li">
      {(story) => (
        <StoryCard
          story={story}
          isBegun={Boolean(story.conversationId) || begunIds?.has(story.id) === true}
          index={index}
          hasLead={hasLead}
          total={window?.total}
          above={above}
        />
      )}
    </RowBoundary>
  );
  const { head = 0, columns = 0, from = 0, to, above, below }: Partial<GridWindow> = window ?? {};
  return (
    <ul
      ref={ref}
      className={clsx(styles.grid, window && styles.windowed)}
      style={{ marginBottom: below }}
      aria-label={texts.list.label}
    >
      {stories.slice(0, head).map((story, index) => renderCard(story, index))}
      {stories.slice(from, to).map((story, at) => renderCard(story, from + at, at < columns ? above : undefined))}
    </ul>
  );
}

interface StoryCardProps {
  story: Story;
  isBegun: boolean;
  /** Among all cards, from 0. */
  index: number;
  hasLead: boolean;
  /** Number of all cards, -1 if unknown; set if not all are rendered. */
  total: number | undefined;
  /** Height of the omitted rows above this card, in px. */
  above: number | undefined;
}

/** Memoised, so that a new page does not render the earlier stories again. */
const StoryCard = memo(function StoryCard(props: StoryCardProps) {
  const { story, isBegun, index, hasLead, total, above } = props;
  // as wide as the feed, with more of its summary
  const isLead = hasLead && index === 0;
  const isInFirstView = index < FIRST_VIEW;
  const isRightColumn = index > 0 && index % 2 === (hasLead ? 0 : 1);
  return (
    <li
      className={clsx(styles.cell, isLead && styles.lead, isRightColumn && styles.hung)}
      style={above ? { marginTop: above } : undefined}
      aria-posinset={total === undefined ? undefined : index + 1}
      aria-setsize={total}
    >
      <Link
        className={styles.card}
        to={paths.story(story.id)}
        onClick={(event) => leaveFromCard(story.id, event.currentTarget)}
      >
        <div className={styles.cover}>
          <Cover src={story.coverUrl} title={story.title} color={story.coverColor} eager={isInFirstView} decorative />
          {isBegun && <span className={styles.begun}>{texts.list.begun}</span>}
        </div>
        <div className={styles.words}>
          {isLead && <p className={styles.label}>{texts.list.lead}</p>}
          <h2 className={styles.title}>{story.title}</h2>
          <p className={styles.teaser}>{story.summary}</p>
          <p className={styles.tags}>{story.tags.slice(0, 3).map(inSentence).join(' · ')}</p>
        </div>
      </Link>
    </li>
  );
});
