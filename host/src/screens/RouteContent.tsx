import { AuthGuard } from '../auth/AuthGuard';
import { routePart } from '../remotes/partSources';
import { RemotePane } from '../remotes/RemotePane';
import type { ScreenRoute } from '../routes/routeTable';

/** The page of a route in its pane; one that requires a login waits for it. */
export function RouteContent({ route }: { route: ScreenRoute }) {
  const pane = <RemotePane part={routePart(route)} outsideShell={route.outsideShell} />;
  return route.requiresAuth ? <AuthGuard>{pane}</AuthGuard> : pane;
}
