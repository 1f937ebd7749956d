import { useState } from 'react';
import { useVisit } from '../navigation/NavigationContext';
import { routeAt, type ScreenRoute } from '../routes/routeTable';
import { isTab } from '../shell/tabs';
import { afterVisit, type OpenScreen, screenKey } from './screenStack';
import type { Visitor } from './useVisitor';

interface ScreenStack {
  screens: readonly OpenScreen[];
  active: OpenScreen;
}

/** Which screens are mounted, and which of them is in sight. */
export function useScreenStack(routes: readonly ScreenRoute[], visitor: Visitor): ScreenStack {
  const visit = useVisit();
  const route = routeAt(routes, visit.place.pathname);
  const key = screenKey(route, visit.place);
  const [stack, setStack] = useState(() => ({ visit, visitor, screens: afterVisit([], visit, route, isTab) }));
  let shown = stack;
  if (stack.visit !== visit || stack.visitor !== visitor) {
    const known = stack.visitor === visitor ? stack.screens : stack.screens.filter((screen) => screen.key === key);
    shown = { visit, visitor, screens: afterVisit(known, visit, route, isTab) };
    setStack(shown);
  }
  const active = shown.screens.find((screen) => screen.key === key);
  if (!active) throw new Error(`no screen for ${visit.place.pathname}`);
  return { screens: shown.screens, active };
}
