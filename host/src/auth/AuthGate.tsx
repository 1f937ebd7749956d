import {
  authPopup,
  blockReload,
  createSignal,
  type LoginMode,
  onUnauthenticated,
  paths,
  requestLogin,
  session,
  toast,
  uncopiedCredentials,
  useScreen,
  useSession,
} from '@liaozhai/shared/runtime';
import { Skeleton, stopAll, useModule } from '@liaozhai/shared/ui';
import { Activity, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { useNavigation } from '../navigation';
import styles from './AuthGate.module.css';

// not among the popup's texts, which load with its chunk
const COOKIES_BLOCKED = '登录没能保持：浏览器没有留下登录用的 Cookie。请允许本站的 Cookie、关掉拦截插件，再登录一次';
const UNREACHABLE = '登录窗口暂时打不开，请检查网络后重试';
/** Long enough to read the instructions. */
const COOKIES_BLOCKED_SHOWN_MS = 12_000;

/** Loads the popup's code; also called ahead of its first use. */
export const loadAuthPopup = () => import(/* webpackChunkName: "authPopup" */ './AuthPopup');

/**
 * Opens the single auth popup for `requestLogin` and for 401s (see `onUnauthenticated`); its code is loaded on first use. Credentials that were not copied
 * before the page was unloaded are shown again.
 */
export function AuthGate() {
  const [openings] = useState(createAuthOpenings);
  const opening = useSyncExternalStore(openings.subscribe, openings.current);
  const [uncopiedText, setUncopiedText] = useState(uncopiedCredentials.read);
  const isPopupNeeded = opening !== null || uncopiedText !== null;
  const popup = useModule(loadAuthPopup, isPopupNeeded, () => {
    toast(UNREACHABLE, { kind: 'error' });
    openings.close(false);
    setUncopiedText(null);
  });
  const navigation = useNavigation();
  // a navigation while the popup's code is loading cancels the opening
  useEffect(
    () => (popup ? undefined : navigation.subscribe(() => openings.close(false))),
    [popup, navigation, openings],
  );
  // an opening stays mounted while its sheet slides away
  const [sheet, setSheet] = useState(opening);
  if (opening && opening !== sheet) setSheet(opening);

  useEffect(() => (isPopupNeeded ? blockReload('auth') : undefined), [isPopupNeeded]);

  useEffect(() => {
    return stopAll(
      authPopup.onRequest(openings.open),
      onUnauthenticated(() => session.isUnkept() || void openings.open('register')),
      session.onUnkept(() => toast(COOKIES_BLOCKED, { kind: 'error', durationMs: COOKIES_BLOCKED_SHOWN_MS })),
      () => openings.close(false),
    );
  }, [openings]);

  if (!popup) return null;
  const { default: AuthPopup, CredentialsDialog } = popup;
  const onCopied = () => {
    uncopiedCredentials.forget();
    setUncopiedText(null);
  };
  return (
    <>
      {sheet && <AuthPopup key={sheet.id} open={opening !== null} mode={sheet.mode} onClose={openings.close} />}
      <CredentialsDialog credentials={uncopiedText} onCopied={onCopied} />
    </>
  );
}

interface Opening {
  id: number;
  mode: LoginMode;
  settle: (signedIn: boolean) => void;
}

/** State of the single popup: a request while it is open joins that opening and keeps its mode. */
function createAuthOpenings() {
  let current: Opening | null = null;
  let outcome = Promise.resolve(false);
  let count = 0;
  const changes = createSignal();
  const change = (next: Opening | null) => {
    current = next;
    changes.emit();
  };
  return {
    current: (): Opening | null => current,
    subscribe: changes.on,
    /** Resolves with whether the visitor signed in. */
    open(mode: LoginMode): Promise<boolean> {
      if (current) return outcome;
      count += 1;
      outcome = new Promise((settle) => change({ id: count, mode, settle }));
      return outcome;
    },
    close(signedIn: boolean) {
      const closedOpening = current;
      change(null);
      closedOpening?.settle(signedIn);
    },
  };
}

/**
 * Shows a private screen to members. When the session ends, the screen is hidden with its input, and shown again after a new
 * sign-in. Closing the popup navigates to 我的.
 */
export function AuthGuard({ children }: { children: ReactNode }) {
  const { status } = useSession();
  const { isActive } = useScreen();
  const navigation = useNavigation();
  const isMember = status === 'member';
  const [hasEntered, setHasEntered] = useState(isMember);
  if (isMember && !hasEntered) setHasEntered(true);

  useEffect(() => {
    if (status !== 'guest' || !isActive) return;
    let isCurrent = true;
    if (session.isUnkept()) return navigation.replace(paths.my());
    const enter = async () => {
      await session.recover();
      if (!isCurrent || session.current().status !== 'guest' || (await requestLogin())) return;
      if (isCurrent) navigation.replace(paths.my());
    };
    void enter();
    return () => {
      isCurrent = false;
    };
  }, [status, isActive, navigation]);

  return (
    <>
      {hasEntered && <Activity mode={isMember ? 'visible' : 'hidden'}>{children}</Activity>}
      {!isMember && (
        <div className={styles.waiting}>
          <Skeleton shape="row" count={4} />
        </div>
      )}
    </>
  );
}
