import { api } from '../api';
import { request } from '../client/client';
import { unwrap } from '../cursor';
import { createEmitter } from '../emitter';
import { isApiError } from '../errors';
import { STORAGE_KEYS } from '../storage/keys';
import { onOtherTabs } from '../storage/localStored';
import { purgePrivateData, settleOwner } from '../storage/privateData';
import { store, useSelector } from '../store';
import { onUnauthenticated } from '../unauthenticated';
import { sessionSlice } from './sessionSlice';
import { readStoredUser, writeStoredUser } from './storedUser';
import { toUserPatch, type User, type UserDto } from './user';

export type Session = { status: 'unknown' } | { status: 'guest' } | { status: 'member'; user: User };

const { userReplaced, userPatched, balanceShifted, userCleared } = sessionSlice.actions;
const changed = createEmitter<[previousId: string | null, id: string | null]>();

const currentUser = () => store.getState().session.user;
const guest: Session = { status: 'guest' };
const sessionOf = (user: User | null): Session => (user ? { status: 'member', user } : guest);

/** Runs a change of the slice, keeps the device's copy in step and tells who listens when the id changed. */
function change(run: () => void) {
  const previous = currentUser();
  run();
  const next = currentUser();
  if (next === previous) return;
  writeStoredUser(next);
  if (next?.id !== previous?.id) {
    store.dispatch(api.util.resetApiState());
    changed.emit([previous?.id ?? null, next?.id ?? null]);
  }
}

function received(dto: Partial<UserDto>) {
  const patch = toUserPatch(dto);
  if (!patch.id) return;
  settleOwner(patch.id);
  const isSame = currentUser()?.id === patch.id;
  change(() => store.dispatch(isSame ? userPatched(patch) : userReplaced(patch)));
}

async function refresh(): Promise<void> {
  try {
    received(unwrap(await request({ url: '/v1/user' })) as UserDto);
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    console.info('the user could not be refreshed', cause);
  }
}

/** 401 counts as done: there was no session to end. Other failures reject, and the user stays. */
async function signOut(): Promise<void> {
  await request({ url: '/v1/logout', method: 'POST' }).catch((cause: unknown) => {
    if (!isApiError(cause) || cause.kind !== 'unauthenticated') throw cause;
  });
  change(() => store.dispatch(userCleared()));
  await purgePrivateData();
}

export const session = {
  current: (): Session => sessionOf(currentUser()),
  /** a whole user: login, register, GET /v1/user */
  userReceived: received,
  /** what an answer or an event says of the user; an older `version` is dropped */
  userPatched: (dto: Partial<UserDto>) => change(() => store.dispatch(userPatched(toUserPatch(dto)))),
  /** An optimistic change of the balance; returns its undo. */
  balanceShifted(delta: number): () => void {
    change(() => store.dispatch(balanceShifted(delta)));
    let undone = false;
    return () => {
      if (undone) return;
      undone = true;
      change(() => store.dispatch(balanceShifted(-delta)));
    };
  },
  refresh,
  signOut,
  onUserChanged: (handler: (previousId: string | null, id: string | null) => void) =>
    changed.on(([previousId, id]) => handler(previousId, id)),
};

/** A 401 hides everything private; drafts and outbox wait on the device for the same user. */
onUnauthenticated(() => change(() => store.dispatch(userCleared())));

onOtherTabs(STORAGE_KEYS.user, () => {
  const stored = readStoredUser();
  change(() => store.dispatch(stored ? userReplaced(stored) : userCleared()));
});

export const useUser = (): User | null => useSelector((state) => state.session.user);
export const useSession = (): Session => {
  const user = useUser();
  return sessionOf(user);
};
