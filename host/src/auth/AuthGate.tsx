import { authPopup, holdReload, onUnauthenticated, toast, uncopiedCredentials } from '@liaozhai/shared/runtime';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { createAuthOpenings } from './authOpenings';

/** Fetches the popup's code ahead of its first use. */
export const loadAuthPopup = () => import(/* webpackChunkName: "authPopup" */ './AuthPopup');

type PopupModule = Awaited<ReturnType<typeof loadAuthPopup>>;

/**
 * Answers every 401 and every `requestLogin` with the one popup, whose code is fetched when first needed.
 * Credentials that were still to be copied when the page went are shown again.
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
  // an opening stays drawn while its sheet slides away
  const [drawn, setDrawn] = useState(opening);
  if (opening && opening !== drawn) setDrawn(opening);

  useEffect(() => (isWanted ? holdReload('auth') : undefined), [isWanted]);

  useEffect(() => {
    const stops = [authPopup.onRequest(openings.open), onUnauthenticated(() => void openings.open('register'))];
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
      {drawn && <AuthPopup key={drawn.id} open={opening !== null} mode={drawn.mode} onClose={openings.close} />}
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
      toast('登录窗口暂时打不开，请检查网络后重试', { kind: 'error' });
      giveUp();
    });
  }, [isMissing, giveUp]);
  return loaded;
}
