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
  useGoBack,
  useNavigate,
  useScreen,
  useSearchParams,
  useUser,
} from '@liaozhai/shared/runtime';
import {
  ArrowUpIcon,
  Cover,
  EmptyState,
  ErrorRow,
  hasKeptPages,
  listenTo,
  PullToRefresh,
  RowBoundary,
  ScreenSkeleton,
  Skeleton,
  scrollerOf,
  stopAll,
  useKeptPages,
  useModule,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import { Activity, type RefObject, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import {
  adoptFirstStories,
  appendStoredPages,
  useStoriesGetRecentQuery,
  useStoriesGetStoriesInfiniteQuery,
} from '../api/stories';
import { StoryList, useStoryList } from '../components/StoryList';
import { loadRows } from '../components/StoryShelf';
import { AT_TOP_PX, useNewStories } from '../components/useNewStories';
import { Wordmark } from '../components/Wordmark';
import { parseSearch, RECENT_COUNT, type StorySearch, searchPath, withFreshLead, withoutDetails } from '../model';
import { texts } from '../texts';
import styles from './StoryListPage.module.css';

adoptFirstStories();

const STORED_PAGES_KEY = 'stories.pages.2';

// a long list is about to be restored
if (hasKeptPages(tab, STORED_PAGES_KEY)) loadRows().catch(() => undefined);

/** Delay of storing the pages, so that thousands of stories are not written on each new page. */
const STORE_DELAY_MS = 600;

const loadSearch = () => import(/* webpackChunkName: "search" */ '../components/StorySearch');

export default function StoryListPage() {
  const [params] = useSearchParams();
  const canSearch = useCapability('stories.search');
  const areCapabilitiesKnown = useCapabilitiesAsked(!canSearch && parseSearch(params) !== null);
  const search = canSearch || !areCapabilitiesKnown ? parseSearch(params) : null;
  return (
    <>
      <Activity mode={search ? 'hidden' : 'visible'}>
        <StoryFeed canSearch={canSearch} />
      </Activity>
      {search && <SearchLoader search={search} isSupported={canSearch} />}
    </>
  );
}

/** Loads the search on first use. */
function SearchLoader({ search, isSupported }: { search: StorySearch; isSupported: boolean }) {
  const [hasFailed, setFailed] = useState(false);
  const module = useModule(loadSearch, !hasFailed, () => setFailed(true));
  const goBack = useGoBack(paths.explore());
  if (module && isSupported) return <module.default search={search} />;
  return (
    <div className={styles.page}>
      <div className={styles.searchWaiting}>
        <button type="button" className={styles.cancel} onClick={goBack}>
          {texts.search.cancel}
        </button>
      </div>
      {hasFailed ? (
        <ErrorRow text={texts.search.lost} onRetry={() => setFailed(false)} />
      ) : (
        <ScreenSkeleton shape="shelf" label={texts.search.loading} />
      )}
    </div>
  );
}

function StoryFeed({ canSearch }: { canSearch: boolean }) {
  const navigate = useNavigate();
  const feed = useStoriesGetStoriesInfiniteQuery();
  const pages = feed.data?.pages;
  const { query, isLive } = useStoryList('stories.feed.2', feed, pages);
  const canLoadMore = useKeptPages({
    cache: offlineCache,
    tab,
    key: STORED_PAGES_KEY,
    pages,
    slim: withoutDetails,
    pauseMs: STORE_DELAY_MS,
    restore: appendStoredPages,
  });
  const { waiting, show, refresh } = useNewStories(pages);
  const { recent, settled } = useRecentStories();
  const begunIds = useMemo(() => new Set(recent.map(({ id }) => id)), [recent]);
  const settledIds = useMemo(() => new Set(settled.map(({ id }) => id)), [settled]);

  const refreshWithToast = () =>
    refresh().catch((cause: unknown) => {
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause);
      if (problem) toast(problem, { kind: 'error' });
    });
  return (
    <>
      {waiting && <FreshPill {...waiting} onShow={show} />}
      <PullToRefresh onRefresh={refreshWithToast}>
        <div className={styles.page}>
          <Wordmark
            onRefresh={refreshWithToast}
            onSearch={canSearch ? () => void navigate(searchPath({}), { state: { over: true } }) : undefined}
            onApproachSearch={() => void loadSearch().catch(() => undefined)}
          />
          <ContinueRow recent={recent} />
          <div className={styles.tiles}>
            <RemoteSlot name="explore.tiles" waiting={<Skeleton shape="card" count={1} />} />
          </div>
          <StoryList
            list={feed}
            query={{ ...query, currentData: query.currentData && withFreshLead(query.currentData, settledIds) }}
            isLive={isLive}
            words={texts.list}
            empty={<EmptyState drawing="book" text={texts.list.empty} />}
            begunIds={begunIds}
            growsSoon={!canLoadMore}
          />
        </div>
      </PullToRefresh>
    </>
  );
}

/** Announces new stories above without moving the shown ones. The shelf `startsOver` if there are more than one page holds. */
function FreshPill({ count, startsOver, onShow }: { count: number; startsOver: boolean; onShow: () => void }) {
  return (
    <div className={styles.pillPlace} role="status">
      <button type="button" className={styles.pill} onClick={onShow}>
        <ArrowUpIcon size={16} aria-hidden="true" />
        <span>{startsOver ? texts.list.renewed : texts.list.fresh(count)}</span>
      </button>
    </div>
  );
}

/** The stories of the latest conversations, above the shelf; empty for guests. */
function ContinueRow({ recent }: { recent: RecentStory[] }) {
  const container = useRef<HTMLDivElement>(null);
  const row = useRef<HTMLUListElement>(null);
  const stories = recent.slice(0, RECENT_COUNT);
  const isShown = useShownAtTop(stories.length > 0, container);
  const newestId = stories[0]?.id;
  useLayoutEffect(() => {
    if (newestId) row.current?.scrollTo({ left: 0 });
  }, [newestId]);
  return (
    <div ref={container}>
      {isShown && (
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
  const { data: liveStories } = useStoriesGetRecentQuery(undefined, { skip: !user });
  const [copy, setCopy] = useState(recentStories.read);
  const [settled, setSettled] = useState(copy);
  const getLive = useEffectEvent(() => liveStories);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another user has other stories
  useLayoutEffect(() => {
    const recent = recentStories.read();
    setCopy(recent);
    setSettled(getLive() ?? recent);
  }, [user?.id]);
  const isFirstResponse = liveStories !== undefined && copy.length === 0;
  const settle = useEffectEvent(() => {
    if (liveStories && settled.length === 0 && (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX) setSettled(liveStories);
  });
  useLayoutEffect(() => {
    if (isFirstResponse) settle();
  }, [isFirstResponse]);
  useEffect(() => {
    if (liveStories && user) recentStories.write(liveStories.slice(0, MAX_STORED_RECENT));
  }, [liveStories, user]);
  return user ? { recent: liveStories ?? copy, settled } : { recent: [], settled: [] };
}

/** Size of a page of the list. */
const MAX_STORED_RECENT = 20;

/** Set while a reload will restore a scroll position that was measured without the row above. */
const WITHOUT_ROW_KEY = 'stories.withoutRow';

/** Whether to show the row: it appears only while the shelf is at its top, and never shifts a position further down. */
function useShownAtTop(hasStories: boolean, container: RefObject<HTMLElement | null>): boolean {
  const ownScroller = useScreen().scroller;
  const [isShown, setShown] = useState(() => hasStories && !tab.get(WITHOUT_ROW_KEY));
  useLayoutEffect(() => {
    if (!hasStories) return setShown(false);
    // the screen's own ref is empty while the effects of a screen that is shown again run
    const scroller = ownScroller.current ?? (container.current && scrollerOf(container.current));
    const isBelow = () => (scroller?.scrollTop ?? 0) > AT_TOP_PX;
    const storePlacement = () => {
      if (isBelow() && !isShown) tab.set(WITHOUT_ROW_KEY, '1');
      else tab.remove(WITHOUT_ROW_KEY);
    };
    const showAtTop = () => {
      if (isShown || isBelow()) return;
      tab.remove(WITHOUT_ROW_KEY);
      setShown(true);
    };
    // otherwise a reload is about to restore that scroll position
    if (!tab.get(WITHOUT_ROW_KEY)) showAtTop();
    return stopAll(
      scroller ? listenTo(scroller, ['scroll'], showAtTop, { passive: true }) : () => {},
      listenTo(window, ['pagehide'], storePlacement),
    );
  }, [hasStories, isShown, container, ownScroller]);
  return hasStories && isShown;
}
