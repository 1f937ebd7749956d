import { AuthGuard } from '../auth/AuthGuard';
import { routePart } from '../remotes/partSources';
import { RemotePane } from '../remotes/RemotePane';
import type { ScreenRoute } from '../routes/routeTable';
import { DrawnContent } from './DrawnContent';
import { drawnContent } from './drawnScreen';

/** The page of a route in its pane; one that requires a login waits for it. */
export function RouteContent({ route }: { route: ScreenRoute }) {
  const content = drawnContent(route.path);
  const pane = (
    <RemotePane
      part={routePart(route)}
      outsideShell={route.outsideShell}
      drawn={content && <DrawnContent route={route.path} content={content} />}
    />
  );
  return route.requiresAuth ? <AuthGuard>{pane}</AuthGuard> : pane;
}
