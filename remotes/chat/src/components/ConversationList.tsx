import { rowsOf, SESSION_EXPIRED } from '@liaozhai/shared/format';
import {
  Link,
  offlineCache,
  paths,
  tab,
  useCapability,
  useExpiredSession,
  useOnline,
  useSearchParams,
  useSelector,
  useSession,
} from '@liaozhai/shared/runtime';
import {
  Button,
  CloseIcon,
  EmptyState,
  EndOfList,
  IconButton,
  InfiniteList,
  listenTo,
  PullToRefresh,
  QueryView,
  RefreshButton,
  RowBoundary,
  SearchField,
  SearchIcon,
  Skeleton,
  useIsWide,
  useKeptCopy,
  useKeptPages,
  useNow,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ReactNode, use, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { deletions } from '../api/deletions';
import { toastFailure } from '../api/failures';
import {
  appendStoredPages,
  conversationsCacheKey,
  pin,
  refreshConversations,
  selectConversations,
  useChatGetConversationsInfiniteQuery,
  useChatSearchConversationsInfiniteQuery,
} from '../api/listApi';
import { type Conversation, type ConversationPage, conversationsOf, withPin } from '../model/conversation';
import { Invitation, SignInButton } from '../pages/ConversationListPage';
import styles from '../pages/ConversationListPage.module.css';
import { selectChat } from '../slice';
import { texts } from '../texts';
import { CollapsingItem, ConversationRow, OpenChatContext } from './ConversationRow';

interface ConversationListProps {
  /** The story whose chat is open next to the list, for the slot `conversations`; omitted on the list's own screen. */
  storyId?: string;
}

/**
 * The user's conversations, the latest first; in a wide window in a column next to the chat. Loaded only for members, by
 * `ConversationListPage.tsx`.
 */
export default function ConversationList({ storyId }: ConversationListProps) {
  return storyId === undefined ? <ConversationScreen /> : <ConversationColumn storyId={storyId} />;
}

function ConversationScreen() {
  const isMember = useSession().status === 'member';
  const isExpired = useExpiredSession() !== null;
  const { data } = useSelector(selectConversations);
  const isWide = useIsWide();
  useOutbox();
  if (!isMember && !(isExpired && data)) return <Invitation isExpired={isExpired} />;

  const content = (
    <>
      {isExpired && (
        <div className={styles.expired} role="status">
          <p>{SESSION_EXPIRED}</p>
          <SignInButton />
        </div>
      )}
      <ConversationListing />
    </>
  );
  const isEmpty = data?.pages.every(({ items, nextCursor }) => items.length === 0 && nextCursor === null);
  if (!isWide || isEmpty) return <div className={styles.page}>{content}</div>;
  return (
    <div className={styles.split}>
      <Column>{content}</Column>
      <EmptyState drawing="lantern" text={texts.list.choose} />
    </div>
  );
}

/** Sends pending messages from this screen too. The code loads after the rows, once the device is online. */
function useOutbox(): void {
  const isOnline = useOnline();
  useEffect(() => {
    if (!isOnline) return;
    import(/* webpackChunkName: "outbox" */ '../api/outbox').then(
      ({ outbox }) => outbox.start(),
      // each chat starts it too
      () => undefined,
    );
  }, [isOnline]);
}

/** The list next to an open chat; empty for guests. */
function ConversationColumn({ storyId }: { storyId: string }) {
  const isMember = useSession().status === 'member';
  const hasList = useSelector(selectConversations).data !== undefined;
  return (
    (isMember || hasList) && (
      <OpenChatContext value={storyId}>
        <Column>
          <ConversationListing />
        </Column>
      </OpenChatContext>
    )
  );
}

/** Last scroll position of the column, which is mounted again for each chat and must not jump. */
const columnScroll = { top: 0 };

/** Scrolls independently, restores the last position, and scrolls the current row into view. */
function Column({ children }: { children: ReactNode }) {
  const column = useRef<HTMLDivElement>(null);
  const isListed = useSelector(selectConversations).data !== undefined;
  useLayoutEffect(() => {
    const element = column.current;
    if (!element || !isListed) return;
    element.scrollTop = columnScroll.top;
    const currentRect = element.querySelector('[aria-current]')?.getBoundingClientRect();
    const { top, bottom } = element.getBoundingClientRect();
    if (currentRect && currentRect.bottom > bottom) element.scrollTop += currentRect.bottom - bottom;
    if (currentRect && currentRect.top < top) element.scrollTop += currentRect.top - top;
    const storeScroll = () => {
      columnScroll.top = element.scrollTop;
    };
    return listenTo(element, ['scroll'], storeScroll, { passive: true });
  }, [isListed]);
  return (
    <div ref={column} className={styles.column}>
      {children}
    </div>
  );
}

const focusField = (field: HTMLInputElement | null) => field?.focus();

/** In characters; an address may contain more. */
const MAX_SEARCH_LENGTH = 60;

/**
 * The words of the search; null while it is closed. The list's own screen has them in its address, which a reload and the way
 * back from a chat keep. A button opens the search, so that no row moves when the server turns out to support it.
 */
function useListSearch() {
  const isOwnScreen = use(OpenChatContext) === null;
  const [params, setParams] = useSearchParams();
  const [columnWords, setColumnWords] = useState<string | null>(null);
  const setAddress = (words: string | null) => setParams(words === null ? {} : { q: words }, { replace: true });
  return isOwnScreen
    ? { words: params.get('q')?.trim().slice(0, MAX_SEARCH_LENGTH) ?? null, setWords: setAddress }
    : { words: columnWords, setWords: setColumnWords };
}

function ConversationListing() {
  const list = useChatGetConversationsInfiniteQuery();
  const canLoadMore = useKeptPages({
    cache: offlineCache,
    tab,
    key: 'chat.pages.2',
    pages: list.data?.pages,
    restore: appendStoredPages,
  });
  const canSearch = useCapability('conversations.search');
  const { words, setWords } = useListSearch();
  const isSearching = words !== null;
  const pages = list.data?.pages;
  const pins = useSelector((state) => selectChat(state).pins);
  // offline, the query itself answers with it
  const copy = useKeptCopy<ConversationPage>(offlineCache, conversationsCacheKey, list.isError && !pages);
  const conversations = useMemo(() => {
    const shownPages = pages ?? (copy.content?.items.length ? [copy.content] : undefined);
    return shownPages && conversationsOf(shownPages, pins);
  }, [pages, copy.content, pins]);
  const Title = use(OpenChatContext) === null ? 'h1' : 'h2';
  const refresh = () => refreshConversations().catch((cause: unknown) => toastFailure(cause));
  const fullList = (
    <QueryView
      query={{
        ...list,
        data: conversations,
        currentData: conversations,
        error: pages || copy.isPending ? undefined : list.error,
      }}
      skeleton={<Skeleton shape="coverRow" label={texts.list.loading} />}
    >
      {(items) => (
        <InfiniteList
          hasMore={list.hasNextPage}
          loading={list.isFetchingNextPage || !canLoadMore}
          error={list.isFetchNextPageError ? list.error : undefined}
          onMore={list.fetchNextPage}
          // it would be said of other words, or of a part of the list
          end={words || !pages || pages.some(({ isCut }) => isCut) ? null : <ListEnd items={items} />}
        >
          <ConversationRows items={items} />
        </InfiniteList>
      )}
    </QueryView>
  );
  return (
    <PullToRefresh onRefresh={refresh}>
      <header className={styles.head}>
        <Title className={styles.conversationListTitle}>{texts.list.title}</Title>
        <span>
          {canSearch && (
            <IconButton
              label={isSearching ? texts.list.closeSearch : texts.list.openSearch}
              icon={isSearching ? <CloseIcon size={20} /> : <SearchIcon size={20} />}
              aria-expanded={isSearching}
              onClick={() => setWords(isSearching ? null : '')}
            />
          )}
          <RefreshButton label={texts.list.refresh} onRefresh={refresh} />
        </span>
      </header>
      {canSearch && isSearching && (
        <div className={styles.search}>
          <SearchField
            // a search that was there before the page must not open the keyboard
            ref={words === '' ? focusField : undefined}
            label={texts.list.search}
            words={words}
            maxLength={MAX_SEARCH_LENGTH}
            onSearch={setWords}
          />
        </div>
      )}
      {canSearch && words ? (
        <FoundConversations words={words} listedConversations={conversations} fallback={fullList} />
      ) : (
        fullList
      )}
    </PullToRefresh>
  );
}

interface FoundConversationsProps {
  words: string;
  /** The loaded conversations of the list, which events keep up to date. */
  listedConversations: Conversation[] | undefined;
  /** Shown until there are results, so that the screen does not flash on each search. */
  fallback: ReactNode;
}

/** Conversations whose title, character names or last message contain the words. */
function FoundConversations({ words, listedConversations, fallback }: FoundConversationsProps) {
  const results = useChatSearchConversationsInfiniteQuery(words);
  const pages = results.data?.pages;
  const pins = useSelector((state) => selectChat(state).pins);
  const conversations = useMemo(() => {
    const listedById = new Map(listedConversations?.map((each) => [each.id, each]));
    return pages && rowsOf(pages).map((each) => listedById.get(each.id) ?? withPin(each, pins));
  }, [pages, listedConversations, pins]);
  const hiddenIds = useSelector((state) => selectChat(state).deleting);
  const count = conversations?.filter(({ id }) => !hiddenIds.includes(id)).length;
  const isStale = results.currentData === undefined;
  // rows of the previous words stay until the next response; that nothing was found is said of these words only
  const shown = isStale && (!count || results.error) ? undefined : conversations;
  const query = { ...results, data: shown, currentData: shown };
  return (
    <>
      <div role="status">
        <VisuallyHidden>
          {count !== undefined && !isStale && !results.isFetching && texts.list.found(count)}
        </VisuallyHidden>
      </div>
      <div className={clsx(isStale && !results.error && styles.old)} aria-busy={isStale && !results.error}>
        <QueryView query={query} skeleton={fallback}>
          {(items) => (
            <InfiniteList
              hasMore={results.hasNextPage}
              loading={results.isFetchingNextPage}
              error={results.isFetchNextPageError ? results.error : undefined}
              onMore={results.fetchNextPage}
              end={count === 0 ? <EmptyState drawing="lantern" text={texts.list.foundNothing(words)} /> : null}
            >
              <ConversationRows items={items} />
            </InfiniteList>
          )}
        </QueryView>
      </div>
    </>
  );
}

/** Rows collapse while their conversation is being deleted. */
function ConversationRows({ items }: { items: Conversation[] }) {
  const hiddenIds = useSelector((state) => selectChat(state).deleting);
  const readVersions = useSelector((state) => selectChat(state).read);
  const hasDots = useCapability('conversations.unread');
  const canPin = useCapability('conversations.pin');
  const now = useNow();
  const openStoryId = use(OpenChatContext);
  const isLaterRun = ({ run, isShelved }: Conversation) => run > 1 || isShelved;
  const storiesWithRuns = new Set(items.filter(isLaterRun).map(({ storyId }) => storyId));
  return (
    <ul className={styles.list} aria-label={texts.list.label}>
      {items.map((each) => (
        <CollapsingItem key={each.id} shown={!hiddenIds.includes(each.id)}>
          <RowBoundary of={each}>
            {(conversation) => (
              <ConversationRow
                conversation={conversation}
                isUnread={
                  hasDots &&
                  conversation.isUnread &&
                  (conversation.storyId !== openStoryId || conversation.isShelved) &&
                  (readVersions[conversation.id] ?? 0) < conversation.version
                }
                now={now}
                hasRuns={storiesWithRuns.has(conversation.storyId)}
                onDelete={deletions.remove}
                onPin={canPin ? pin : undefined}
              />
            )}
          </RowBoundary>
        </CollapsingItem>
      ))}
    </ul>
  );
}

function ListEnd({ items }: { items: Conversation[] }) {
  const hiddenIds = useSelector((state) => selectChat(state).deleting);
  if (items.some(({ id }) => !hiddenIds.includes(id))) return <EndOfList text={texts.list.end} />;
  return (
    <EmptyState
      drawing="lantern"
      text={texts.list.empty}
      action={<Button asLink={<Link to={paths.explore()} />}>{texts.list.toExplore}</Button>}
    />
  );
}
