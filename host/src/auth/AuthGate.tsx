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
import { Skeleton } from '@liaozhai/shared/ui';
import { Activity, type ReactNode, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { useNavigation } from '../navigation';
import styles from './AuthGate.module.css';

// not among the popup's texts, which load with its chunk
const UNKEPT = '登录没能保持：浏览器没有留下登录用的 Cookie。请允许本站的 Cookie、关掉拦截插件，再登录一次';
const UNREACHABLE = '登录窗口暂时打不开，请检查网络后重试';
/** Long enough to read the instructions. */
const UNKEPT_SHOWN_MS = 12_000;

/** Loads the popup's code; also called ahead of its first use. */
export const loadAuthPopup = () => import(/* webpackChunkName: "authPopup" */ './AuthPopup');

type PopupModule = Awaited<ReturnType<typeof loadAuthPopup>>;

/**
 * Opens the single auth popup for every 401 and `requestLogin`; its code is loaded on first use. Credentials that were not copied
 * before the page was unloaded are shown again.
 */
export function AuthGate() {
  const [openings] = useState(createAuthOpenings);
  const opening = useSyncExternalStore(openings.subscribe, openings.current);
  const [uncopied, setUncopied] = useState(uncopiedCredentials.read);
  const isWanted = opening !== null || uncopied !== null;
  const giveUp = useCallback(() => {
    openings.close(false);
    setUncopied(null);
  }, [openings]);
  const popup = usePopup(isWanted, giveUp);
  const navigation = useNavigation();
  // a navigation while the popup's code is loading cancels the opening
  useEffect(
    () => (popup ? undefined : navigation.subscribe(() => openings.close(false))),
    [popup, navigation, openings],
  );
  // an opening stays mounted while its sheet slides away
  const [mounted, setMounted] = useState(opening);
  if (opening && opening !== mounted) setMounted(opening);

  useEffect(() => (isWanted ? blockReload('auth') : undefined), [isWanted]);

  useEffect(() => {
    const stops = [
      authPopup.onRequest(openings.open),
      onUnauthenticated(() => session.isUnkept() || void openings.open('register')),
      session.onUnkept(() => toast(UNKEPT, { kind: 'error', durationMs: UNKEPT_SHOWN_MS })),
    ];
    return () => {
      for (const stop of stops) stop();
      openings.close(false);
    };
  }, [openings]);

  if (!popup) return null;
  const { default: AuthPopup, CredentialsDialog } = popup;
  const onCopied = () => {
    uncopiedCredentials.forget();
    setUncopied(null);
  };
  return (
    <>
      {mounted && <AuthPopup key={mounted.id} open={opening !== null} mode={mounted.mode} onClose={openings.close} />}
      <CredentialsDialog credentials={uncopied} onCopied={onCopied} />
    </>
  );
}

function usePopup(isWanted: boolean, giveUp: () => void): PopupModule | null {
  const [loaded, setLoaded] = useState<PopupModule | null>(null);
  const isMissing = isWanted && !loaded;
  useEffect(() => {
    if (!isMissing) return;
    loadAuthPopup().then(setLoaded, () => {
      toast(UNREACHABLE, { kind: 'error' });
      giveUp();
    });
  }, [isMissing, giveUp]);
  return loaded;
}

interface Opening {
  id: number;
  mode: LoginMode;
}

interface Waiting extends Opening {
  answer: Promise<boolean>;
  settle: (signedIn: boolean) => void;
}

function waiting(id: number, mode: LoginMode): Waiting {
  let settle: Waiting['settle'] = () => undefined;
  const answer = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return { id, mode, answer, settle };
}

/** State of the single popup: a request while it is open joins that opening and keeps its mode. */
function createAuthOpenings() {
  let current: Waiting | null = null;
  let count = 0;
  const changed = createSignal();
  const change = (next: Waiting | null) => {
    current = next;
    changed.emit();
  };
  return {
    current: (): Opening | null => current,
    subscribe: changed.on,
    /** Resolves with whether the visitor signed in. */
    open(mode: LoginMode): Promise<boolean> {
      if (current) return current.answer;
      count += 1;
      const opening = waiting(count, mode);
      change(opening);
      return opening.answer;
    },
    close(signedIn: boolean) {
      const closing = current;
      change(null);
      closing?.settle(signedIn);
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
  const [entered, setEntered] = useState(isMember);
  if (isMember && !entered) setEntered(true);

  useEffect(() => {
    if (status !== 'guest' || !isActive) return;
    let here = true;
    if (session.isUnkept()) return navigation.replace(paths.my());
    const enter = async () => {
      await session.recover();
      if (!here || session.current().status !== 'guest' || (await requestLogin())) return;
      if (here) navigation.replace(paths.my());
    };
    void enter();
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
