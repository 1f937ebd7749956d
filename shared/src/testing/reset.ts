import { api, session, store } from '../runtime';
import { forgetHostConfig } from '../runtime/hostConfig';
import { realtimeEdge } from '../runtime/realtime/realtime';
import { takeStoredUser } from '../runtime/session/session';
import { dropUnsavedDrafts } from '../runtime/storage/drafts';
import { clearOutbox } from '../runtime/storage/outboxStore';
import { clearSnapshots } from '../runtime/storage/snapshots';
import { dismissToast } from '../runtime/toasts';

const endings: (() => void)[] = [];

/** Runs once when the current test is over. */
export function onTestEnd(ending: () => void) {
  endings.push(ending);
}

/** Leaves nothing of a test to the next: session, caches, toasts, device storage, socket, whatever was faked. */
export async function resetRuntime() {
  realtimeEdge.reset();
  dropUnsavedDrafts();
  localStorage.clear();
  sessionStorage.clear();
  if (session.current().status !== 'guest') takeStoredUser();
  for (const { id } of store.getState().toasts) dismissToast(id);
  store.dispatch(api.util.resetApiState());
  for (const ending of endings.splice(0).reverse()) ending();
  forgetHostConfig();
  await Promise.all([clearOutbox(), clearSnapshots()]);
}
