import type { RemoteDescription } from '@liaozhai/shared/contract';
import { requireSmokeBrowser } from '../gate/chromium.ts';
import { type CheckResult, type GateCheck, makeGate } from '../gate/gate.ts';
import { type ServeSet, serveInProcess } from '../gate/serveSet.ts';
import { smoke } from '../gate/smoke.ts';
import { activate } from '../operations/switching.ts';
import { openTestStore, PAGE_TEMPLATE } from './openTestStore.ts';

/**
 * A minimal host that runs the entry of the route's remote and then its module, with integrity and Trusted Types. Opens pages that need
 * a login only for members.
 */
const HOST = `
const set = JSON.parse(document.getElementById('liaozhai-set').textContent);
const isHere = (route) => location.pathname === route.path;
const remote = Object.values(set.remotes).find((one) => one.routes.some(isHere));
const route = remote.routes.find(isHere);
const run = (url) => new Promise((done, fail) => {
  const script = document.createElement('script');
  script.integrity = set.hashes[url];
  script.crossOrigin = 'anonymous';
  script.src = globalThis.policy.createScriptURL(url);
  script.onload = done;
  script.onerror = () => fail(new Error('lost ' + url));
  document.head.append(script);
});
const root = document.getElementById('root');
const files = route.requiresAuth && !localStorage.getItem('user-store') ? [] : route.preload.js;
if (files.length === 0) root.textContent = '登录';
const report = (failure, cause) => {
  if (cause) console.warn('[it] ' + remote.id + ' failed', new Error(failure, { cause }));
  navigator.sendBeacon('/beacon', new Blob([JSON.stringify({
  build: remote.id, set: set.set, candidate: false, outcome: failure ? 'failed' : 'loaded', failure,
  })], { type: 'application/json' }));
};
(async () => { for (const file of files) await run(file); report(); })().catch(() => { report('unreachable'); root.textContent = '!'; });
globalThis.report = report;
`;
const LOADER = `const at = JSON.parse(document.getElementById('liaozhai-set').textContent);
globalThis.policy = trustedTypes.createPolicy('liaozhai', { createScriptURL: (url) => url });
const script = document.createElement('script');
script.integrity = at.hashes[at.host.entry]; script.crossOrigin = 'anonymous'; script.src = policy.createScriptURL(at.host.entry);
document.head.append(script);`;
const PAGE = PAGE_TEMPLATE.replace('globalThis.__loadAsset = {};', LOADER);
export const SHOW = 'static/js/async/page.js';
export const shows = (code: string) => ({ files: { [SHOW]: code } });
export const FINE = "document.getElementById('root').textContent = '好';";
/** A screen whose skeleton stays, as while its module loads. */
export const WAITING = `${FINE} document.getElementById('root').dataset.skeleton = 'row';`;
/** A page that shows other remotes in its slots, and throws if `grudge` is in the set. */
const STORIES = `${FINE} for (const { slots } of Object.values(set.remotes)) for (const { name, preload } of slots)
  if (name.startsWith('stories.')) preload.js.forEach(run);
  else if (name === 'message.menu') root.append(Object.assign(document.createElement('button'), {
    textContent: '更多操作', onclick: () => preload.js.forEach(run),
  }));
  if ('grudge' in set.remotes) throw new Error('not here');`;
export const route = (name: string, requiresAuth = false): RemoteDescription['routes'][number] => ({
  name,
  path: `/${name}`,
  title: '',
  requiresAuth,
  keepAlive: false,
  outsideShell: false,
  js: [SHOW],
  css: [],
});

/** Opens a store in which the minimal host and `stories` are live, and judges further builds with the smoke check. */
export async function openSmokeStage() {
  const chromium = await requireSmokeBrowser();
  const store = await openTestStore();
  await store.activate(
    await store.host('1.0.0', { files: { 'page.html': PAGE, 'static/js/host.js': HOST } }),
    await store.remote('stories', '1.0.0', shows(STORIES)),
  );
  const serve = serveInProcess({ store: store.url, channel: 'production' });
  /** Activates builds. Resolves with the problems, '' for none. */
  const judge = (builds: string | string[], by: ServeSet | GateCheck | null = serve, notes: string[] = []) => {
    const onResults = (results: CheckResult[]) => notes.push(...results.flatMap((result) => result.notes));
    const check = typeof by === 'function' ? smoke(by, chromium) : by;
    return activate(store.writer, [builds].flat(), {
      gate: makeGate(store.writer, { smoke: check, onResults }),
    }).then(
      () => '',
      (cause: { details?: string[]; message: string }) => (cause.details ?? [cause.message]).join('\n'),
    );
  };
  return { store, serve, judge };
}
