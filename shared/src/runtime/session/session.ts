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
const UNSTORED_COOKIE_MS = 10_000;
/** Time in which further 401s of such a session may arrive. */
const REFUSALS_MS = 3_000;

const currentUser = (): User | null => {
  const { session: state } = store.getState();
  return state.status === 'member' ? state.user : null;
};

/** Owner of the data that this page shows: the user, also after the session has expired. */
const shownOwner = (): string | null => {
  const { session: state } = store.getState();
  if (state.status === 'member') return state.user.id;
  return (state.status === 'guest' && state.expired?.id) || null;
};

const withBalanceShift = (user: User, delta: number): User =>
  user.balance === undefined ? user : { ...user, balance: user.balance + delta };

const isOlder = (user: User, version: number | null | undefined): boolean =>
  user.version !== undefined && typeof version === 'number' && version < user.version;

const save = (user: User) => local.set(STORAGE_KEYS.user, JSON.stringify(toStored(user)));

/** The signed-in user: only this module changes it. Follows the other tabs and every 401. */
export function createSession() {
  const unkeptDetected = createSignal();
  /** time of the sign-in in this page, until a later response proves that the session works */
  let unprovenSince: number | null = null;
  let unkeptSession: { at: number; epoch: number } | null = null;
  const userChanged = createSignal<[previousId: string | null, id: string | null]>();
  let forgetTimer: ReturnType<typeof setTimeout> | undefined;
  let pendingRefresh: { epoch: number; done: Promise<void> } | null = null;
  /** counts balances received from the server: each one includes or voids the optimistic shifts made before it */
  let balanceEpoch = 0;
  /** counts user records received from the server */
  let receivedRecords = 0;
  /** `receivedRecords` when an older user was last dropped */
  let droppedAfter: number | undefined;
  /** time at which the server last sent the whole user, by the page's clock */
  let userReceivedAt = Number.NEGATIVE_INFINITY;
  /** the last user who logged out in this page */
  let loggedOutId: string | null = null;

  /** Clears the API cache of the previous user and aborts its queries; plain `request` calls continue. */
  function forgetAnswers() {
    clearTimeout(forgetTimer);
    forgetTimer = undefined;
    store.dispatch(api.util.resetApiState());
  }

  /** Delays it, so that the caller of the refused request gets the error instead of an abort. */
  function forgetAnswersSoon() {
    forgetTimer ??= setTimeout(forgetAnswers);
  }

  /** Makes `user` the session's user and notifies the subscribers of a change. */
  function setUser(user: User) {
    const isSignIn = currentUser()?.id !== user.id;
    const previousOwner = shownOwner();
    store.dispatch(sessionSlice.actions.signedIn(user));
    if (!isSignIn) return;
    setCurrentOwner(user.id);
    const isOtherUser = previousOwner !== null && previousOwner !== user.id;
    if (isOtherUser || forgetTimer !== undefined) forgetAnswers();
    else store.dispatch(api.util.invalidateTags(['User', 'Story', 'Conversation', 'Transaction']));
    userChanged.emit(isOtherUser ? previousOwner : null, user.id);
  }

  /** Ends the session and removes all data of the user from this page. */
  function end(forget = forgetAnswers) {
    local.remove(STORAGE_KEYS.user);
    const previousOwner = shownOwner();
    store.dispatch(sessionSlice.actions.signedOut(null));
    setCurrentOwner(null);
    if (previousOwner === null) return;
    forget();
    userChanged.emit(previousOwner, null);
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
    const lastId = lastOwner.read();
    local.remove(STORAGE_KEYS.guest);
    lastOwner.write(user.id, user.username);
    save(user);
    const moves = [
      lastId !== null && lastId !== user.id ? purgePrivateData(lastId) : null,
      adoptAnonymousData(user.id),
    ];
    setUser(user);
    return Promise.all(moves);
  }

  /** Several callers refresh when the page becomes visible; they share one request. */
  function refresh(): Promise<void> {
    const epoch = signInEpoch.current();
    if (pendingRefresh?.epoch === epoch) return pendingRefresh.done;
    const done = fetchUser(epoch).finally(() => {
      if (pendingRefresh?.done === done) pendingRefresh = null;
    });
    pendingRefresh = { epoch, done };
    return done;
  }

  async function fetchUser(epoch: number, isRepeated = false): Promise<void> {
    const isGuest = currentUser() === null;
    const recordsBefore = receivedRecords;
    try {
      // a guest may just have signed out, and must not be asked to sign in
      const dto = await request({ url: endpoints.user, schema: singleSchema(userSchema), isOptional: isGuest });
      // without a version, the response may be older than a record received meanwhile
      if (receivedRecords !== recordsBefore && dto.version == null && !isRepeated) return fetchUser(epoch, true);
      // the response for a previous user must not apply to the present one
      if (epoch === signInEpoch.current() && (isGuest || currentUser())) session.userReceived(dto);
    } catch (cause) {
      const error = toApiError(cause);
      if (!isGuest || error.kind !== 'unauthenticated') console.warn('the user could not be refreshed', error);
      else if (epoch === signInEpoch.current()) local.set(STORAGE_KEYS.guest, '1');
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
    unauthenticated.divert(() => {});
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
    let isReverted = false;
    setUser(withBalanceShift(user, delta));
    return () => {
      const latestUser = currentUser();
      if (isReverted || !latestUser || latestUser.id !== user.id || epoch !== balanceEpoch) return;
      isReverted = true;
      setUser(withBalanceShift(latestUser, -delta));
    };
  }

  const session = {
    current: (): Session => store.getState().session,
    /** Applies the user in the response of `GET /v1/user` or of a sign-in, which may be a part of it. */
    userReceived(dto: UserDto, isWhole = true) {
      userReceivedAt = performance.now();
      // a log-out without a response did not happen
      unauthenticated.divert(null);
      const presentUser = currentUser();
      if (presentUser?.id !== dto.id) return void signIn(toUser(dto, isWhole));
      const user = isWhole ? toUser(dto) : patchedUser(presentUser, dto);
      unprovenSince = null;
      // one older response may come from a replica that lags; a second one shows that the server's data was reset
      if (isOlder(presentUser, user.version) && droppedAfter !== receivedRecords) {
        droppedAfter = receivedRecords;
        return;
      }
      receivedRecords += 1;
      balanceEpoch += 1;
      save(user);
      setUser(user);
    },
    /** Applies the user of a sign-in in this page. The next response shows whether the browser stored the session's cookie. */
    signedIn(dto: UserDto) {
      const isWhole = Object.keys(userSchema.entries).every((field) => dto[field as keyof UserDto] !== undefined);
      session.userReceived(dto, isWhole);
      unprovenSince = performance.now();
      if (!isWhole) void refresh();
    },
    /** Applies part of a user, from a response or an event. An older `version` is dropped. */
    userPatched(patch: UserPatch) {
      const user = currentUser();
      if (!user || isOlder(user, patch.version)) return;
      if (patch.id && patch.id !== user.id) return;
      receivedRecords += 1;
      if (patch.balance != null) balanceEpoch += 1;
      const nextUser = patchedUser(user, patch);
      save(nextUser);
      setUser(nextUser);
    },
    balanceShifted,
    /** Whether the server has sent the whole user within the last 10 s. */
    isFresh: (): boolean => currentUser()?.isWhole === true && performance.now() - userReceivedAt < FRESH_MS,
    /** Subscribes to sign-ins whose next request got a 401, as a cookie was not stored. Returns the unsubscribe function. */
    onUnkept: unkeptDetected.on,
    /** Whether that has just happened, so that another sign-in would fail too. */
    isUnkept: (): boolean =>
      unkeptSession?.epoch === signInEpoch.current() && performance.now() - unkeptSession.at < REFUSALS_MS,
    /** Whether scripts can read the CSRF cookie, so that neither browser nor proxy has removed it. */
    keepsToken: hasToken,
    /** Loads `GET /v1/user`; a failure is only logged. A guest's 401 does not open the popup. */
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
  function applyStoredUser() {
    const storedUser = readStored(readJson(STORAGE_KEYS.user));
    const user = currentUser();
    // stored by a tab with a pending response that missed the log-out; a sign-in would have written the owner first
    if (storedUser && storedUser.id === loggedOutId && lastOwner.read() !== loggedOutId) return end();
    if (storedUser && user?.id === storedUser.id) {
      balanceEpoch += 1;
      return setUser(patchedUser(user, toStored(storedUser)));
    }
    signInEpoch.next();
    const previousOwner = shownOwner();
    const lastId = lastOwner.read();
    // logged out in the other tab, not just expired: the unsaved data of this tab is removed too
    if (previousOwner !== null && lastId !== previousOwner) {
      purgeDrafts(previousOwner);
      uncopiedCredentials.forget();
    }
    if (storedUser) setUser(storedUser);
    else if (user && lastId === user.id) expire(user);
    else if (lastId === null || (previousOwner !== null && lastId !== previousOwner)) end();
    else store.dispatch(sessionSlice.actions.signedOut({ id: lastId, login: lastOwner.readLogin() }));
  }

  onUnauthenticated(() => {
    const user = currentUser();
    if (!user) return;
    const isUnkept = unprovenSince !== null && performance.now() - unprovenSince < UNSTORED_COOKIE_MS;
    unprovenSince = null;
    if (!isUnkept) return expire(user);
    unkeptSession = { at: performance.now(), epoch: signInEpoch.current() };
    end(forgetAnswersSoon);
    unkeptDetected.emit();
  });

  applyStoredUser();
  onForeignChange((key) => {
    const user = currentUser();
    // storage was cleared, but the session's cookie still exists
    if (key === null && user && hasToken()) {
      lastOwner.write(user.id, user.username);
      save(user);
      void refresh();
    } else if (key == null || key === STORAGE_KEYS.user) applyStoredUser();
  });

  return { ...session, takeStored: applyStoredUser };
}

export const session = createSession();

export const useSession = (): Session => useSelector((state) => state.session);

/** The session that has expired on this device, if any: its user only needs to sign in again. */
export const useExpiredSession = (): ExpiredSession | null =>
  useSelector((state) => (state.session.status === 'guest' && state.session.expired) || null);

export const useUser = (): User | null =>
  useSelector((state) => (state.session.status === 'member' ? state.session.user : null));

const isRefusal = ({ kind }: ApiError) => kind !== 'offline' && kind !== 'timeout' && kind !== 'server';

/**
 * Sends `POST /v1/logout` (a 401 counts as done), then calls `end`. If the response is lost, a 401 of another request confirms
 * the log-out and ends the session. Rejects with `ApiError`.
 */
async function logOut(end: (byRefusal: boolean) => Promise<void>): Promise<void> {
  let endWork: Promise<void> | undefined;
  const endOnce = (byRefusal: boolean) => {
    endWork ??= end(byRefusal);
    return endWork;
  };
  unauthenticated.divert(() => void endOnce(true));
  try {
    await request({ url: endpoints.logout, method: 'POST' });
  } catch (cause) {
    const error = toApiError(cause);
    if (error.kind !== 'unauthenticated' && !endWork) {
      if (isRefusal(error)) unauthenticated.divert(null);
      throw error;
    }
  }
  await endOnce(false);
}

async function purgePrivateData(owner: string): Promise<void> {
  purgeDrafts(owner);
  purgePositions(owner);
  local.remove(STORAGE_KEYS.lastMessage);
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

type LoginHandler = (mode: LoginMode) => Promise<boolean>;

/** Connects code that needs a sign-in with the host, which owns the popup. */
function createAuthPopup() {
  let loginHandler: LoginHandler | null = null;
  const handlerAdded = createSignal();
  return {
    /** `handler` opens the popup; it resolves to true once signed in, false when closed. Returns the unsubscribe function. */
    onRequest(handler: LoginHandler): () => void {
      loginHandler = handler;
      handlerAdded.emit();
      return () => {
        if (loginHandler === handler) loginHandler = null;
      };
    },
    /** Opens the popup. Resolves to true once signed in, false when closed. */
    async request(mode: LoginMode = 'register'): Promise<boolean> {
      // loads the token before the form is sent
      void csrfToken.prepare();
      // a screen may call this while the popup's owner is still mounting
      if (!loginHandler)
        await new Promise<void>((resolve) => {
          const stop = handlerAdded.on(() => {
            stop();
            resolve();
          });
        });
      return loginHandler ? loginHandler(mode) : false;
    },
  };
}

export const authPopup = createAuthPopup();

export const requestLogin = authPopup.request;
