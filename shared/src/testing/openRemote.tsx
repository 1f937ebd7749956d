import { type RenderResult, render } from '@testing-library/react';
import { type UserEvent, userEvent } from '@testing-library/user-event';
import { type ComponentType, lazy, type ReactNode, Suspense, useMemo, useRef } from 'react';
import { unstable_HistoryRouter as HistoryRouter } from 'react-router-dom';
import { PAGE_ELEMENTS, readAs, type UserDto, userSchema } from '../contract';
import {
  type Capability,
  capabilities,
  followUser,
  matchPath,
  Provider,
  type RemoteModule,
  Route,
  Routes,
  ScreenContext,
  SlotContext,
  type SlotProps,
  session,
  store,
  useToasts,
} from '../runtime';
import { Toaster } from '../ui';
import { fakeApi, type Handlers, type RecordedRequest } from './fakeApi';
import { fakeRealtime, type Live } from './fakeRealtime';
import { createGuardedHistory } from './guardedHistory';
import { enforcePagePolicy } from './pagePolicy';
import { onTestEnd } from './reset';

export interface OpenOptions {
  /** default: path of the first route, with `1` for its parameters */
  path?: string;
  /** the signed-in user; default: none */
  user?: Partial<UserDto> | null;
  /** capabilities of the server; default: none beyond the specification */
  capabilities?: readonly Capability[];
  /** the site's settings, as inlined by the server */
  config?: object;
  /** a window for two columns; default: a phone's */
  wide?: boolean;
  /** components of other remotes, by slot name */
  slots?: Record<string, ComponentType<never>>;
}

export interface OpenRemote extends RenderResult {
  live: Live;
  requests: RecordedRequest[];
  user: UserEvent;
}

export const memberDto = (patch: Partial<UserDto> = {}): UserDto => ({
  id: 'u-1',
  name: '宁采臣',
  username: 'a20261121',
  avatar: '',
  balance: 100,
  invite_code: 'LANRUO',
  persona: '',
  gender: null,
  email_verified_at: null,
  checked_in_today: null,
  check_in_streak: null,
  gifts: [],
  deletion_at: null,
  unread_answers: 0,
  unread_conversations: 0,
  minor: null,
  version: 1,
  ...patch,
});

const firstPath = (remote: RemoteModule) => remote.routes[0]?.path.replace(/:\w+/g, '1') ?? '/';

/** The remote's routes as in the host, each in its own scroll container. */
function Screens({ remote, slots }: { remote: RemoteModule; slots: Record<string, ComponentType<never>> }) {
  const scroller = useRef<HTMLElement>(null);
  const screen = useMemo(() => ({ scroller, isActive: true }), []);
  const routes = useMemo(() => remote.routes.map(({ path, page }) => ({ path, Page: lazy(page) })), [remote]);
  const Slot = useMemo(() => createSlot(remote, slots), [remote, slots]);
  return (
    <SlotContext value={Slot}>
      <ScreenContext value={screen}>
        <main ref={scroller}>
          <Suspense>
            <Routes>
              {routes.map(({ path, Page }) => (
                <Route key={path} path={path} element={<Page />} />
              ))}
              <Route path="*" element={null} />
            </Routes>
          </Suspense>
        </main>
      </ScreenContext>
    </SlotContext>
  );
}

const Toasts = () => <Toaster toasts={useToasts()} />;

/** The given components and the remote's own. */
function createSlot(remote: RemoteModule, slots: Record<string, ComponentType<never>>) {
  const ownSlots = Object.fromEntries(
    remote.slots.map(({ name, component }) => [name, lazy(component as () => Promise<{ default: ComponentType }>)]),
  );
  return function Slot({ name, waiting, ...props }: SlotProps): ReactNode {
    const Part = (slots[name] ?? ownSlots[name]) as ComponentType<object> | undefined;
    return (
      Part && (
        <Suspense fallback={waiting}>
          <Part {...props} />
        </Suspense>
      )
    );
  };
}

function configureSite(settings: object) {
  const element = document.createElement('script');
  element.type = 'application/json';
  element.id = PAGE_ELEMENTS.config;
  element.textContent = JSON.stringify(settings);
  document.head.append(element);
  onTestEnd(() => element.remove());
}

interface TestWindow {
  happyDOM: { setViewport(size: { width: number; height: number }): void };
}

const setWindow = (width: number) =>
  (window as typeof window & TestWindow).happyDOM.setViewport({ width, height: width < 1024 ? 844 : 800 });

/**
 * Opens a remote at a path, with the real store, client, session and realtime; network and socket are faked at the edge. Markup
 * from text throws, as on the product's page. `handlers` are keyed like `GET /v1/stories`.
 */
export function openRemote(remote: RemoteModule, handlers: Handlers, options: OpenOptions = {}): OpenRemote {
  const { path = firstPath(remote), user = null, slots = {} } = options;
  capabilities.set(options.capabilities ?? []);
  if (options.config) configureSite(options.config);
  setWindow(options.wide ? 1280 : 390);
  const pathname = path.replace(/[?#].*$/, '');
  const route = remote.routes.find((each) => matchPath(each.path, pathname));
  if (!route) throw new Error(`${remote.name} has no route at ${path}`);
  if (route.requiresAuth && !user)
    throw new Error(`${route.path} needs a signed-in user, and the host shows it to nobody else: pass \`user: {}\``);
  enforcePagePolicy();
  const network = fakeApi(handlers);
  const socket = fakeRealtime();
  onTestEnd(network.restore);
  onTestEnd(socket.restore);
  const member = user && readAs(userSchema, memberDto(user));
  if (member) session.userReceived(member);
  onTestEnd(followUser());
  history.replaceState(null, '', path);
  const rendered = render(
    <Provider store={store}>
      <HistoryRouter history={createGuardedHistory()}>
        <Screens remote={remote} slots={slots} />
        <Toasts />
      </HistoryRouter>
    </Provider>,
    // the host does the same with an error that a boundary has caught
    { onCaughtError: (error) => console.warn('contained:', error) },
  );
  return { ...rendered, live: socket.live, requests: network.requests, user: userEvent.setup() };
}
