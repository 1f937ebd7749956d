import { Route, Router, Routes, ScreenContext } from '@liaozhai/shared/runtime';
import clsx from 'clsx';
import { Activity, memo, useMemo, useRef } from 'react';
import { useNavigation } from '../navigation/NavigationContext';
import { RouteContent } from './RouteContent';
import styles from './Screen.module.css';
import type { OpenScreen } from './screenStack';
import type { ScrollMemory } from './scrollMemory';
import { useFocusMemory } from './useFocusMemory';
import { useScrollMemory } from './useScrollMemory';

interface ScreenProps {
  screen: OpenScreen;
  active: boolean;
  /** The screen the app opened with leaves the focus where the browser put it. */
  isFirst: boolean;
  memory: ScrollMemory;
}

/** One mounted screen: its own scroll container and its own router, whose location stands still while hidden. */
export const Screen = memo(function Screen({ screen, active, isFirst, memory }: ScreenProps) {
  const { route, place, action } = screen;
  const scroller = useRef<HTMLElement>(null);
  const navigation = useNavigation();
  useScrollMemory(scroller, screen, active, memory);
  useFocusMemory(scroller, active, isFirst);
  const context = useMemo(() => ({ scroller, isActive: active }), [active]);
  return (
    <Activity mode={active ? 'visible' : 'hidden'}>
      <main
        ref={scroller}
        className={clsx(styles.screen, route.outsideShell && styles.whole)}
        tabIndex={-1}
        aria-label={route.title}
      >
        <ScreenContext value={context}>
          <Router navigator={navigation} location={place} navigationType={action as never}>
            <Routes>
              <Route path={route.path} element={<RouteContent route={route} />} />
            </Routes>
          </Router>
        </ScreenContext>
      </main>
    </Activity>
  );
});
