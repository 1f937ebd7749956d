import { authPopup, holdReload, onUnauthenticated, toast } from '@liaozhai/shared/runtime';
import { type ComponentType, useEffect, useState, useSyncExternalStore } from 'react';
import type { AuthPopupProps } from './AuthPopup';
import { createAuthOpenings, type Opening } from './authOpenings';

/** Fetches the popup's code ahead of its first use. */
export const loadAuthPopup = () => import(/* webpackChunkName: "authPopup" */ './AuthPopup');

/** Answers every 401 and every `requestLogin` with the one popup. Its code is fetched when first needed. */
export function AuthGate() {
  const [openings] = useState(createAuthOpenings);
  const opening = useSyncExternalStore(openings.subscribe, openings.current);
  const Popup = usePopup(opening, openings.close);
  // an opening stays drawn while its sheet slides away
  const [drawn, setDrawn] = useState(opening);
  if (opening && opening !== drawn) setDrawn(opening);

  const isOpen = opening !== null;
  useEffect(() => (isOpen ? holdReload('auth') : undefined), [isOpen]);

  useEffect(() => {
    const stops = [authPopup.onRequest(openings.open), onUnauthenticated(() => void openings.open('register'))];
    return () => {
      for (const stop of stops) stop();
      openings.close(false);
    };
  }, [openings]);

  if (!Popup || !drawn) return null;
  return <Popup key={drawn.id} open={isOpen} mode={drawn.mode} onClose={openings.close} />;
}

function usePopup(opening: Opening | null, close: (signedIn: boolean) => void) {
  const [loaded, setLoaded] = useState<{ Popup: ComponentType<AuthPopupProps> } | null>(null);
  const wanted = opening !== null && !loaded;
  useEffect(() => {
    if (!wanted) return;
    loadAuthPopup().then(
      (module) => setLoaded({ Popup: module.default }),
      () => {
        toast('登录窗口暂时打不开，请检查网络后重试', { kind: 'error' });
        close(false);
      },
    );
  }, [wanted, close]);
  return loaded?.Popup;
}
