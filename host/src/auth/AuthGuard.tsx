import { paths, requestLogin, useScreen, useSession } from '@liaozhai/shared/runtime';
import { Skeleton } from '@liaozhai/shared/ui';
import { Activity, type ReactNode, useEffect, useState } from 'react';
import { useNavigation } from '../navigation/NavigationContext';
import styles from './AuthGuard.module.css';

/**
 * Shows a private screen to who is signed in. A session that ends hides it with what was typed on it;
 * signing in again brings it back, closing the popup leads to 我的.
 */
export function AuthGuard({ children }: { children: ReactNode }) {
  const { status } = useSession();
  const { isActive } = useScreen();
  const navigation = useNavigation();
  const isMember = status === 'member';
  const [entered, setEntered] = useState(isMember);
  if (isMember && !entered) setEntered(true);

  useEffect(() => {
    if (status !== 'guest' || !isActive) return;
    let here = true;
    requestLogin().then((signedIn) => {
      if (here && !signedIn) navigation.replace(paths.my());
    });
    return () => {
      here = false;
    };
  }, [status, isActive, navigation]);

  return (
    <>
      {entered && <Activity mode={isMember ? 'visible' : 'hidden'}>{children}</Activity>}
      {!isMember && (
        <div className={styles.waiting}>
          <Skeleton shape="row" count={4} />
        </div>
      )}
    </>
  );
}
