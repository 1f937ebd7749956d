import { formatRelative } from '@liaozhai/shared/format';
import { Link, paths, useNavigate } from '@liaozhai/shared/runtime';
import { Cover, DeleteIcon, Menu, media, PinIcon, SwipeRow, UnpinIcon, VisuallyHidden } from '@liaozhai/shared/ui';
import {
  createContext,
  type MouseEvent,
  memo,
  type ReactNode,
  use,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { toastFailure } from '../api/failures';
import { resumeRun } from '../api/listApi';
import type { Conversation } from '../model/conversation';
import styles from '../pages/ConversationListPage.module.css';
import { texts } from '../texts';

/** The story whose chat is open next to the list. */
export const OpenChatContext = createContext<string | null>(null);

interface ConversationRowProps {
  conversation: Conversation;
  isUnread: boolean;
  /** Whether its story has several runs. */
  hasRuns: boolean;
  /** Current time, epoch ms. */
  now: number;
  onDelete: (conversation: Conversation) => void;
  /** undefined if the server does not support pinning. */
  onPin: ((conversation: Conversation, pinned: boolean) => unknown) | undefined;
}

/** A tap opens the conversation; a swipe or the ⋯ menu deletes or pins it. */
export const ConversationRow = memo(function ConversationRow(props: ConversationRowProps) {
  const { conversation, isUnread, hasRuns, now, onDelete, onPin } = props;
  const { storyId, title, coverUrl, coverColor, excerpt, isMine, updatedAt, pinnedAt, run, isShelved } = conversation;
  const canOpen = storyId !== '';
  const openStoryId = use(OpenChatContext);
  // next to an open chat, a link replaces the history entry, and the open chat's own link is marked
  const link = {
    to: paths.storyChat(storyId),
    replace: openStoryId !== null,
    'aria-current': openStoryId === storyId && !isShelved ? ('page' as const) : undefined,
  };
  const navigate = useNavigate();
  const isPinned = pinnedAt !== '';
  const remove = () => onDelete(conversation);
  const pinAction = onPin && {
    label: isPinned ? texts.list.unpin : texts.list.pin,
    onAction: () => void onPin(conversation, !isPinned),
  };
  const PinToggleIcon = isPinned ? UnpinIcon : PinIcon;
  const [isOpening, setOpening] = useState(false);
  /** How often the list was left. */
  const departures = useRef(0);
  useEffect(
    () => () => {
      departures.current += 1;
    },
    [],
  );
  /** A story's chat shows the current run, so this run is made the current one first. */
  const openRun = async (event: MouseEvent) => {
    event.preventDefault();
    if (isOpening) return;
    setOpening(true);
    const departuresBefore = departures.current;
    try {
      await resumeRun(conversation);
      // a late answer must not lead away from another screen, nor from the list after the user has returned
      if (departures.current === departuresBefore) navigate(link.to, { replace: link.replace });
    } catch (cause) {
      toastFailure(cause, texts.runs.failed);
    } finally {
      setOpening(false);
    }
  };
  const content = (
    <>
      <Cover className={styles.cover} src={coverUrl} title={title} color={coverColor} decorative />
      <span className={styles.text}>
        <span className={styles.conversationRowTitle}>{title}</span>
        <span className={styles.excerpt}>
          {canOpen && hasRuns && <span className={styles.run}>{texts.runs.run(run)}</span>}
          {canOpen && isMine && <span>{texts.list.mine}</span>}
          <span>{canOpen ? excerpt || texts.list.nothingYet : texts.list.closed}</span>
        </span>
      </span>
      <span className={styles.side}>
        <time className={styles.time} dateTime={updatedAt}>
          {updatedAt && formatRelative(updatedAt, now)}
        </time>
        {isPinned && (
          <span className={styles.pin}>
            <PinIcon size={14} aria-hidden />
            <VisuallyHidden>{texts.list.pinned}</VisuallyHidden>
          </span>
        )}
        {canOpen && isUnread && (
          <span className={styles.dot}>
            <VisuallyHidden>{texts.list.unread}</VisuallyHidden>
          </span>
        )}
      </span>
    </>
  );
  return (
    <SwipeRow actionLabel={texts.list.remove} onAction={remove} also={pinAction}>
      <div className={styles.row} data-pinned={isPinned} aria-busy={isOpening}>
        {canOpen ? (
          <Link
            className={styles.link}
            {...link}
            draggable={false}
            onClick={isShelved ? (event) => void openRun(event) : undefined}
          >
            {content}
          </Link>
        ) : (
          <div className={styles.link}>{content}</div>
        )}
        <Menu
          label={texts.list.more(title)}
          items={[
            ...(pinAction
              ? [{ label: pinAction.label, icon: <PinToggleIcon size={18} />, onSelect: pinAction.onAction }]
              : []),
            { label: texts.list.remove, icon: <DeleteIcon size={18} />, danger: true, onSelect: remove },
          ]}
        />
      </div>
    </SwipeRow>
  );
});

const COLLAPSE_MS = 240;
const EASING = 'cubic-bezier(0.2, 0.7, 0.2, 1)';

/** Returns null if the user prefers reduced motion or the browser lacks the Web Animations API. */
function playCollapse(item: HTMLElement, direction: 'normal' | 'reverse'): Animation | null {
  if (!item.animate || media('(prefers-reduced-motion: reduce)').matches) return null;
  const expanded = { height: `${item.offsetHeight}px`, opacity: 1 };
  const options = { duration: COLLAPSE_MS, easing: EASING, direction, fill: 'backwards' } as const;
  return item.animate([expanded, { height: '0px', opacity: 0 }], options);
}

/** A list item that collapses and unmounts when `shown` becomes false, and expands when it becomes true again. */
export function CollapsingItem({ shown, children }: { shown: boolean; children: ReactNode }) {
  const item = useRef<HTMLLIElement>(null);
  const previousShown = useRef(shown);
  const [isMounted, setMounted] = useState(shown);
  if (shown && !isMounted) setMounted(true);
  useLayoutEffect(() => {
    const hasChanged = previousShown.current !== shown;
    previousShown.current = shown;
    const unmount = () => shown || setMounted(false);
    const animation = hasChanged && item.current && playCollapse(item.current, shown ? 'reverse' : 'normal');
    if (!animation) return void unmount();
    animation.onfinish = unmount;
    return () => {
      animation.onfinish = null;
      animation.finish();
    };
  }, [shown]);
  if (!isMounted) return null;
  return (
    <li ref={item} className={styles.item} inert={!shown}>
      {children}
    </li>
  );
}
