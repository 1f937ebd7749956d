import { formatRelative } from '@liaozhai/shared/format';
import { Link, paths } from '@liaozhai/shared/runtime';
import { Cover, DeleteIcon, Menu, SwipeRow } from '@liaozhai/shared/ui';
import { memo } from 'react';
import type { Conversation } from '../model';
import { texts } from '../texts';
import styles from './ConversationRow.module.css';

interface ConversationRowProps {
  conversation: Conversation;
  /** epoch, ms */
  now: number;
  onDelete: (conversation: Conversation) => void;
}

/** One past conversation: a tap goes on with it, a swipe or the ⋯ deletes it. */
export const ConversationRow = memo(function ConversationRow({ conversation, now, onDelete }: ConversationRowProps) {
  const { storyId, title, coverUrl, excerpt, isMine, updatedAt } = conversation;
  const remove = () => onDelete(conversation);
  return (
    <SwipeRow actionLabel={texts.list.remove} onAction={remove}>
      <div className={styles.row}>
        <Link className={styles.link} to={paths.storyChat(storyId)} draggable={false}>
          <Cover className={styles.cover} src={coverUrl} title={title} decorative />
          <span className={styles.text}>
            <span className={styles.title}>{title}</span>
            <span className={styles.excerpt}>
              {isMine && texts.list.mine}
              {excerpt || texts.list.nothingYet}
            </span>
          </span>
          <time className={styles.time} dateTime={updatedAt}>
            {updatedAt && formatRelative(updatedAt, now)}
          </time>
        </Link>
        <Menu
          label={texts.list.more(title)}
          items={[{ label: texts.list.remove, icon: <DeleteIcon size={18} />, danger: true, onSelect: remove }]}
        />
      </div>
    </SwipeRow>
  );
});
