import { failureText } from '@liaozhai/shared/format';
import { isApiError, Link, paths, toast, useDispatch, useSelector } from '@liaozhai/shared/runtime';
import {
  Button,
  EmptyState,
  EndOfList,
  IconButton,
  InfiniteList,
  PullToRefresh,
  QueryView,
  RefreshIcon,
  Skeleton,
} from '@liaozhai/shared/ui';
import { useMemo } from 'react';
import { refreshConversations, useChatGetConversationsInfiniteQuery } from '../api';
import { deleteConversation } from '../api/deletions';
import { conversationsOf } from '../model';
import { selectChat } from '../slice';
import { texts } from '../texts';
import styles from './ConversationList.module.css';
import { ConversationRow } from './ConversationRow';
import { useNow } from './useNow';

export function ConversationList() {
  const list = useChatGetConversationsInfiniteQuery();
  const dispatch = useDispatch();
  const hidden = useSelector((state) => selectChat(state).deleting);
  const now = useNow();
  const pages = list.data?.pages;
  const conversations = useMemo(
    () => pages && conversationsOf(pages).filter(({ id }) => !hidden.includes(id)),
    [pages, hidden],
  );
  const refresh = () =>
    dispatch(refreshConversations()).catch((cause: unknown) => {
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause);
      if (problem) toast(problem, { kind: 'error' });
    });
  return (
    <PullToRefresh onRefresh={refresh}>
      <header className={styles.head}>
        <h1 className={styles.title}>{texts.list.title}</h1>
        <IconButton label={texts.list.refresh} icon={<RefreshIcon size={20} />} onClick={() => void refresh()} />
      </header>
      <QueryView
        query={{
          ...list,
          data: conversations,
          currentData: conversations,
          error: conversations ? undefined : list.error,
        }}
        skeleton={<Skeleton shape="row" count={6} label={texts.list.loading} />}
        isEmpty={(items) => items.length === 0 && !list.hasNextPage}
        empty={<NothingYet />}
      >
        {(items) => (
          <InfiniteList
            hasMore={list.hasNextPage}
            loading={list.isFetchingNextPage}
            error={list.isFetchNextPageError ? list.error : undefined}
            onMore={list.fetchNextPage}
            end={<EndOfList text={texts.list.end} />}
          >
            <ul className={styles.list} aria-label={texts.list.label}>
              {items.map((conversation) => (
                <li key={conversation.id} className={styles.item}>
                  <ConversationRow conversation={conversation} now={now} onDelete={deleteConversation} />
                </li>
              ))}
            </ul>
          </InfiniteList>
        )}
      </QueryView>
    </PullToRefresh>
  );
}

const NothingYet = () => (
  <EmptyState
    drawing="lantern"
    text={texts.list.empty}
    action={<Button asLink={<Link to={paths.explore()} />}>{texts.list.toExplore}</Button>}
  />
);
