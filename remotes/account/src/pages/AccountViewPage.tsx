import { session, type User, useScreen, useUser } from '@liaozhai/shared/runtime';
import { VisuallyHidden } from '@liaozhai/shared/ui';
import { useEffect, useRef } from 'react';
import { AccountHeader } from '../components/AccountHeader';
import { CheckInCard } from '../components/CheckInCard';
import { DisplayCard } from '../components/DisplayCard';
import { EntryList } from '../components/EntryList';
import { GuestCard } from '../components/GuestCard';
import { InviteCard } from '../components/InviteCard';
import { SignOutButton } from '../components/SignOutButton';
import { useShanghaiDay } from '../components/useShanghaiDay';
import { texts } from '../texts';
import styles from './AccountViewPage.module.css';

/** Asks for the user anew when the day has turned: whether today is checked in belongs to the day. */
function useTodaysUser(userId: string | undefined, today: string) {
  const { isActive } = useScreen();
  // the host asks when the page opens, and signing in answers it, too
  const known = useRef(today);
  useEffect(() => {
    if (!userId || !isActive || known.current === today) return;
    known.current = today;
    void session.refresh();
  }, [userId, today, isActive]);
}

function MemberView({ user, today }: { user: User; today: string }) {
  return (
    <>
      <AccountHeader user={user} />
      <CheckInCard key={user.id} user={user} today={today} />
      {user.inviteCode && <InviteCard code={user.inviteCode} />}
      <EntryList />
    </>
  );
}

export default function AccountViewPage() {
  const user = useUser();
  const today = useShanghaiDay();
  useTodaysUser(user?.id, today);
  return (
    <div className={styles.page}>
      <VisuallyHidden role="heading" aria-level={1}>
        {texts.my.title}
      </VisuallyHidden>
      {user ? <MemberView user={user} today={today} /> : <GuestCard />}
      <DisplayCard />
      {user && <SignOutButton />}
    </div>
  );
}
