import { type ApiError, endpoints, STORAGE_KEYS, singleSchema, type UserDto, userSchema } from '../../contract';
import { api } from '../api';
import { hasToken } from '../client/csrf';
import { toApiError } from '../client/errors';
import { csrfToken, request } from '../client/request';
import { onUnauthenticated, signInEpoch, unauthenticated } from '../client/unauthenticated';
import { createSignal } from '../signal';
import { local, onForeignChange, readJson } from '../storage/browserStorage';
import { adoptDrafts, purgeDrafts } from '../storage/drafts';
import { ANONYMOUS, lastOwner, setCurrentOwner, uncopiedCredentials } from '../storage/owner';
import { adoptPositions, purgePositions } from '../storage/positions';
import { offlineCache, outboxStore } from '../storage/recordStore';
import { type ExpiredSession, type Session, sessionSlice, store, useSelector } from '../store';
import { patchedUser, readStored, toStored, toUser, type User, type UserPatch } from './user';

const FRESH_MS = 10_000;
/** A session that gets a 401 this soon after its sign-in was not stored: the browser or a proxy dropped its cookie. */
const UNKEPT_MS = 10_000;
/** Time in which further 401s of such a session may arrive. */
const REFUSALS_MS = 3_000;

const currentUser = (): User | null => {
  const { session: state } = store.getState();
  return state.status === 'member' ? state.user : null;
};

/** Owner of the data that this page shows: the user, also after the session has expired. */
const shownFor = (): string | null => {
  const { session: state } = store.getState();
  if (state.status === 'member') return state.user.id;
  return (state.status === 'guest' && state.expired?.id) || null;
};

const shifted = (user: User, delta: number): User =>
  user.balance === undefined ? user : { ...user, balance: user.balance + delta };

const isOlder = (user: User, version: number | null | undefined): boolean =>
  user.version !== undefined && typeof version === 'number' && version < user.version;

const save = (user: User) => local.set(STORAGE_KEYS.user, JSON.stringify(toStored(user)));

/** The signed-in user: only this module changes it. Follows the other tabs and every 401. */
export function createSession() {
  const unkeptNoticed = createSignal();
  /** time of the sign-in in this page, until a later response proves that the session works */
  let unprovenSince: number | null = null;
  let unkept: { at: number; epoch: number } | null = null;
  const userChanged = createSignal<[previousId: string | null, id: string | null]>();
  let forgetting: ReturnType<typeof setTimeout> | undefined;
  let refreshing: { epoch: number; done: Promise<void> } | null = null;
  /** counts balances received from the server: each one includes or voids the optimistic shifts made before it */
  let balanceEpoch = 0;
  /** counts user records received from the server */
  let tellings = 0;
  /** time at which the server last sent the whole user, by the page's clock */
  let userToldAt = Number.NEGATIVE_INFINITY;
  /** the last user who logged out in this page */
  let loggedOutId: string | null = null;

  /** Clears the API cache of the previous user; this aborts every request in progress. */
  function forgetAnswers() {
    clearTimeout(forgetting);
    forgetting = undefined;
    store.dispatch(api.util.resetApiState());
  }

  /** Delays it, so that the caller of the refused request gets the error instead of an abort. */
  function forgetAnswersSoon() {
    forgetting ??= setTimeout(forgetAnswers);
  }

  /** Makes `user` the session's user and notifies the subscribers of a change. */
  function become(user: User) {
    const isSignIn = currentUser()?.id !== user.id;
    const former = shownFor();
    store.dispatch(sessionSlice.actions.signedIn(user));
    if (!isSignIn) return;
    setCurrentOwner(user.id);
    const isOther = former !== null && former !== user.id;
    if (isOther || forgetting !== undefined) forgetAnswers();
    else store.dispatch(api.util.invalidateTags(['User', 'Story', 'Conversation', 'Transaction']));
    userChanged.emit(isOther ? former : null, user.id);
  }

  /** Ends the session and removes all data of the user from this page. */
  function end(forget = forgetAnswers) {
    local.remove(STORAGE_KEYS.user);
    const former = shownFor();
    store.dispatch(sessionSlice.actions.signedOut(null));
    setCurrentOwner(null);
    if (former === null) return;
    forget();
    userChanged.emit(former, null);
  }

  /** The session has expired: the user's data stays on the page until the next sign-in. */
  function expire(user: User) {
    local.remove(STORAGE_KEYS.user);
    local.set(STORAGE_KEYS.guest, '1');
    store.dispatch(sessionSlice.actions.signedOut({ id: user.id, login: user.username }));
    userChanged.emit(user.id, null);
  }

  function signIn(user: User): Promise<unknown> {
    signInEpoch.next();
    const last = lastOwner.read();
    local.remove(STORAGE_KEYS.guest);
    lastOwner.write(user.id, user.username);
    save(user);
    const moved = [last !== null && last !== user.id ? purgePrivateData(last) : null, adoptAnonymousData(user.id)];
    become(user);
    return Promise.all(moved);
  }

  /** Several callers refresh when the page becomes visible; they share one request. */
  function refresh(): Promise<void> {
    const epoch = signInEpoch.current();
    if (refreshing?.epoch === epoch) return refreshing.done;
    const done = fetchUser(epoch).finally(() => {
      if (refreshing?.done === done) refreshing = null;
    });
    refreshing = { epoch, done };
    return done;
  }

  async function fetchUser(epoch: number, isRepeated = false): Promise<void> {
    const isGuest = currentUser() === null;
    const before = tellings;
    try {
      const dto = await request({ url: endpoints.user, schema: singleSchema(userSchema) });
      // without a version, the response may be older than a record received meanwhile
      if (tellings !== before && dto.version == null && !isRepeated) return fetchUser(epoch, true);
      // the response for a previous user must not apply to the present one
      if (epoch === signInEpoch.current() && (isGuest || currentUser())) session.userReceived(dto);
    } catch (cause) {
      console.warn('the user could not be refreshed', toApiError(cause));
    }
  }

  /**
   * Fetches the user if storage has none but a session may exist. iOS clears script-written storage after seven days, a full disk
   * stores nothing, and a stored user may be damaged.
   */
  async function recover(): Promise<void> {
    const isUnknown = currentUser() === null && local.get(STORAGE_KEYS.guest) === null;
    if (!isUnknown || !hasToken()) return;
    const epoch = signInEpoch.current();
    unauthenticated.divert(() => local.set(STORAGE_KEYS.guest, '1'));
    await refresh();
    if (epoch === signInEpoch.current()) unauthenticated.divert(null);
  }

  const beforeSignOut = new Set<() => Promise<unknown>>();

  async function signOut(): Promise<void> {
    await Promise.all([...beforeSignOut].map((work) => work()));
    const id = currentUser()?.id;
    return logOut(async (byRefusal) => {
      signInEpoch.next();
      loggedOutId = id ?? null;
      lastOwner.forget();
      end(byRefusal ? forgetAnswersSoon : forgetAnswers);
      if (id !== undefined) await purgePrivateData(id);
    });
  }

  /** Applies an optimistic debit or credit. The returned function reverts it, unless the server has sent a balance since. */
  function balanceShifted(delta: number): () => void {
    const user = currentUser();
    if (!user) return () => {};
    const epoch = balanceEpoch;
    let undone = false;
    become(shifted(user, delta));
    return () => {
      const now = currentUser();
      if (undone || !now || now.id !== user.id || epoch !== balanceEpoch) return;
      undone = true;
      become(shifted(now, -delta));
    };
  }

  const session = {
    current: (): Session => store.getState().session,
    /** Applies a whole user: the response of login, registration or `GET /v1/user`. */
    userReceived(dto: UserDto) {
      userToldAt = performance.now();
      // a log-out without a response did not happen
      unauthenticated.divert(null);
      const user = toUser(dto);
      const present = currentUser();
      if (present?.id !== user.id) return void signIn(user);
      unprovenSince = null;
      if (isOlder(present, user.version)) return;
      tellings += 1;
      balanceEpoch += 1;
      save(user);
      become(user);
    },
    /** Applies the user of a sign-in in this page. The next response shows whether the browser stored the session's cookie. */
    signedIn(dto: UserDto) {
      session.userReceived(dto);
      unprovenSince = performance.now();
    },
    /** Applies part of a user, from a response or an event. An older `version` is dropped. */
    userPatched(patch: UserPatch) {
      const user = currentUser();
      if (!user || isOlder(user, patch.version)) return;
      if (patch.id && patch.id !== user.id) return;
      tellings += 1;
      if (patch.balance != null) balanceEpoch += 1;
      const patched = patchedUser(user, patch);
      save(patched);
      become(patched);
    },
    balanceShifted,
    /** Whether the server has sent the whole user within the last 10 s. */
    isFresh: (): boolean => currentUser()?.isWhole === true && performance.now() - userToldAt < FRESH_MS,
    /** Subscribes to sign-ins whose next request got a 401, as a cookie was not stored. Returns the unsubscribe function. */
    onUnkept: unkeptNoticed.on,
    /** Whether that has just happened, so that another sign-in would fail too. */
    isUnkept: (): boolean => unkept?.epoch === signInEpoch.current() && performance.now() - unkept.at < REFUSALS_MS,
    /** Whether scripts can read the CSRF cookie, so that neither browser nor proxy has removed it. */
    keepsToken: hasToken,
    /** Loads `GET /v1/user`; a failure is only logged. */
    refresh,
    /** Restores a session that storage does not know; see `recover` above. */
    recover,
    /** Logs out (a 401 counts as done), then deletes all data of the user on this device. Rejects with `ApiError`. */
    signOut,
    /** Runs `work` before a log-out, while the user is still signed in. Returns the unsubscribe function. */
    beforeSignOut(work: () => Promise<unknown>): () => void {
      beforeSignOut.add(work);
      return () => void beforeSignOut.delete(work);
    },
    /** Reports the former user's id if their data was shown (else null), and the new id. Returns the unsubscribe function. */
    onUserChanged: userChanged.on,
  };

  /** Applies the stored user at the start and after a change in another tab. */
  function takeStoredUser() {
    const storedUser = readStored(readJson(STORAGE_KEYS.user));
    const user = currentUser();
    // stored by a tab with a pending response that missed the log-out; a sign-in would have written the owner first
    if (storedUser && storedUser.id === loggedOutId && lastOwner.read() !== loggedOutId) return end();
    if (storedUser && user?.id === storedUser.id) {
      balanceEpoch += 1;
      return become(patchedUser(user, toStored(storedUser)));
    }
    signInEpoch.next();
    const former = shownFor();
    const last = lastOwner.read();
    // logged out in the other tab, not just expired: the unsaved data of this tab is removed too
    if (former !== null && last !== former) {
      purgeDrafts(former);
      uncopiedCredentials.forget();
    }
    if (storedUser) become(storedUser);
    else if (user && last === user.id) expire(user);
    else if (last === null || (former !== null && last !== former)) end();
    else store.dispatch(sessionSlice.actions.signedOut({ id: last, login: lastOwner.readLogin() }));
  }

  onUnauthenticated(() => {
    const user = currentUser();
    if (!user) return;
    const isUnkept = unprovenSince !== null && performance.now() - unprovenSince < UNKEPT_MS;
    unprovenSince = null;
    if (!isUnkept) return expire(user);
    unkept = { at: performance.now(), epoch: signInEpoch.current() };
    end(forgetAnswersSoon);
    unkeptNoticed.emit();
  });

  if (typeof window !== 'undefined') {
    takeStoredUser();
    onForeignChange((key) => {
      const user = currentUser();
      // storage was cleared, but the session's cookie still exists
      if (key === null && user && hasToken()) {
        lastOwner.write(user.id, user.username);
        save(user);
        void refresh();
      } else if (key === null || key === STORAGE_KEYS.user) takeStoredUser();
    });
  }

  return { ...session, takeStored: takeStoredUser };
}

export const session = createSession();

export const useSession = (): Session => useSelector((state) => state.session);

/** The session that has expired on this device, if any: its user only needs to sign in again. */
export const useExpiredSession = (): ExpiredSession | null =>
  useSelector((state) => (state.session.status === 'guest' && state.session.expired) || null);

export const useUser = (): User | null =>
  useSelector((state) => (state.session.status === 'member' ? state.session.user : null));

const wasAnswered = ({ kind }: ApiError) => kind !== 'offline' && kind !== 'timeout' && kind !== 'server';

/**
 * Sends `POST /v1/logout` (a 401 counts as done), then calls `end`. If the response is lost, a 401 of another request confirms
 * the log-out and ends the session. Rejects with `ApiError`.
 */
async function logOut(end: (byRefusal: boolean) => Promise<void>): Promise<void> {
  let ended: Promise<void> | undefined;
  const endOnce = (byRefusal: boolean) => {
    ended ??= end(byRefusal);
    return ended;
  };
  unauthenticated.divert(() => void endOnce(true));
  try {
    await request({ url: endpoints.logout, method: 'POST' });
  } catch (cause) {
    const error = toApiError(cause);
    if (error.kind !== 'unauthenticated' && !ended) {
      if (wasAnswered(error)) unauthenticated.divert(null);
      throw error;
    }
  }
  await endOnce(false);
}

async function purgePrivateData(owner: string): Promise<void> {
  purgeDrafts(owner);
  purgePositions(owner);
  uncopiedCredentials.forget();
  await Promise.all([outboxStore.purge(owner), offlineCache.purge(owner)]);
}

/** Gives the data stored before the sign-in to the user who signed in. */
async function adoptAnonymousData(owner: string): Promise<void> {
  adoptDrafts(ANONYMOUS, owner);
  adoptPositions(ANONYMOUS, owner);
  await outboxStore.adopt(ANONYMOUS, owner);
}

/** `invite` shows a greeting first, then registers a guest who opened an invite link. */
export type LoginMode = 'register' | 'login' | 'invite';

type Answer = (mode: LoginMode) => Promise<boolean>;

/** Connects code that needs a sign-in with the host, which owns the popup. */
function createAuthPopup() {
  let answer: Answer | null = null;
  const opened = createSignal();
  return {
    /** `handler` opens the popup; it resolves to true once signed in, false when closed. Returns the unsubscribe function. */
    onRequest(handler: Answer): () => void {
      answer = handler;
      opened.emit();
      return () => {
        if (answer === handler) answer = null;
      };
    },
    /** Opens the popup. Resolves to true once signed in, false when closed. */
    async request(mode: LoginMode = 'register'): Promise<boolean> {
      // loads the token before the form is sent
      void csrfToken.prepare();
      // a screen may call this while the popup's owner is still mounting
      if (!answer)
        await new Promise<void>((resolve) => {
          const stop = opened.on(() => {
            stop();
            resolve();
          });
        });
      return answer ? answer(mode) : false;
    },
  };
}

export const authPopup = createAuthPopup();

export const requestLogin = authPopup.request;
