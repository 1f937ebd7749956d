import '../ui/tokens.css';
import '../ui/base.css';
import remote from 'liaozhai-remote';
import { type ComponentType, type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Link, Navigate, Route, Routes, useLocation } from 'react-router-dom';
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

/** Slots of the remote itself; those of other remotes stay empty. */
function OwnSlot({ name, waiting, ...props }: SlotProps) {
  const Part = ownSlots[name];
  return Part ? (
    <Suspense fallback={waiting}>
      <Part {...props} />
    </Suspense>
  ) : null;
}

/** A page that requires a signed-in user if `isPrivate`, and is hidden from guests then, as in the host. */
function Guarded({ isPrivate, children }: { isPrivate: boolean | undefined; children: ReactNode }) {
  const isLocked = useUser() === null && isPrivate;
  useEffect(() => {
    if (isLocked) void requestLogin();
  }, [isLocked]);
  return isLocked ? <p className={styles.locked}>需要登录</p> : children;
}

/** Shown at an address that no route of the remote has, such as a link to a page of another remote. */
function PageElsewhere() {
  const { pathname } = useLocation();
  return <p className={styles.locked}>{`${pathname} 不在这个功能里，要在完整的产品里看（dev:inside）。`}</p>;
}

// one lazy component per route for the life of the page
const pages = remote.routes.map(({ path, page, requiresAuth }) => ({ path, Page: lazy(page), requiresAuth }));

const Toasts = () => <Toaster toasts={useToasts()} />;

function StandAlone() {
  const scroller = useRef<HTMLElement>(null);
  const firstPath = remote.routes[0]?.path ?? '/';
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
                    <Guarded isPrivate={requiresAuth}>
                      <Page />
                    </Guarded>
                  }
                />
              ))}
              <Route path="/" element={<Navigate to={firstPath.replace(/:\w+/g, 'nie-xiaoqian')} replace />} />
              <Route path="*" element={<PageElsewhere />} />
            </Routes>
          </Suspense>
        </SlotContext>
      </ScreenContext>
    </main>
  );
}

/** Opens one remote alone, for `pnpm --filter <remote> dev`: its routes without the host, against the API of a running product. */
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

// the host does this once its page is idle
void capabilities.learn();
openStandAlone();
followEdits();

/**
 * Reloads the page if an edit changes routes or slots. Edits of texts reach components and routes without a reload. The Vite
 * plugin accepts them in the routes.
 */
function followEdits() {
  const routes = () =>
    JSON.stringify([remote.routes.map(({ path, requiresAuth }) => [path, requiresAuth]), remote.slots]);
  const initialRoutes = routes();
  const reloadIfChanged = () => routes() !== initialRoutes && location.reload();
  import.meta.webpackHot?.accept('liaozhai-remote', reloadIfChanged);
}

async function logIn(form: HTMLFormElement): Promise<void> {
  const body = Object.fromEntries(new FormData(form));
  const { user } = await request({ method: 'POST', url: endpoints.login, body, schema: signedInSchema });
  session.signedIn(user);
}

/** Resolves once a user has signed in; the form cannot be closed, so it never resolves to false. */
const waitForSignIn = () =>
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
        return waitForSignIn();
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

/** Replaces the host's sign-in popup: shows the signed-in user, or else the form. */
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
