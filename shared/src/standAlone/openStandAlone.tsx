import '../ui/tokens.css';
import '../ui/base.css';
import remote from 'liaozhai-remote';
import { type ComponentType, type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Link, Navigate, Route, Routes } from 'react-router-dom';
import { endpoints, signedInSchema } from '../contract';
import { anyErrorText } from '../format/errorText';
import {
  authPopup,
  capabilities,
  Provider,
  request,
  requestLogin,
  ScreenContext,
  SlotContext,
  type SlotProps,
  session,
  store,
  toApiError,
  useToasts,
  useUser,
} from '../runtime';
import { Toaster } from '../ui';
import styles from './openStandAlone.module.css';

const ownSlots = Object.fromEntries(
  remote.slots.map(({ name, component }) => [name, lazy(component as () => Promise<{ default: ComponentType }>)]),
);

/** The remote's own parts; those of others are not here. */
function OwnSlot({ name, waiting, ...props }: SlotProps) {
  const Part = ownSlots[name];
  return Part ? (
    <Suspense fallback={waiting}>
      <Part {...props} />
    </Suspense>
  ) : null;
}

/** A page that needs a signed-in user, as the host shows it: not to a visitor. */
function Guarded({ children }: { children: ReactNode }) {
  const user = useUser();
  useEffect(() => {
    if (!user) void requestLogin();
  }, [user]);
  return user ? children : <p className={styles.locked}>需要登录</p>;
}

const Toasts = () => <Toaster toasts={useToasts()} />;

function StandAlone() {
  const scroller = useRef<HTMLElement>(null);
  // one lazy component per route for the life of the page
  const [pages] = useState(() =>
    remote.routes.map(({ path, page, requiresAuth }) => ({ path, Page: lazy(page), requiresAuth })),
  );
  const first = remote.routes[0]?.path ?? '/';
  return (
    <main ref={scroller} className={styles.screen}>
      <ScreenContext value={{ scroller, isActive: true }}>
        <SlotContext value={OwnSlot}>
          <Suspense fallback={null}>
            <Routes>
              {pages.map(({ path, Page, requiresAuth }) => (
                <Route
                  key={path}
                  path={path}
                  element={
                    requiresAuth ? (
                      <Guarded>
                        <Page />
                      </Guarded>
                    ) : (
                      <Page />
                    )
                  }
                />
              ))}
              <Route path="*" element={<Navigate to={first.replace(/:\w+/g, 'nie-xiaoqian')} replace />} />
            </Routes>
          </Suspense>
        </SlotContext>
      </ScreenContext>
    </main>
  );
}

/** One remote alone, for `pnpm --filter <remote> dev`: its routes without the host, against a running product's API. */
function openStandAlone() {
  const root = document.getElementById('root');
  if (!root) throw new Error('the page has no element with the id "root"');
  createRoot(root).render(
    <Provider store={store}>
      <BrowserRouter>
        <nav className={styles.routes}>
          {remote.routes.map(({ path, title }) => (
            <Link key={path} to={path}>
              {title}
            </Link>
          ))}
          <LogInStrip />
        </nav>
        <StandAlone />
        <Toasts />
      </BrowserRouter>
    </Provider>,
  );
}

// as the host does once its page is idle
void capabilities.learn();
openStandAlone();
followEdits();

/**
 * An edit of the remote's texts comes to its components, which draw it, and to its routes. Other routes or slots load the page again.
 * The plugin for Vite does the same at the routes.
 */
function followEdits() {
  const routes = () =>
    JSON.stringify([remote.routes.map(({ path, requiresAuth }) => [path, requiresAuth]), remote.slots]);
  const opened = routes();
  const edited = () => routes() !== opened && location.reload();
  import.meta.webpackHot?.accept('liaozhai-remote', edited);
}

async function logIn(form: HTMLFormElement): Promise<void> {
  const body = Object.fromEntries(new FormData(form));
  const { user } = await request({ method: 'POST', url: endpoints.login, body, schema: signedInSchema });
  session.userReceived(user);
}

/** Resolves once somebody has signed in; the strip cannot be closed, so it never gives up. */
const signedIn = () =>
  new Promise<boolean>((resolve) => {
    const stop = session.onUserChanged((_former, id) => {
      if (id === null) return;
      stop();
      resolve(true);
    });
  });

function LogInForm() {
  const login = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  useEffect(
    () =>
      authPopup.onRequest(() => {
        login.current?.focus();
        return signedIn();
      }),
    [],
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    logIn(event.currentTarget).catch((cause: unknown) => setProblem(anyErrorText(toApiError(cause))));
  };
  return (
    <form className={styles.logIn} onSubmit={submit}>
      <input ref={login} name="login" autoComplete="username" placeholder="用户名" aria-label="用户名" required />
      <input
        name="password"
        type="password"
        autoComplete="current-password"
        placeholder="密码"
        aria-label="密码"
        required
      />
      <button type="submit">登录</button>
      <span role="alert">{problem}</span>
    </form>
  );
}

/** Stands in for the host's sign-in popup: says who is signed in, else lets somebody in. */
function LogInStrip() {
  const user = useUser();
  if (!user) return <LogInForm />;
  const signOut = () =>
    session.signOut().catch((cause: unknown) => console.warn('could not sign out', toApiError(cause)));
  return (
    <span className={styles.logIn}>
      <span>{user.name}</span>
      <button type="button" onClick={() => void signOut()}>
        退出
      </button>
    </span>
  );
}
