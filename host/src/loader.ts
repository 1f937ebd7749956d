/**
 * Inline script after the page's content: checks whether the browser is new enough, and loads the host once the page is parsed.
 * Records taps made before the app is ready, and delivers each tap to the control that was pressed. `shared/src/build/page.ts`
 * compiles it to ES5, so that it runs in any browser; newer APIs are used only after `isNewEnough`. It imports nothing.
 */

const byId = (id: string) => document.getElementById(id);

/**
 * Tests the newest features that every supported browser has, of Chrome 103, Firefox 114 and Safari 16.4. They only show the
 * version and are not used. The floor is Firefox 115, but 114 lacks nothing that the other two floors have.
 */
const isNewEnough = () =>
  'AbortSignal' in window &&
  'timeout' in AbortSignal &&
  CSS.supports('width', 'calc(1px * infinity)') &&
  'replaceSync' in CSSStyleSheet.prototype;

/** What this device has stored under a key; null also without storage, where nobody can be signed in. */
function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Whether a user is stored on this device. */
const isMember = () => stored('user-store') !== null;

function storeInvite() {
  try {
    const invite = new URLSearchParams(location.search).get('invite');
    if (invite) sessionStorage.setItem('liaozhai-invite', invite);
  } catch {
    // no storage: the invitation applies to this page only, whose address has the code
  }
}

/** Reveals the server's content for guests. A device with an owner but no user has an expired session, so it is not a guest's. */
function markGuest() {
  if (!isMember() && !stored('liaozhai-owner')) document.documentElement.setAttribute('data-guest', '');
}

/** Title and teaser of the linked story, from the head's Open Graph tags; null for other screens. */
function teaser(): HTMLElement | null {
  const card = (property: string) =>
    document.querySelector<HTMLMetaElement>(`meta[property="og:${property}"]`)?.content ?? '';
  if (card('type') !== 'article') return null;
  const story = document.createElement('article');
  story.className = 'notice-story';
  const title = document.createElement('h1');
  title.textContent = card('title');
  const text = document.createElement('p');
  text.textContent = card('description');
  story.appendChild(title);
  story.appendChild(text);
  return story;
}

/** Copies with `execCommand`, for old browsers. If that is refused, the field stays for copying by hand. */
function copyAddress(button: HTMLButtonElement) {
  const field = document.createElement('input');
  field.value = location.href;
  field.readOnly = true;
  field.className = 'notice-address';
  field.setAttribute('aria-label', '本页链接');
  button.parentNode?.insertBefore(field, button);
  field.focus();
  field.setSelectionRange(0, field.value.length);
  let isCopied = false;
  try {
    isCopied = document.execCommand('copy');
  } catch {
    // treated as a refusal
  }
  if (isCopied) field.parentNode?.removeChild(field);
  button.textContent = isCopied ? '链接已复制' : '请长按上面的链接复制';
}

/** Removes the parts of the notice that do not apply. The user agent selects only the advice, never whether the app runs. */
function chooseParts(notice: HTMLElement, side: string) {
  const agent = navigator.userAgent;
  const isApple = /iPhone|iPad|iPod/.test(agent);
  const isAndroid = /Android/.test(agent);
  const advice = [
    isApple && 'ios',
    isAndroid && 'android',
    // every browser on an iPhone uses the system's engine, so another browser does not help
    !isApple && /MicroMessenger/.test(agent) && 'wechat',
    !isApple && !isAndroid && 'desktop',
  ];
  const parts = notice.querySelectorAll('[data-side],[data-advice]');
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as Element;
    const adviceName = part.getAttribute('data-advice');
    const isRelevant = adviceName ? advice.indexOf(adviceName) >= 0 : part.getAttribute('data-side') === side;
    if (!isRelevant) part.parentNode?.removeChild(part);
  }
}

/** Shows one variant of the notice above the server-rendered content, else below the story's teaser, else alone. */
function showNotice(side: 'old' | 'failed') {
  const notice = byId('notice');
  if (!notice?.hidden) return;
  chooseParts(notice, side);
  // parts that need the app: an invitation's button, the placeholder of a list; a label, which is a span, stays
  const appOnlyParts = document.querySelectorAll('#root div[data-for]');
  for (let at = 0; at < appOnlyParts.length; at += 1)
    appOnlyParts[at]?.parentNode?.removeChild(appOnlyParts[at] as Element);
  const button = notice.querySelector('button');
  if (button) button.onclick = () => (side === 'old' ? copyAddress(button) : location.reload());
  const main = document.querySelector('#root main');
  const hasContent = main !== null && main.textContent?.trim() !== '';
  const story = hasContent ? null : teaser();
  if (!hasContent && !story) notice.className += ' notice-whole';
  const place = main ?? document.body;
  place.insertBefore(notice, place.firstChild);
  if (story) place.insertBefore(story, notice);
  notice.hidden = false;
}

/** A page cached by the worker may open at another address than its prerendered content was made for. */
function dropForeignContent() {
  const contentPath = document.querySelector('[data-first]')?.getAttribute('data-first');
  if (!contentPath || contentPath === location.pathname.replace(/^\/$/, '/explore')) return;
  byId('root')?.replaceChildren();
  byId('liaozhai-first')?.remove();
}

/** Moves the first story that the reader has not begun to the top of the shelf, as the app does. */
function placeLead() {
  try {
    const owner = isMember() && stored('liaozhai-owner');
    const recent: { id: string }[] = JSON.parse((owner && stored(`liaozhai-recent:${owner}`)) || '[]');
    const startedHrefs = recent.map(({ id }) => `/story/${encodeURIComponent(id)}`);
    const cards = Array.from(document.querySelectorAll('[data-first="/explore"] li'));
    const classNames = cards.map(({ className }) => className);
    const isNew = (card: Element) => startedHrefs.indexOf(card.querySelector('a')?.getAttribute('href') ?? '') < 0;
    const [lead] = cards;
    const [next] = cards.filter(isNew);
    if (!lead || !next || next === lead) return;
    const label = lead.querySelector('h2')?.previousElementSibling;
    const title = next.querySelector('h2');
    if (label) title?.parentNode?.insertBefore(label, title);
    lead.parentNode?.insertBefore(next, lead);
    [next, ...cards.filter((card) => card !== next)].forEach((card, place) => {
      card.className = classNames[place] ?? '';
    });
  } catch {
    // unreadable storage: the shelf stays as the server rendered it
  }
}

/** Starts a request before the app is loaded. */
function startRequest(url: string) {
  const response = fetch(url, { credentials: 'include', headers: { Accept: 'application/json' } });
  response.catch(() => undefined);
  return { url, response };
}

/** A member's list is never part of the page, so its request does not even wait for the page to be parsed. */
const requestOwnList = () =>
  location.pathname === '/conversations' && isMember() ? startRequest('/api/v1/conversations') : null;

/** The first list of 发现, unless the page already has it. */
const requestStories = () =>
  /^\/(explore)?$/.test(location.pathname) && !byId('liaozhai-first') ? startRequest('/api/v1/stories') : null;

/** Whether the app will send a request immediately: for a member, or on a screen without prerendered content. */
const willSendRequest = () => isMember() || !document.querySelector('[data-first] > main > *');

/** Preloads the members' part of the screen: a slot named like its route, with `.member` (`memberPart` of the contract). */
function preloadMemberPart({ remotes, hashes }: PageSet) {
  if (!isMember()) return;
  const builds = Object.keys(remotes).map((name) => remotes[name] as PageSet['remotes'][string]);
  for (const { routes, slots } of builds) {
    const [route] = routes.filter(({ path }) => path === location.pathname);
    const [part] = slots.filter(({ name }) => route && name === `${route.name}.member`);
    for (const file of part ? part.preload.js.concat(part.preload.css) : [])
      fetch(file, { integrity: hashes[file] ?? '' }).catch(() => undefined);
  }
}

/**
 * Preloads the client's chunk (`shared/src/runtime/client/transport.ts`) if the app's first request follows immediately.
 * Responses to requests started here are read without it.
 */
function preloadClient({ hashes }: PageSet, early: EarlyState['early']) {
  if (early || !willSendRequest()) return;
  const [path] = Object.keys(hashes).filter((file) => /\/host\/.*\/client\.\w+\.js$/.test(file));
  // the host's chunk loader finds it in the HTTP cache
  if (path) fetch(path, { integrity: hashes[path] ?? '' }).catch(() => undefined);
}

/** The most that a finger moves during a tap. */
const TAP_PX = 12;
const DOUBLE_TAP_MS = 300;
const CLICK_TIMEOUT_MS = 100;

/** A dialog is closed by a tap next to its panel. */
const controlOf = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('a, button, dialog') : null;

const nameOf = (control: Element) =>
  control.getAttribute('href') || control.getAttribute('aria-label') || control.textContent;

const isInSight = (control: Element) => control.getClientRects().length > 0 && !control.closest('[inert]');

/** Returns the control that a tap goes to now: itself, or the app's replacement of a removed server-rendered one. */
function heirOf(control: HTMLElement): HTMLElement | undefined {
  const isServerRendered = !control.isConnected && control.closest('[data-first]');
  const controls = isServerRendered ? Array.from(document.querySelectorAll<HTMLElement>('a, button')) : [control];
  return controls.filter((each) => isInSight(each) && nameOf(each) === nameOf(control))[0];
}

/** Records the last tapped button and the focused control of the server-rendered content, for the app to replay. */
function recordTaps(): EarlyState['taps'] {
  const taps: EarlyState['taps'] = { last: null, focused: null, isLeaving: false, heirOf };
  document.addEventListener('focusin', ({ target }) => {
    const control = controlOf(target);
    if (control?.matches('[data-first] *')) taps.focused = control;
  });
  document.addEventListener('click', ({ target, ctrlKey, metaKey, shiftKey }) => {
    const control = controlOf(target);
    if (!control?.closest('[data-first]')) return;
    if (control.matches('a')) {
      taps.isLeaving ||= !(ctrlKey || metaKey || shiftKey);
      return;
    }
    taps.last = control;
    control.setAttribute('data-tapped', '');
  });
  return taps;
}

/**
 * Makes a tap act on the control that was pressed, and the second half of a double tap on nothing else. If the layout has changed
 * meanwhile, browsers deliver the click to the element now under the finger, or to none. That happens when a list is sorted, a
 * sheet closes, or the app replaces the server's content.
 */
function redirectTaps() {
  let pressedControl: HTMLElement | null = null;
  let intendedControl: HTMLElement | null = null;
  let clickedAt = 0;
  let isMouse = false;
  let isSecondTap = false;
  let [x, y] = [0, 0];
  const on = (type: string, act: (event: PointerEvent) => void) =>
    document.addEventListener(type, act as EventListener, true);
  const isNear = ({ clientX, clientY }: MouseEvent) => Math.abs(clientX - x) + Math.abs(clientY - y) < TAP_PX;
  on('pointerdown', (event) => {
    isMouse = event.pointerType === 'mouse';
    isSecondTap = !isMouse && isNear(event) && event.timeStamp - clickedAt < DOUBLE_TAP_MS;
    pressedControl = controlOf(event.target);
    x = event.clientX;
    y = event.clientY;
  });
  on('pointercancel', () => {
    pressedControl = null;
  });
  on('pointerup', (event) => {
    const removedControl = pressedControl;
    if (!removedControl || removedControl.isConnected || !isNear(event)) return;
    // for a mouse, most browsers fire no click in that case
    setTimeout(() => removedControl === pressedControl && heirOf(removedControl)?.click(), CLICK_TIMEOUT_MS);
  });
  on('click', (event) => {
    // clicks from scripts or the keyboard
    if (!event.isTrusted || !event.detail) return;
    // a mouse counts its clicks; the count of a finger includes taps 100 px away
    isSecondTap ||= isMouse && event.detail > 1;
    if (!isSecondTap) intendedControl = pressedControl;
    pressedControl = null;
    clickedAt = event.timeStamp;
    const control = controlOf(event.target);
    if (!intendedControl || !isNear(event) || control === intendedControl) return;
    // 返回 of the next screen has the same name, so the second tap is not for it
    const isReplaced = !isSecondTap && !intendedControl.isConnected;
    if (isReplaced && control && nameOf(control) === nameOf(intendedControl)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    // a control under a dialog that has opened meanwhile is not clicked
    if (!isSecondTap && intendedControl.closest('dialog') === (event.target as Element).closest('dialog'))
      heirOf(intendedControl)?.click();
  });
}

type PageSet = import('@liaozhai/shared/contract').PageSet;

/** State from before the page was parsed. */
interface EarlyState {
  taps: NonNullable<typeof globalThis.__liaozhai>['taps'];
  early: ReturnType<typeof startRequest> | null;
}

function loadHost(set: PageSet, { taps, early }: EarlyState) {
  const hashOf = (url: string) => {
    const { origin, pathname } = new URL(url, location.href);
    // a dev server's files have no hashes; the Content-Security-Policy admits its origin
    if (set.override?.local?.some((local) => local.origin === origin)) return '';
    const hash = origin === location.origin && Object.hasOwn(set.hashes, pathname) ? set.hashes[pathname] : '';
    if (!hash) throw new TypeError(`not in the set: ${url}`);
    return hash;
  };
  const createScriptURL = (url: string) => {
    hashOf(url);
    return url;
  };
  const { trustedTypes } = window;
  const policy = trustedTypes ? trustedTypes.createPolicy('liaozhai', { createScriptURL }) : null;
  dropForeignContent();
  const showFailure = () => showNotice('failed');
  const loader = { policy, hashOf, early: early ?? requestStories(), started: false, failed: showFailure, taps };
  window.__liaozhai = loader;
  const append = (url: string, onerror: () => void) => {
    const host = document.createElement('script');
    host.integrity = hashOf(url);
    host.crossOrigin = 'anonymous';
    host.onerror = onerror;
    // `load` also fires for a script that cannot be parsed
    host.onload = () => {
      if (!loader.started) showFailure();
    };
    host.src = policy ? (policy.createScriptURL(url) as string) : url;
    document.head.append(host);
  };
  // retries past the caches, which may hold corrupt bytes
  append(set.host.entry, () => append(`${set.host.entry}?again=1`, showFailure));
  preloadClient(set, loader.early);
  preloadMemberPart(set);
}

/** Replaces a truncated page in the HTTP cache, then reloads. */
function reloadWholePage() {
  fetch(location.href, { cache: 'reload', headers: { Accept: 'text/html' } })
    .then((answer) => answer.text())
    .then((html) => {
      if (/<\/html>\s*$/.test(html)) location.reload();
    })
    .catch(() => undefined);
}

/** Loads the host. A set of `null` means that the worker began a cached page, and the live one differs: reloads. */
function openSet(earlyState: EarlyState) {
  // `#notice` is the page's last element
  if (!byId('notice')) return reloadWholePage();
  const text = byId('liaozhai-set')?.textContent;
  if (!text) return;
  const set: PageSet | null = JSON.parse(text);
  if (set) loadHost(set, earlyState);
  else if (!earlyState.taps.isLeaving) location.reload();
}

const whenParsed = (then: () => void) => document.addEventListener('DOMContentLoaded', then);

function start() {
  if (!isNewEnough()) return whenParsed(() => showNotice('old'));
  markGuest();
  storeInvite();
  placeLead();
  redirectTaps();
  const earlyState = { taps: recordTaps(), early: requestOwnList() };
  whenParsed(() => openSet(earlyState));
}

start();

export {};
