import { noteServerTime } from '../contract';
import { api, store } from '../runtime';
import { network } from '../runtime/client/request';
import { capabilities, forgetHostConfig } from '../runtime/hostConfig';
import { realtimeEdge } from '../runtime/realtime/realtime';
import { retryPolicy } from '../runtime/retryPolicy';
import { local, tab } from '../runtime/storage/browserStorage';
import { drafts } from '../runtime/storage/drafts';
import { offlineCache, outboxStore } from '../runtime/storage/recordStore';
import { dismissToast } from '../runtime/toasts';
import { endFakes } from './fakeApi';
import { letTimePass } from './runningTime';

const endings: (() => void)[] = [];

/** Runs once when the current test is over. */
export function onTestEnd(ending: () => void) {
  endings.push(ending);
}

/** Clears everything between tests: session, caches, toasts, device storage, socket and fakes. */
export async function resetRuntime() {
  for (const ending of endings.splice(0).reverse()) ending();
  realtimeEdge.reset();
  network.recordResponse();
  retryPolicy.reset();
  noteServerTime({ date: new Date().toUTCString() }, Date.now());
  drafts.flush();
  localStorage.clear();
  sessionStorage.clear();
  // values that only memory holds, since a test's storage refused them
  for (const store of [local, tab]) for (const key of store.keys('')) store.remove(key);
  // the cookie indicates a session that may exist without storage
  Reflect.set(document, 'cookie', 'XSRF-TOKEN=; expires=Thu, 01 Jan 1970 00:00:00 GMT');
  // listeners for changes of other tabs read the empty storage
  window.dispatchEvent(new StorageEvent('storage', { key: null }));
  // pending work still gets its responses and ends without a user: the next test may sign in the same member
  await letTimePass();
  endFakes();
  localStorage.clear();
  for (const { id } of store.getState().toasts) dismissToast(id);
  store.dispatch(api.util.resetApiState());
  forgetHostConfig();
  capabilities.set([]);
  await Promise.all([outboxStore.clear(), offlineCache.clear()]);
}
