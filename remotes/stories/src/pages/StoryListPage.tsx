import { failureText } from '@liaozhai/shared/format';
import {
  isApiError,
  Link,
  offlineCache,
  paths,
  type RecentStory,
  RemoteSlot,
  recentStories,
  tab,
  toast,
  useCapabilitiesAsked,
  useCapability,
  useDispatch,
  useNavigate,
  useOnline,
  useScreen,
  useSearchParams,
  useUser,
} from '@liaozhai/shared/runtime';
import {
  ArrowUpIcon,
  Cover,
  EmptyState,
  EndOfList,
  ErrorRow,
  hasKeptPages,
  InfiniteList,
  PullToRefresh,
  QueryView,
  RowBoundary,
  ScreenSkeleton,
  Skeleton,
  scrollerOf,
  useKeptPages,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import {
  Activity,
  type ComponentType,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import {
  adoptFirstStories,
  putKept,
  useDeviceCopy,
  useStoriesGetRecentQuery,
  useStoriesGetStoriesInfiniteQuery,
} from '../api/stories';
import { loadRows, StoryShelf } from '../components/StoryShelf';
import { AT_TOP_PX, useNewStories } from '../components/useNewStories';
import { Wordmark } from '../components/Wordmark';
import {
  firstListed,
  RECENT,
  type StorySearch,
  searchAt,
  searchPath,
  storiesOf,
  withFreshLead,
  withoutBooks,
} from '../model';
import { texts } from '../texts';
import styles from './StoryListPage.module.css';

adoptFirstStories();

const KEPT_PAGES = 'stories.pages.2';

// a long list is about to be restored
if (hasKeptPages(tab, KEPT_PAGES)) loadRows().catch(() => undefined);

/** Delay of storing the pages, so that thousands of stories are not written on each new page. */
const KEEP_AFTER_MS = 600;

const loadSearch = () => import(/* webpackChunkName: "search" */ '../components/StorySearch');

export default function StoryListPage() {
  const [params] = useSearchParams();
  const canSearch = useCapability('stories.search');
  const isAsked = useCapabilitiesAsked(!canSearch && searchAt(params) !== null);
  const search = canSearch || !isAsked ? searchAt(params) : null;
  return (
    <>
      <Activity mode={search ? 'hidden' : 'visible'}>
        <StoryFeed canSearch={canSearch} />
      </Activity>
      {search && <SearchLoader search={search} isKnown={canSearch} />}
    </>
  );
}

/** Loads the search on first use. */
function SearchLoader({ search, isKnown }: { search: StorySearch; isKnown: boolean }) {
  const [Search, setSearch] = useState<ComponentType<{ search: StorySearch }> | null>(null);
  const [isLost, setLost] = useState(false);
  const load = useCallback(() => {
    setLost(false);
    loadSearch().then(
      (module) => setSearch(() => module.default),
      () => setLost(true),
    );
  }, []);
  useEffect(load, [load]);
  if (Search && isKnown) return <Search search={search} />;
  return (
    <div className={styles.page}>
      <div className={styles.searchWaiting} />
      {isLost ? (
        <ErrorRow text={texts.search.lost} onRetry={load} />
      ) : (
        <ScreenSkeleton shape="shelf" label={texts.search.loading} />
      )}
    </div>
  );
}

function StoryFeed({ canSearch }: { canSearch: boolean }) {
  const navigate = useNavigate();
  const feed = useStoriesGetStoriesInfiniteQuery();
  const online = useOnline();
  const pages = feed.data?.pages;
  const live = useMemo(() => pages && storiesOf(pages), [pages]);
  const copy = useDeviceCopy('stories.feed.2', pages && firstListed(pages), !pages && (feed.isError || !online));
  const dispatch = useDispatch();
  const mayGoOn = useKeptPages({
    cache: offlineCache,
    tab,
    key: KEPT_PAGES,
    pages,
    slim: withoutBooks,
    pauseMs: KEEP_AFTER_MS,
    restore: (kept) => void dispatch(putKept(kept)),
  });
  const { waiting, show, refresh } = useNewStories(pages);
  const { recent, settled } = useRecentStories();
  const begun = useMemo(() => new Set(recent.map(({ id }) => id)), [recent]);
  const begunBefore = useMemo(() => new Set(settled.map(({ id }) => id)), [settled]);

  const refreshAloud = () =>
    refresh().catch((cause: unknown) => {
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause);
      if (problem) toast(problem, { kind: 'error' });
    });
  const listed = live ?? copy.content;
  const query = {
    ...feed,
    data: listed,
    currentData: listed,
    error: live ? undefined : feed.error,
    isFetching: feed.isFetching || copy.isPending,
  };
  return (
    <>
      {waiting && <FreshPill {...waiting} onShow={show} />}
      <PullToRefresh onRefresh={refreshAloud}>
        <div className={styles.page}>
          <Wordmark
            onRefresh={refreshAloud}
            onSearch={canSearch ? () => void navigate(searchPath({}), { state: { over: true } }) : undefined}
            onApproachSearch={() => void loadSearch().catch(() => undefined)}
          />
          <ContinueRow recent={recent} />
          <div className={styles.tiles}>
            <RemoteSlot name="explore.tiles" waiting={<Skeleton shape="card" count={1} />} />
          </div>
          <QueryView
            query={query}
            skeleton={<ScreenSkeleton shape="shelf" label={texts.list.loading} />}
            isEmpty={(stories) => stories.length === 0}
            empty={<EmptyState drawing="book" text={texts.list.empty} />}
          >
            {(stories) => (
              <InfiniteList
                hasMore={feed.hasNextPage}
                loading={feed.isFetchingNextPage || !mayGoOn}
                error={feed.isFetchNextPageError ? feed.error : undefined}
                onMore={feed.fetchNextPage}
                end={live ? <EndOfList text={texts.list.end} /> : null}
              >
                <StoryShelf
                  stories={withFreshLead(stories, begunBefore)}
                  begun={begun}
                  isWhole={live !== undefined && !feed.hasNextPage}
                  growsSoon={!mayGoOn}
                />
              </InfiniteList>
            )}
          </QueryView>
        </div>
      </PullToRefresh>
    </>
  );
}

interface FreshPillProps {
  count: number;
  /** There are more new stories than one page holds, so the shelf starts over. */
  startsAnew: boolean;
  onShow: () => void;
}

/** Announces new stories above without moving the shown ones. */
function FreshPill({ count, startsAnew, onShow }: FreshPillProps) {
  return (
    <div className={styles.pillPlace} role="status">
      <button type="button" className={styles.pill} onClick={onShow}>
        <ArrowUpIcon size={16} aria-hidden="true" />
        <span>{startsAnew ? texts.list.renewed : texts.list.fresh(count)}</span>
      </button>
    </div>
  );
}

/** The stories of the latest conversations, above the shelf; empty for guests. */
function ContinueRow({ recent }: { recent: RecentStory[] }) {
  const place = useRef<HTMLDivElement>(null);
  const row = useRef<HTMLUListElement>(null);
  const stories = recent.slice(0, RECENT);
  const isThere = useJoiningAtTop(stories.length > 0, place);
  const newest = stories[0]?.id;
  useLayoutEffect(() => {
    if (newest) row.current?.scrollTo({ left: 0 });
  }, [newest]);
  return (
    <div ref={place}>
      {isThere && (
        <section ref={hideWhileAway} aria-label={texts.list.resume}>
          <ul ref={row} className={styles.row}>
            {stories.map((each) => (
              <RowBoundary key={each.id} of={each} as="li">
                {(story) => <RecentCard story={story} />}
              </RowBoundary>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

const RecentCard = ({ story: { id, title, coverUrl, coverColor, lastLine, isUnread } }: { story: RecentStory }) => (
  <li className={styles.place}>
    <Link className={styles.card} to={paths.storyChat(id)}>
      {coverUrl && <Cover className={styles.cover} src={coverUrl} title={title} color={coverColor} eager decorative />}
      <span className={styles.words}>
        <span className={styles.label}>
          <span>{texts.list.resume}</span>
          {isUnread && (
            <span className={styles.dot}>
              <VisuallyHidden>{texts.list.unread}</VisuallyHidden>
            </span>
          )}
        </span>
        <span className={styles.title}>{title}</span>
        {lastLine && <span className={styles.lastLine}>{lastLine}</span>}
      </span>
    </Link>
  </li>
);

/**
 * Hides the row's covers while it is out of view. The shelf shows the same covers larger. A browser lays out an SVG again for
 * each of two painted sizes, which would delay returning to a shelf further down.
 */
function hideWhileAway(row: HTMLElement) {
  const observer = new IntersectionObserver(
    ([entry]) => row.toggleAttribute('data-away', entry?.isIntersecting === false),
    { rootMargin: '400px 0px' },
  );
  observer.observe(row);
  return () => observer.disconnect();
}

/**
 * Stories with a conversation, newest first: the device's copy until the server has responded. `settled` is the list as it was
 * when the shelf became visible, for content that must not move while it is visible. Without a copy, the server's first response
 * becomes `settled` if the shelf is at its top, where the row that appears moves it anyway.
 */
function useRecentStories(): { recent: RecentStory[]; settled: RecentStory[] } {
  const user = useUser();
  const { scroller } = useScreen();
  const { data: live } = useStoriesGetRecentQuery(undefined, { skip: !user });
  const [copy, setCopy] = useState(recentStories.read);
  const [settled, setSettled] = useState(copy);
  const latest = useEffectEvent(() => live);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another user has other stories
  useLayoutEffect(() => {
    const recent = recentStories.read();
    setCopy(recent);
    setSettled(latest() ?? recent);
  }, [user?.id]);
  const isFirstAnswer = live !== undefined && copy.length === 0;
  const settle = useEffectEvent(() => {
    if (live && settled.length === 0 && (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX) setSettled(live);
  });
  useLayoutEffect(() => {
    if (isFirstAnswer) settle();
  }, [isFirstAnswer]);
  useEffect(() => {
    if (live && user) recentStories.write(live.slice(0, KEPT_RECENT));
  }, [live, user]);
  return user ? { recent: live ?? copy, settled } : { recent: [], settled: [] };
}

/** Size of a page of the list. */
const KEPT_RECENT = 20;

/** Set while a reload will restore a scroll position that was measured without the row above. */
const WITHOUT_ROW = 'stories.withoutRow';

/** Whether to show the row: it appears only while the shelf is at its top, and never shifts a position further down. */
function useJoiningAtTop(isWanted: boolean, place: RefObject<HTMLElement | null>): boolean {
  const ownScroller = useScreen().scroller;
  const [isThere, setThere] = useState(() => isWanted && !tab.get(WITHOUT_ROW));
  useLayoutEffect(() => {
    if (!isWanted) return setThere(false);
    // the screen's own ref is empty while the effects of a screen that is shown again run
    const scroller = ownScroller.current ?? (place.current && scrollerOf(place.current));
    const isBelow = () => (scroller?.scrollTop ?? 0) > AT_TOP_PX;
    const keep = () => {
      if (isBelow() && !isThere) tab.set(WITHOUT_ROW, '1');
      else tab.remove(WITHOUT_ROW);
    };
    const join = () => {
      if (isThere || isBelow()) return;
      tab.remove(WITHOUT_ROW);
      setThere(true);
    };
    // otherwise a reload is about to restore that scroll position
    if (!tab.get(WITHOUT_ROW)) join();
    scroller?.addEventListener('scroll', join, { passive: true });
    window.addEventListener('pagehide', keep);
    return () => {
      scroller?.removeEventListener('scroll', join);
      window.removeEventListener('pagehide', keep);
    };
  }, [isWanted, isThere, place, ownScroller]);
  return isWanted && isThere;
}
