import { paths, type User, useGoBack, useUser } from '@liaozhai/shared/runtime';
import { TopBar } from '@liaozhai/shared/ui';
import { type FormEvent, useState } from 'react';
import { useAccountGetAvatarsQuery } from '../api';
import { LeaveDialog } from '../components/LeaveDialog';
import { PasswordForm } from '../components/PasswordForm';
import { ProfileFields } from '../components/ProfileFields';
import { SaveBar } from '../components/SaveBar';
import { useProfileForm } from '../components/useProfileForm';
import { useUnsavedGuard } from '../components/useUnsavedGuard';
import { avatarChoices } from '../model';
import { texts } from '../texts';
import styles from './ProfileEditPage.module.css';

function ProfileEditor({ user }: { user: User }) {
  const { data: avatars = [] } = useAccountGetAvatarsQuery();
  const form = useProfileForm(user);
  const { isAsking, answer } = useUnsavedGuard({ ...form, reason: 'profile' });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void form.save();
  };
  return (
    <>
      <form className={styles.form} onSubmit={submit} aria-label={texts.profile.title} noValidate>
        <ProfileFields form={form} avatars={avatarChoices(avatars, user.avatar)} />
        <SaveBar form={form} />
      </form>
      <PasswordForm user={user} />
      <LeaveDialog open={isAsking} onAnswer={answer} />
    </>
  );
}

/** The user, or the one whose session has just run out: who signs in again finds what they typed. Another's page is a new one. */
function useLastUser(): User | null {
  const user = useUser();
  const [last, setLast] = useState(user);
  if (user && user !== last) setLast(user);
  return user ?? last;
}

export default function ProfileEditPage() {
  const user = useLastUser();
  const goBack = useGoBack(paths.my());
  return (
    <>
      <TopBar title={texts.profile.title} onBack={goBack} />
      <div className={styles.page}>{user && <ProfileEditor key={user.id} user={user} />}</div>
    </>
  );
}
