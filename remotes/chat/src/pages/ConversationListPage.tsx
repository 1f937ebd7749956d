import { requestLogin, useSession } from '@liaozhai/shared/runtime';
import { Button, EmptyState } from '@liaozhai/shared/ui';
import { useEffect } from 'react';
import { startOutbox } from '../api/outbox';
import { ConversationList } from '../components/ConversationList';
import { texts } from '../texts';
import styles from './ConversationListPage.module.css';

/** 聊过: the conversations one has had, the latest first. */
export default function ConversationListPage() {
  const isMember = useSession().status === 'member';
  useEffect(startOutbox, []);
  return (
    <div className={styles.page}>
      {isMember ? (
        <ConversationList />
      ) : (
        <>
          <h1 className={styles.title}>{texts.list.title}</h1>
          <EmptyState
            drawing="moon"
            text={texts.list.guest}
            action={<Button onClick={() => void requestLogin('login')}>{texts.list.signIn}</Button>}
          />
        </>
      )}
    </div>
  );
}
