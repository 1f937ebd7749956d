import { Link, paths, RemoteSlot, type User } from '@liaozhai/shared/runtime';
import { Avatar, ChevronRightIcon, VisuallyHidden } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './AccountHeader.module.css';

/** Who is signed in; leads to the profile. Below it the wallet's own line with the balance. */
export function AccountHeader({ user }: { user: User }) {
  return (
    <header className={styles.header}>
      <Link className={styles.person} to={paths.profile()}>
        <Avatar name={user.name} src={user.avatar} size="large" decorative />
        <span className={styles.words}>
          <span className={styles.name}>{user.name}</span>
          <span className={styles.username}>{texts.my.username(user.username)}</span>
        </span>
        <VisuallyHidden>{texts.my.toProfile}</VisuallyHidden>
        <ChevronRightIcon className={styles.chevron} size={20} />
      </Link>
      <div className={styles.balance}>
        <RemoteSlot name="my.balance" />
      </div>
    </header>
  );
}
