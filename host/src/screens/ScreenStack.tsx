import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import {
  hostConfig,
  type Location,
  local,
  Route,
  Router,
  Routes,
  ScreenContext,
  session,
} from '@liaozhai/shared/runtime';
import { listenTo, VisuallyHidden } from '@liaozhai/shared/ui';
import {
  Activity,
  type ComponentProps,
  memo,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { AuthGuard } from '../auth/AuthGate';
import { type HistoryPosition, useNavigation, usePosition } from '../navigation';
import { usePage } from '../page';
import { RemotePane } from '../remotes/RemotePane';
import { routeAt, type ScreenRoute } from '../routes';
import { isTab, tabs } from '../shell/TabBar';
import { PrerenderedContent } from './prerendered';
import styles from './ScreenStack.module.css';
import { type ScrollMemory, useScrollMemory } from './scrollMemory';

interface ScreenStackProps {
  screens: readonly OpenScreen[];
  active: OpenScreen;
  /** Part of every screen's key: a new one remounts them all. */
  epoch: number;
  memory: ScrollMemory;
}

export function ScreenStack({ screens, active, epoch, memory }: ScreenStackProps) {
  const [firstKey] = useState(active.key);
  return (
    <>
      {/* before the screens, whose pages may set a better title */}
      <DocumentTitle key={active.key} title={active.route.title} />
      {screens.map((screen) => (
        <Screen
          key={`${epoch} ${screen.key}`}
          screen={screen}
          active={screen.key === active.key}
          isFirst={screen.key === firstKey}
          memory={memory}
        />
      ))}
      <RouteAnnouncer title={active.route.title} />
    </>
  );
}

/** Sets the document's title and canonical URL to those of the active route; Safari's share sheet uses the canonical URL. */
function DocumentTitle({ title }: { title: string }) {
  const { pathname } = usePosition().location;
  useLayoutEffect(() => {
    document.title = `${title} · ${hostConfig().brand.name}`;
    document.querySelector('[rel=canonical]')?.setAttribute('href', location.origin + pathname);
  }, [title, pathname]);
  return null;
}

/** Announces the active screen to screen readers; the document itself announces the first one. */
function RouteAnnouncer({ title }: { title: string }) {
  const [last, setLast] = useState({ title, announcement: '' });
  if (title !== last.title) setLast({ title, announcement: title });
  return <VisuallyHidden role="status">{last.announcement}</VisuallyHidden>;
}

/** Returns the mounted screens and the active one. Throws if the position has none. */
export function useScreenStack(routes: readonly ScreenRoute[], visitor: Visitor) {
  const position = usePosition();
  const route = routeAt(routes, position.location.pathname);
  const key = screenKey(route, position.location);
  const [stack, setStack] = useState(() => ({ position, visitor, screens: afterNavigation([], position, route) }));
  let currentStack = stack;
  if (stack.position !== position || stack.visitor !== visitor) {
    const ownScreens = stack.visitor === visitor ? stack.screens : stack.screens.filter((screen) => screen.key === key);
    currentStack = { position, visitor, screens: afterNavigation(ownScreens, position, route) };
    setStack(currentStack);
  }
  const active = currentStack.screens.find((screen) => screen.key === key);
  if (!active) throw new Error(`no screen for ${position.location.pathname}`);
  return { screens: currentStack.screens, active };
}

/** A mounted screen: the active one, or one kept alive behind it. */
export interface OpenScreen {
  key: string;
  route: ScreenRoute;
  /** Its last location; does not change while the screen is hidden. */
  location: Location;
  action: HistoryPosition['action'];
  /** Grows with each navigation; the smallest is unmounted first. */
  lastSeen: number;
}

/** How many kept screens besides the tabs stay mounted. */
const MAX_KEPT_SCREENS = 3;

const screenKey = (route: ScreenRoute, location: Location) => `${route.name}:${location.pathname}`;

function withoutExcess(screens: OpenScreen[], activeKey: string): OpenScreen[] {
  const retainedScreens = screens
    .filter(({ route }) => route.keepAlive && !isTab(route.path))
    .sort((a, b) => b.lastSeen - a.lastSeen)
    .slice(0, MAX_KEPT_SCREENS);
  return screens.filter(
    (screen) =>
      screen.key === activeKey ||
      (screen.route.keepAlive && (isTab(screen.route.path) || retainedScreens.includes(screen))),
  );
}

/**
 * Returns the mounted screens after a navigation. Their order never changes, since moving a screen in the document would lose its
 * scroll positions. Screens that are not the target stay the same objects, so that they do not re-render.
 */
function afterNavigation(
  screens: readonly OpenScreen[],
  { location, action }: HistoryPosition,
  route: ScreenRoute,
): OpenScreen[] {
  const key = screenKey(route, location);
  const lastSeen = 1 + Math.max(0, ...screens.map((screen) => screen.lastSeen));
  const next: OpenScreen = { key, route, location, action, lastSeen };
  const isOpen = screens.some((screen) => screen.key === key);
  const all = isOpen ? screens.map((screen) => (screen.key === key ? next : screen)) : [...screens, next];
  return withoutExcess(all, key);
}

/** Counts changes of the user, so that no screen shows content of another user. */
interface Visitor {
  /** grows when a different user signs in: every screen is remounted */
  arrivals: number;
  /** grows when a session ends: hidden screens are unmounted, the active one shows its guest state */
  departures: number;
}

const currentId = () => {
  const current = session.current();
  return current.status === 'member' ? current.user.id : null;
};

/** An expired session keeps its owner's id, for the same user's return. */
const isLoggedOut = () => local.get(STORAGE_KEYS.owner) === null;

/** `clearMemory` clears state outside React, after a log-out and when a different user signs in. */
export function useVisitor(clearMemory: () => void): Visitor {
  const [visitor, setVisitor] = useState<Visitor>({ arrivals: 0, departures: 0 });
  const lastUserId = useRef<string | null>(null);
  useEffect(() => {
    lastUserId.current ??= currentId();
    return session.onUserChanged((previous, id) => {
      const isOtherUser = id !== null && lastUserId.current !== null && id !== lastUserId.current;
      const hasEnded = id === null && previous !== null;
      lastUserId.current = id ?? lastUserId.current;
      if (isOtherUser) {
        clearMemory();
        setVisitor((known) => ({ ...known, arrivals: known.arrivals + 1 }));
      }
      if (hasEnded && isLoggedOut()) clearMemory();
      if (hasEnded) setVisitor((known) => ({ ...known, departures: known.departures + 1 }));
    });
  }, [clearMemory]);
  return visitor;
}

interface ScreenProps {
  screen: OpenScreen;
  active: boolean;
  /** The app's first screen leaves the focus where the browser put it. */
  isFirst: boolean;
  memory: ScrollMemory;
}

/** A mounted screen with its own scroll container and router, whose location does not change while hidden. */
const Screen = memo(function Screen({ screen, active, isFirst, memory }: ScreenProps) {
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
          <Router
            navigator={navigation}
            location={location}
            navigationType={action as ComponentProps<typeof Router>['navigationType']}
          >
            <Routes>
              <Route path={route.path} element={<RouteContent route={route} path={location.pathname} />} />
            </Routes>
          </Router>
        </ScreenContext>
      </main>
    </Activity>
  );
});

/** The page of a route in its pane, behind the auth guard if it requires a login. */
function RouteContent({ route, path }: { route: ScreenRoute; path: string }) {
  const { components, prerendered } = usePage();
  const content = prerendered.content(path);
  const pane = (
    <RemotePane
      remoteComponent={components.ofRoute(route)}
      shape={tabs.find(({ path }) => path === route.path)?.shape ?? (route.outsideShell ? 'story' : 'row')}
      title={route.title}
      isTab={isTab(route.path)}
      outsideShell={route.outsideShell}
      prerendered={content && <PrerenderedContent path={path} content={content} />}
    />
  );
  return route.requiresAuth ? <AuthGuard>{pane}</AuthGuard> : pane;
}

const isTyping = (element: Element) => element.matches('input, textarea, select, [contenteditable]');

/**
 * Moves the focus to a screen that becomes active: to the element last focused in it, else to the screen itself. The tab bar
 * keeps the focus, for keyboard users. Fields are not focused, since the on-screen keyboard would open.
 */
function useFocusMemory(scroller: RefObject<HTMLElement | null>, active: boolean, isFirst: boolean) {
  const last = useRef<Element | null>(null);
  const skip = useRef(isFirst);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    const recordFocus = (event: FocusEvent) => {
      last.current = event.target as Element;
    };
    const stop = listenTo(element, ['focusin'], recordFocus);
    const focusedElement = document.activeElement;
    const isFocusElsewhere = focusedElement?.closest('nav, dialog[open]');
    if (!skip.current && !isFocusElsewhere) {
      const target = last.current && element.contains(last.current) && !isTyping(last.current) ? last.current : element;
      (target as HTMLElement).focus({ preventScroll: true });
    }
    skip.current = false;
    return stop;
  }, [scroller, active]);
}
