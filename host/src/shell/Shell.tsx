import { Router } from '@liaozhai/shared/runtime';
import { useCallback, useState } from 'react';
import { pageSet } from '../federation';
import { useNavigation, useVisit } from '../navigation/NavigationContext';
import { prefetchScreen } from '../remotes/prefetch';
import type { ScreenRoute } from '../routes/routeTable';
import { ScreenStack } from '../screens/ScreenStack';
import { createScrollMemory } from '../screens/scrollMemory';
import { useScreenStack } from '../screens/useScreenStack';
import { useScrollSaving } from '../screens/useScrollSaving';
import { useVisitor } from '../screens/useVisitor';
import { OfflineBanner } from './OfflineBanner';
import { OverrideBadge } from './OverrideBadge';
import styles from './Shell.module.css';
import { TabBar } from './TabBar';

/** The frame around the screens: notices above, the tab bar below (a rail at the left of a wide window). */
export function Shell({ routes }: { routes: readonly ScreenRoute[] }) {
  const navigation = useNavigation();
  const { place } = useVisit();
  const [memory] = useState(createScrollMemory);
  const visitor = useVisitor(memory.clear);
  const { screens, active } = useScreenStack(routes, visitor);
  useScrollSaving(memory);
  const prefetch = useCallback((path: string) => prefetchScreen(routes, path), [routes]);
  return (
    <div className={styles.frame}>
      <Router navigator={navigation} location={place}>
        <TabBar
          pathname={place.pathname}
          hidden={active.route.outsideShell}
          onApproach={prefetch}
          onAgain={scrollToTop}
        />
      </Router>
      <div className={styles.notices}>
        {pageSet.override && <OverrideBadge expires={pageSet.override.expires} />}
        <OfflineBanner />
      </div>
      <ScreenStack screens={screens} active={active} epoch={visitor.arrivals} memory={memory} />
    </div>
  );
}

const isVisible = (element: Element) => element.getClientRects().length > 0;

function scrollToTop() {
  const screen = [...document.querySelectorAll('main')].find(isVisible);
  screen?.scrollTo({ top: 0, behavior: 'smooth' });
}
