import {
  Link,
  offlineCache,
  paths,
  tab,
  useCapability,
  useDispatch,
  useExpiredSession,
  useOnline,
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
  PullToRefresh,
  QueryView,
  RefreshIcon,
  RowBoundary,
  SearchField,
  SearchIcon,
  Skeleton,
  useIsWide,
  useKeptPages,
  useNow,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import { type ReactNode, use, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { deletions } from '../api/deletions';
import { toastFailure } from '../api/failures';
import {
  pin,
  putKeptConversations,
  refreshConversations,
  selectConversations,
  useChatGetConversationsInfiniteQuery,
  useChatSearchConversationsInfiniteQuery,
} from '../api/listApi';
import { type Conversation, conversationsOf } from '../model/conversation';
import { Invitation, SignInButton } from '../pages/ConversationListPage';
import styles from '../pages/ConversationListPage.module.css';
import { selectChat } from '../slice';
import { texts } from '../texts';
import { CollapsingItem, ConversationRow, OpenChat } from './ConversationRow';

interface ConversationListProps {
  /** The story whose chat is open beside the list, for the slot `conversations`; left out on the list's own screen. */
  storyId?: string;
}

/**
 * The conversations one has had, the latest first; in a wide window in a column that stays when one is chosen. Members
 * alone load it, for the screen 聊过 and beside an open chat (`ConversationListPage.tsx`).
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
          <p>{texts.chat.expired}</p>
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

/** What waits on the device to be sent goes on from here too. Its code comes after the rows, once there is a network to send by. */
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

/** The list beside an open chat; nothing for who has none. */
function ConversationColumn({ storyId }: { storyId: string }) {
  const isMember = useSession().status === 'member';
  const hasList = useSelector(selectConversations).data !== undefined;
  return (
    (isMember || hasList) && (
      <OpenChat value={storyId}>
        <Column>
          <ConversationListing />
        </Column>
      </OpenChat>
    )
  );
}

/** Where the column was scrolled to: each chat has one of its own beside it, and none of them is to jump. */
const columnScroll = { top: 0 };

/** Scrolls on its own, as far as the column before it; the chosen row is in sight. */
function Column({ children }: { children: ReactNode }) {
  const column = useRef<HTMLDivElement>(null);
  const isListed = useSelector(selectConversations).data !== undefined;
  useLayoutEffect(() => {
    const element = column.current;
    if (!element || !isListed) return;
    element.scrollTop = columnScroll.top;
    const chosen = element.querySelector('[aria-current]')?.getBoundingClientRect();
    const { top, bottom } = element.getBoundingClientRect();
    if (chosen && chosen.bottom > bottom) element.scrollTop += chosen.bottom - bottom;
    if (chosen && chosen.top < top) element.scrollTop += chosen.top - top;
    const remember = () => {
      columnScroll.top = element.scrollTop;
    };
    element.addEventListener('scroll', remember, { passive: true });
    return () => element.removeEventListener('scroll', remember);
  }, [isListed]);
  return (
    <div ref={column} className={styles.column}>
      {children}
    </div>
  );
}

const focusField = (field: HTMLInputElement | null) => field?.focus();

function ConversationListing() {
  const list = useChatGetConversationsInfiniteQuery();
  const dispatch = useDispatch();
  const mayGoOn = useKeptPages({
    cache: offlineCache,
    tab,
    key: 'chat.pages.2',
    pages: list.data?.pages,
    restore: (kept) => dispatch(putKeptConversations(kept)),
  });
  const canSearch = useCapability('conversations.search');
  // behind a button, so that no row moves when it is known that there is a search
  const [isSearching, setSearching] = useState(false);
  const [words, setWords] = useState('');
  const pages = list.data?.pages;
  const conversations = useMemo(() => pages && conversationsOf(pages), [pages]);
  const Title = use(OpenChat) === null ? 'h1' : 'h2';
  const refresh = () => dispatch(refreshConversations()).catch((cause: unknown) => toastFailure(cause));
  const whole = (
    <QueryView
      query={{
        ...list,
        data: conversations,
        currentData: conversations,
        error: conversations ? undefined : list.error,
      }}
      skeleton={<Skeleton shape="coverRow" label={texts.list.loading} />}
    >
      {(items) => (
        <InfiniteList
          hasMore={list.hasNextPage}
          loading={list.isFetchingNextPage || !mayGoOn}
          error={list.isFetchNextPageError ? list.error : undefined}
          onMore={list.fetchNextPage}
          end={<ListEnd items={items} />}
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
              onClick={() => {
                setSearching(!isSearching);
                setWords('');
              }}
            />
          )}
          <IconButton label={texts.list.refresh} icon={<RefreshIcon size={20} />} onClick={() => void refresh()} />
        </span>
      </header>
      {canSearch && isSearching && (
        <div className={styles.search}>
          <SearchField ref={focusField} label={texts.list.search} onSearch={setWords} />
        </div>
      )}
      {canSearch && words !== '' ? <FoundConversations words={words} listed={conversations} waiting={whole} /> : whole}
    </PullToRefresh>
  );
}

interface FoundConversationsProps {
  words: string;
  /** What the list knows of them, which is kept in step. */
  listed: Conversation[] | undefined;
  /** Stays in sight until something is found, so that the screen does not flash at each search. */
  waiting: ReactNode;
}

/** What has these words in its title, in the name of a character or in what was said last. */
function FoundConversations({ words, listed, waiting }: FoundConversationsProps) {
  const results = useChatSearchConversationsInfiniteQuery(words);
  const pages = results.data?.pages;
  const conversations = useMemo(() => {
    const listedById = new Map(listed?.map((each) => [each.id, each]));
    const ids = new Set<string>();
    const isFirst = ({ id }: Conversation) => !ids.has(id) && ids.add(id);
    return pages?.flatMap(({ items }) => items.filter(isFirst).map((each) => listedById.get(each.id) ?? each));
  }, [pages, listed]);
  const hidden = useSelector((state) => selectChat(state).deleting);
  const count = conversations?.filter(({ id }) => !hidden.includes(id)).length;
  const query = { ...results, data: conversations, currentData: conversations };
  return (
    <>
      <div role="status">
        <VisuallyHidden>{count !== undefined && !results.isFetching && texts.list.found(count)}</VisuallyHidden>
      </div>
      <QueryView query={query} skeleton={waiting}>
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
    </>
  );
}

/** The rows, of which those that are being deleted collapse. */
function ConversationRows({ items }: { items: Conversation[] }) {
  const hidden = useSelector((state) => selectChat(state).deleting);
  const read = useSelector((state) => selectChat(state).read);
  const hasDots = useCapability('conversations.unread');
  const canPin = useCapability('conversations.pin');
  const now = useNow();
  const open = use(OpenChat);
  const isNth = ({ run, isShelved }: Conversation) => run > 1 || isShelved;
  const withRuns = new Set(items.filter(isNth).map(({ storyId }) => storyId));
  return (
    <ul className={styles.list} aria-label={texts.list.label}>
      {items.map((each) => (
        <CollapsingItem key={each.id} shown={!hidden.includes(each.id)}>
          <RowBoundary of={each}>
            {(conversation) => (
              <ConversationRow
                conversation={conversation}
                isUnread={
                  hasDots &&
                  conversation.isUnread &&
                  (conversation.storyId !== open || conversation.isShelved) &&
                  (read[conversation.id] ?? 0) < conversation.version
                }
                now={now}
                hasRuns={withRuns.has(conversation.storyId)}
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
  const hidden = useSelector((state) => selectChat(state).deleting);
  return items.every(({ id }) => hidden.includes(id)) ? <NothingYet /> : <EndOfList text={texts.list.end} />;
}

const NothingYet = () => (
  <EmptyState
    drawing="lantern"
    text={texts.list.empty}
    action={<Button asLink={<Link to={paths.explore()} />}>{texts.list.toExplore}</Button>}
  />
);
