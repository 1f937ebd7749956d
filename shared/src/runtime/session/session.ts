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
/** A session that is refused so soon was not stored: its cookie got lost. */
const UNKEPT_MS = 10_000;
/** How long the refusals of such a session may come in. */
const REFUSALS_MS = 3_000;

const currentUser = (): User | null => {
  const { session: state } = store.getState();
  return state.status === 'member' ? state.user : null;
};

/** Whose things this page shows: the user's, also once the session has run out. */
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

/** Who is signed in: the one writer of the user. Follows the other tabs and every 401. */
export function createSession() {
  const unkeptNoticed = createSignal();
  /** when the user signed in here, until another answer has shown that the session holds */
  let unprovenSince: number | null = null;
  let unkept: { at: number; epoch: number } | null = null;
  const userChanged = createSignal<[previousId: string | null, id: string | null]>();
  let forgetting: ReturnType<typeof setTimeout> | undefined;
  let refreshing: { epoch: number; done: Promise<void> } | null = null;
  /** counts balances sent by the server: an optimistic shift made before one is contained in it or void */
  let balanceEpoch = 0;
  /** counts the user's records received from the server */
  let tellings = 0;
  /** when the server last sent the whole user, by the page's clock */
  let userToldAt = Number.NEGATIVE_INFINITY;
  /** who logged out in this page last */
  let loggedOutId: string | null = null;

  /** Empties the cache of what another user read; this aborts every request under way. */
  function forgetAnswers() {
    clearTimeout(forgetting);
    forgetting = undefined;
    store.dispatch(api.util.resetApiState());
  }

  /** Delivers the refusal to the caller of the refused request first, which an abort would swallow. */
  function forgetAnswersSoon() {
    forgetting ??= setTimeout(forgetAnswers);
  }

  /** Makes `user` the session's and notifies everyone who keeps something of the former. */
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

  /** Ends the session for good: nothing of the user stays in this page. */
  function end(forget = forgetAnswers) {
    local.remove(STORAGE_KEYS.user);
    const former = shownFor();
    store.dispatch(sessionSlice.actions.signedOut(null));
    setCurrentOwner(null);
    if (former === null) return;
    forget();
    userChanged.emit(former, null);
  }

  /** The session ran out: what this page shows of the user stays until somebody signs in, and is theirs alone. */
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

  /** Several places ask when the page is looked at again; one answer serves them all. */
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
      // without a version nobody knows whether it is older than what has come meanwhile
      if (tellings !== before && dto.version == null && !isRepeated) return fetchUser(epoch, true);
      // an answer to who was signed in before says nothing of who is now
      if (epoch === signInEpoch.current() && (isGuest || currentUser())) session.userReceived(dto);
    } catch (cause) {
      console.warn('the user could not be refreshed', toApiError(cause));
    }
  }

  /**
   * Asks the server once who is signed in where storage names nobody although a session may live: iOS clears what scripts have
   * stored after seven days, a full disk stores nothing, and a stored user may be damaged.
   */
  async function recover(): Promise<void> {
    const isUnknown = currentUser() === null && local.get(STORAGE_KEYS.guest) === null;
    if (!isUnknown || !hasToken()) return;
    const epoch = signInEpoch.current();
    unauthenticated.divert(() => local.set(STORAGE_KEYS.guest, '1'));
    await refresh();
    if (epoch === signInEpoch.current()) unauthenticated.divert(null);
  }

  /** What must be done while the user is still signed in. */
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

  /** Takes back an optimistic debit or credit, unless the server has told a balance since. */
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
    /** A whole user: login, register, GET /v1/user. */
    userReceived(dto: UserDto) {
      userToldAt = performance.now();
      // a log-out without an answer was not done
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
    /** The user whose sign-in this page has just requested: whether the session holds is still to be seen. */
    signedIn(dto: UserDto) {
      session.userReceived(dto);
      unprovenSince = performance.now();
    },
    /** Part of the user, from responses and events; an older `version` is dropped. */
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
    /** Whether the server has told the whole of the present user just now. */
    isFresh: (): boolean => currentUser()?.isWhole === true && performance.now() - userToldAt < FRESH_MS,
    /** Calls when a sign-in was refused by the very next call: the browser or a proxy did not keep its cookie. Returns the way to stop. */
    onUnkept: unkeptNoticed.on,
    /** Whether that has just happened; another sign-in would end alike. */
    isUnkept: (): boolean => unkept?.epoch === signInEpoch.current() && performance.now() - unkept.at < REFUSALS_MS,
    /** Whether a script can read the token that every change needs: neither browser nor proxy took its cookie away. */
    keepsToken: hasToken,
    /** GET /v1/user; a failure is only logged. */
    refresh,
    /** Finds a session that storage knows nothing of; see there. */
    recover,
    /** Logs out (401 = done), then deletes everything this device keeps of the user. Rejects with `ApiError`. */
    signOut,
    /** Has `work` done before a log-out, while the user is still signed in. Returns the way to stop. */
    beforeSignOut(work: () => Promise<unknown>): () => void {
      beforeSignOut.add(work);
      return () => void beforeSignOut.delete(work);
    },
    /** Hears of whom this page showed things of before, if it was somebody else, and who is signed in now. Returns the way to stop. */
    onUserChanged: userChanged.on,
  };

  /** Takes the user as storage has it now: at the start, and after another tab has changed it. */
  function takeStoredUser() {
    const storedUser = readStored(readJson(STORAGE_KEYS.user));
    const user = currentUser();
    // stored by a tab that had an answer pending and did not know of the log-out; a sign-in writes the owner first
    if (storedUser && storedUser.id === loggedOutId && lastOwner.read() !== loggedOutId) return end();
    if (storedUser && user?.id === storedUser.id) {
      balanceEpoch += 1;
      return become(patchedUser(user, toStored(storedUser)));
    }
    signInEpoch.next();
    const former = shownFor();
    const last = lastOwner.read();
    // logged out there, not only run out: what is still in this tab's hands goes too
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
      // what scripts have stored was cleared, while the session's cookie is there still
      if (key === null && user && hasToken()) {
        lastOwner.write(user.id, user.username);
        save(user);
        void refresh();
      } else if (key === null || key === STORAGE_KEYS.user) takeStoredUser();
    });
  }

  return { ...session, takeStored: takeStoredUser };
}

/** The page's one session. */
export const session = createSession();

export const useSession = (): Session => useSelector((state) => state.session);

/** The session that has run out here, if one has: its user need only sign in again. */
export const useExpiredSession = (): ExpiredSession | null =>
  useSelector((state) => (state.session.status === 'guest' && state.session.expired) || null);

export const useUser = (): User | null =>
  useSelector((state) => (state.session.status === 'member' ? state.session.user : null));

const wasAnswered = ({ kind }: ApiError) => kind !== 'offline' && kind !== 'timeout' && kind !== 'server';

/**
 * POST /v1/logout (401 = done), then `end`. Where the answer is lost, or overtaken, a 401 of something else says that
 * it was done and ends the session likewise. Rejects with `ApiError`.
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

/** Deletes everything this device keeps of `owner`. */
async function purgePrivateData(owner: string): Promise<void> {
  purgeDrafts(owner);
  purgePositions(owner);
  uncopiedCredentials.forget();
  await Promise.all([outboxStore.purge(owner), offlineCache.purge(owner)]);
}

/** What was written before signing in belongs to the user who signed in. */
async function adoptAnonymousData(owner: string): Promise<void> {
  adoptDrafts(ANONYMOUS, owner);
  adoptPositions(ANONYMOUS, owner);
  await outboxStore.adopt(ANONYMOUS, owner);
}

/** `invite` greets who came by an invite link before it registers them. */
export type LoginMode = 'register' | 'login' | 'invite';

type Answer = (mode: LoginMode) => Promise<boolean>;

/** Between code that needs a sign-in and the host, which owns the popup. */
function createAuthPopup() {
  let answer: Answer | null = null;
  const opened = createSignal();
  return {
    /** `handler` opens the popup; it resolves to true once signed in, false when closed. Returns the way to stop. */
    onRequest(handler: Answer): () => void {
      answer = handler;
      opened.emit();
      return () => {
        if (answer === handler) answer = null;
      };
    },
    /** Opens the popup; true once signed in, false when closed. */
    async request(mode: LoginMode = 'register'): Promise<boolean> {
      // there by the time the form is sent
      void csrfToken.prepare();
      // a screen may ask while the popup's owner is still being mounted
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

/** The page's one popup. */
export const authPopup = createAuthPopup();

export const requestLogin = authPopup.request;
