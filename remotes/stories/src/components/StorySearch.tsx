import { inSentence, rowsOf } from '@liaozhai/shared/format';
import { useLocation, useNavigate } from '@liaozhai/shared/runtime';
import { Button, Chip, EmptyState, SearchField, VisuallyHidden } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useStoriesGetStoriesInfiniteQuery, useStoriesSearchInfiniteQuery } from '../api/stories';
import { commonTags, SEARCH_CHARACTERS, type StorySearch, searchPath } from '../model';
import pageStyles from '../pages/StoryListPage.module.css';
import { texts } from '../texts';
import { StoryList } from './StoryList';
import styles from './StorySearch.module.css';

const words = texts.search;

/** Search of the shelf. Its state is stored in the address, so that a reload or going back restores it. */
export default function SearchView({ search }: { search: StorySearch }) {
  const { go, leave } = useSearchAddress(search);
  const results = useStoriesSearchInfiniteQuery(search);
  const hits = useMemo(() => results.data && rowsOf(results.data.pages), [results.data]);
  const isStale = results.currentData === undefined;
  const error = isStale ? results.error : undefined;
  // previous results stay visible until the next response, unless nothing was found or the request failed
  const shownStories = isStale && (error || hits?.length === 0) ? undefined : hits;
  return (
    <div className={pageStyles.page}>
      <div className={styles.head}>
        <SearchHead search={search} onWords={(q) => go({ q })} onCancel={leave} />
        <SearchChips search={search} onChoose={go} />
      </div>
      <VisuallyHidden role="status">
        {!isStale && shownStories ? words.found(shownStories.length, results.hasNextPage) : ''}
      </VisuallyHidden>
      <div className={clsx(isStale && shownStories && styles.old)} aria-busy={isStale}>
        <StoryList
          list={results}
          query={{ ...results, data: shownStories, currentData: shownStories, error }}
          isLive={!isStale}
          words={words}
          empty={<NothingFound search={search} onAll={leave} />}
          hasLead={false}
        />
      </div>
    </div>
  );
}

/** All changes of a search share one history entry; leaving the search leads to the shelf. */
function useSearchAddress(search: StorySearch) {
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { over?: boolean } | null };
  return {
    go: (change: Partial<StorySearch>) => void navigate(searchPath({ ...search, ...change }), { replace: true, state }),
    leave: () => void (state?.over ? navigate(-1) : navigate('/explore', { replace: true })),
  };
}

const NothingFound = ({ search, onAll }: { search: StorySearch; onAll: () => void }) => (
  <EmptyState
    drawing="book"
    text={words.none(search.q.trim(), search.tag)}
    action={
      <Button variant="quiet" onClick={onAll}>
        {words.all}
      </Button>
    }
  />
);

interface SearchHeadProps {
  search: StorySearch;
  onWords: (q: string) => void;
  onCancel: () => void;
}

function SearchHead({ search, onWords, onCancel }: SearchHeadProps) {
  const field = useRef<HTMLInputElement>(null);
  const isNewSearch = useRef(!search.q && !search.tag && search.sort === 'new');
  // a new search focuses the field before its first paint
  useLayoutEffect(() => {
    if (isNewSearch.current) field.current?.focus({ preventScroll: true });
    isNewSearch.current = false;
  }, []);
  return (
    <div className={styles.form}>
      <SearchField
        ref={field}
        label={words.open}
        placeholder={words.placeholder}
        words={search.q.trim()}
        maxLength={SEARCH_CHARACTERS}
        onSearch={onWords}
      />
      <button type="button" className={styles.cancel} onClick={onCancel}>
        {words.cancel}
      </button>
    </div>
  );
}

/** Sort order, and tags to filter by: the selected one and the most common ones of the shelf. */
function SearchChips({ search, onChoose }: { search: StorySearch; onChoose: (change: Partial<StorySearch>) => void }) {
  const feed = useStoriesGetStoriesInfiniteQuery();
  const frequentTags = useMemo(() => commonTags(rowsOf(feed.data?.pages ?? [])), [feed.data]);
  // the tag with which the search was opened stays visible when another one is selected
  const [initialTag] = useState(search.tag);
  const tags = [...new Set([initialTag, ...frequentTags, search.tag])].filter(Boolean);
  return (
    <div className={styles.chips}>
      <fieldset className={styles.group} aria-label={words.sort}>
        <Chip selected={search.sort === 'new'} onClick={() => onChoose({ sort: 'new' })}>
          {words.newest}
        </Chip>
        <Chip selected={search.sort === 'hot'} onClick={() => onChoose({ sort: 'hot' })}>
          {words.hottest}
        </Chip>
      </fieldset>
      <fieldset className={clsx(styles.group, styles.tags)} aria-label={words.tags}>
        {tags.map((tag) => (
          <Chip
            key={tag}
            selected={tag === search.tag}
            onClick={() => onChoose({ tag: tag === search.tag ? '' : tag })}
          >
            {inSentence(tag)}
          </Chip>
        ))}
      </fieldset>
    </div>
  );
}
