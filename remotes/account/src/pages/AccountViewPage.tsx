import { dayKey } from '@liaozhai/shared/format';
import { session, type User, useScreen, useUser } from '@liaozhai/shared/runtime';
import { useShanghaiDay, VisuallyHidden } from '@liaozhai/shared/ui';
import { useEffect, useRef } from 'react';
import { AccountHeader } from '../components/AccountHeader';
import { CheckInCard } from '../components/CheckInCard';
import { DisplayCard } from '../components/DisplayCard';
import { EntryList } from '../components/EntryList';
import { GuestCard } from '../components/GuestCard';
import { InviteCard } from '../components/InviteCard';
import { SignOutButton } from '../components/SignOutButton';
import { texts } from '../texts';
import styles from './AccountViewPage.module.css';

const CLOCK_SKEW_MS = 120_000;

/** Asks for the user anew when the day has turned: whether today is checked in belongs to the day. */
function useTodaysUser(userId: string | undefined, today: string) {
  const { isActive } = useScreen();
  // the host asks when the page opens, which may have been days before this screen does
  const known = useRef(dayKey(performance.timeOrigin));
  useEffect(() => {
    if (!userId || !isActive || known.current === today) return;
    void session.refresh();
    // a device whose clock is ahead asked too early: the server's day had not turned yet
    const again = setTimeout(() => {
      known.current = today;
      void session.refresh();
    }, CLOCK_SKEW_MS);
    return () => clearTimeout(again);
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
