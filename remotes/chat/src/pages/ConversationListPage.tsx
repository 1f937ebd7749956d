import { SESSION_EXPIRED } from '@liaozhai/shared/format';
import { RemoteSlot, requestLogin, useExpiredSession, useSession } from '@liaozhai/shared/runtime';
import { Button, EmptyState, Skeleton } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './ConversationListPage.module.css';

/** Whether there may be conversations to show: after the session has expired, the page keeps those it has loaded. */
function useMayHaveConversations(): boolean {
  const isMember = useSession().status === 'member';
  const isExpired = useExpiredSession() !== null;
  return isMember || isExpired;
}

/** 聊过: guests are invited to sign in. The list itself is a separate chunk, which only members load. */
export default function ConversationListPage() {
  if (!useMayHaveConversations()) return <Invitation />;
  return <RemoteSlot name="conversations.member" waiting={<ListWaiting />} />;
}

/** The list next to an open chat, for the slot `conversations`; empty for guests. */
export function ConversationColumn({ storyId }: { storyId: string }) {
  return (
    useMayHaveConversations() && (
      <RemoteSlot
        name="conversations.member"
        storyId={storyId}
        waiting={
          <div className={styles.column}>
            <Skeleton shape="coverRow" label={texts.list.loading} />
          </div>
        }
      />
    )
  );
}

const ListWaiting = () => (
  <div className={styles.page}>
    <div className={styles.head}>
      <h1 className={styles.conversationListTitle}>{texts.list.title}</h1>
    </div>
    <Skeleton shape="coverRow" label={texts.list.loading} />
  </div>
);

export function Invitation({ isExpired = false }: { isExpired?: boolean }) {
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>{texts.list.title}</h1>
      <EmptyState drawing="moon" text={isExpired ? SESSION_EXPIRED : texts.list.guest} action={<SignInButton />} />
    </div>
  );
}

export const SignInButton = () => <Button onClick={() => void requestLogin('login')}>{texts.list.signIn}</Button>;
