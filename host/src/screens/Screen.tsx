import { Route, Router, Routes, ScreenContext } from '@liaozhai/shared/runtime';
import { Activity, memo, type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import { AuthGuard } from '../auth/AuthGate';
import { useNavigation } from '../navigation';
import { usePage } from '../page';
import { RemotePane } from '../remotes/RemotePane';
import type { ScreenRoute } from '../routes';
import { tabs } from '../shell/TabBar';
import { PrerenderedContent } from './prerendered';
import styles from './Screen.module.css';
import type { OpenScreen } from './ScreenStack';
import { type ScrollMemory, useScrollMemory } from './scrollMemory';

interface ScreenProps {
  screen: OpenScreen;
  active: boolean;
  /** The screen the app opened with leaves the focus where the browser put it. */
  isFirst: boolean;
  memory: ScrollMemory;
}

/** One mounted screen: its own scroll container and its own router, whose location stands still while hidden. */
export const Screen = memo(function Screen({ screen, active, isFirst, memory }: ScreenProps) {
  const { route, location, action } = screen;
  const scroller = useRef<HTMLElement>(null);
  const navigation = useNavigation();
  useScrollMemory(scroller, screen, active, memory);
  useFocusMemory(scroller, active, isFirst);
  const context = useMemo(() => ({ scroller, isActive: active }), [active]);
  return (
    <Activity mode={active ? 'visible' : 'hidden'}>
      <main ref={scroller} className={styles.screen} tabIndex={-1} aria-label={route.title}>
        <ScreenContext value={context}>
          <Router navigator={navigation} location={location} navigationType={action as never}>
            <Routes>
              <Route path={route.path} element={<RouteContent route={route} path={location.pathname} />} />
            </Routes>
          </Router>
        </ScreenContext>
      </main>
    </Activity>
  );
});

/** The page of a route in its pane; one that requires a login waits for it. */
function RouteContent({ route, path }: { route: ScreenRoute; path: string }) {
  const { components, prerendered } = usePage();
  const content = prerendered.content(path);
  const pane = (
    <RemotePane
      remoteComponent={components.ofRoute(route)}
      shape={tabs.find(({ path }) => path === route.path)?.shape ?? (route.outsideShell ? 'story' : 'row')}
      outsideShell={route.outsideShell}
      prerendered={content && <PrerenderedContent path={path} content={content} />}
    />
  );
  return route.requiresAuth ? <AuthGuard>{pane}</AuthGuard> : pane;
}

const isTyping = (element: Element) => element.matches('input, textarea, select, [contenteditable]');

/**
 * Moves the focus to a screen that comes into sight: to what had it when the screen was left, else to the screen itself.
 * The tab bar keeps the focus of who walks through it by keyboard, and no field takes it, since a keyboard would jump up.
 */
function useFocusMemory(scroller: RefObject<HTMLElement | null>, active: boolean, isFirst: boolean) {
  const last = useRef<Element | null>(null);
  const skip = useRef(isFirst);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    const remember = (event: FocusEvent) => {
      last.current = event.target as Element;
    };
    element.addEventListener('focusin', remember);
    const held = document.activeElement;
    const busyElsewhere = held?.closest('nav, dialog[open]');
    if (!skip.current && !busyElsewhere) {
      const known = last.current && element.contains(last.current) && !isTyping(last.current) ? last.current : element;
      (known as HTMLElement).focus({ preventScroll: true });
    }
    skip.current = false;
    return () => element.removeEventListener('focusin', remember);
  }, [scroller, active]);
}
