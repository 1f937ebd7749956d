/**
 * The inline script behind the page's content: decides by age whether this browser can run the app, and loads the host once
 * the page is whole. It keeps what a reader does before the app can answer, and gives each tap to what was pressed.
 * `shared/src/build/page.ts` compiles it to ES5, so that it runs wherever a page is shown at all; APIs newer than that stand
 * behind `isNewEnough`. It imports nothing.
 */

const byId = (id: string) => document.getElementById(id);

/**
 * The youngest things that every browser of the floor has: Chrome 103, Firefox 114 and Safari 16.4 brought them. None
 * is used, they tell the age. A Firefox 114 gets in: it lacks nothing that the other two floors have.
 */
const isNewEnough = () =>
  'AbortSignal' in window &&
  'timeout' in AbortSignal &&
  CSS.supports('width', 'calc(1px * infinity)') &&
  'replaceSync' in CSSStyleSheet.prototype;

/** Somebody is signed in on this device, as far as it knows. Throws where there is no storage. */
const isMember = () => localStorage.getItem('user-store') !== null;

function keepInvite() {
  try {
    const invite = new URLSearchParams(location.search).get('invite');
    if (invite) sessionStorage.setItem('liaozhai-invite', invite);
  } catch {
    // no storage: the invitation counts for this page only, which has the code in its address
  }
}

/** What the server renders for guests is hidden until it is known that nobody is signed in; one who was has a session that ran out. */
function markGuest() {
  let isGuest = true;
  try {
    isGuest = !isMember() && !localStorage.getItem('liaozhai-owner');
  } catch {
    // no storage: nobody can be signed in
  }
  if (isGuest) document.documentElement.setAttribute('data-guest', '');
}

/** Title and teaser of the linked screen, which the server has written into the head for link cards. */
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

/** Old browsers copy what is selected in a field; where even that is refused the field stays for the finger. */
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
    // the same as refused
  }
  if (isCopied) field.parentNode?.removeChild(field);
  button.textContent = isCopied ? '链接已复制' : '请长按上面的链接复制';
}

/** Leaves of the notice's parts what this reader needs. The system only chooses the advice, never who gets in. */
function chooseParts(notice: HTMLElement, side: string) {
  const agent = navigator.userAgent;
  const isApple = /iPhone|iPad|iPod/.test(agent);
  const isAndroid = /Android/.test(agent);
  const advice = [
    isApple && 'ios',
    isAndroid && 'android',
    // every browser of an iPhone has the system's engine, so another one is no help there
    !isApple && /MicroMessenger/.test(agent) && 'wechat',
    !isApple && !isAndroid && 'desktop',
  ];
  const parts = notice.querySelectorAll('[data-side],[data-advice]');
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as Element;
    const named = part.getAttribute('data-advice');
    const isWanted = named ? advice.indexOf(named) >= 0 : part.getAttribute('data-side') === side;
    if (!isWanted) part.parentNode?.removeChild(part);
  }
}

/** Shows one side of the notice above what the server has rendered; where it has rendered nothing, below the link's teaser or alone. */
function showNotice(side: 'old' | 'failed') {
  const notice = byId('notice');
  if (!notice?.hidden) return;
  chooseParts(notice, side);
  // an invitation whose button does nothing, and the place of a list that will not come
  const dead = document.querySelectorAll('#root [data-for]');
  for (let at = 0; at < dead.length; at += 1) dead[at]?.parentNode?.removeChild(dead[at] as Element);
  const button = notice.querySelector('button');
  if (button) button.onclick = () => (side === 'old' ? copyAddress(button) : location.reload());
  const main = document.querySelector('#root main');
  const isDrawn = main !== null && main.textContent?.trim() !== '';
  const story = isDrawn ? null : teaser();
  if (!isDrawn && !story) notice.className += ' notice-whole';
  const place = main ?? document.body;
  place.insertBefore(notice, place.firstChild);
  if (story) place.insertBefore(story, notice);
  notice.hidden = false;
}

/** A kept page may open at another address than the one its prerendered content was made for. */
function dropForeignContent() {
  const drawnFor = document.querySelector('[data-first]')?.getAttribute('data-first');
  if (!drawnFor || drawnFor === location.pathname.replace(/^\/$/, '/explore')) return;
  byId('root')?.replaceChildren();
  byId('liaozhai-first')?.remove();
}

/** A story that was begun does not lead the shelf: the first other one does, as the app draws it. */
function placeLead() {
  try {
    const owner = isMember() && localStorage.getItem('liaozhai-owner');
    const recent: { id: string }[] = JSON.parse((owner && localStorage.getItem(`liaozhai-recent:${owner}`)) || '[]');
    const begun = recent.map(({ id }) => `/story/${encodeURIComponent(id)}`);
    const cards = Array.from(document.querySelectorAll('[data-first="/explore"] li'));
    const looks = cards.map(({ className }) => className);
    const isNew = (card: Element) => begun.indexOf(card.querySelector('a')?.getAttribute('href') ?? '') < 0;
    const [lead] = cards;
    const [next] = cards.filter(isNew);
    if (!lead || !next || next === lead) return;
    const label = lead.querySelector('h2')?.previousElementSibling;
    const title = next.querySelector('h2');
    if (label) title?.parentNode?.insertBefore(label, title);
    lead.parentNode?.insertBefore(next, lead);
    [next, ...cards.filter((card) => card !== next)].forEach((card, place) => {
      card.className = looks[place] ?? '';
    });
  } catch {
    // no storage, or one that cannot be read: the shelf as the server drew it
  }
}

/** A request that need not wait for the app. */
function startRequest(url: string): EarlyRequest {
  const response = fetch(url, { credentials: 'include', headers: { Accept: 'application/json' } });
  response.catch(() => undefined);
  return { url, response };
}

/** A member's list never comes with the page, so it need not even wait for the page's end. */
const startOwnList = () =>
  location.pathname === '/conversations' && knowsMember() ? startRequest('/api/v1/conversations') : null;

/** The list that 发现 begins with; left out where the answer came with the page. */
const startStories = () =>
  /^\/(explore)?$/.test(location.pathname) && !byId('liaozhai-first') ? startRequest('/api/v1/stories') : null;

function knowsMember(): boolean {
  try {
    return isMember();
  } catch {
    return false;
  }
}

/** A member's own data never comes with the page; what guests see of some screens does. */
const asksAtOnce = () => knowsMember() || !document.querySelector('[data-first] > main > *');

/** What only members see of the screen is a slot called like its route, with `.member` (`memberPart` of the contract). */
function preloadMemberPart(remotes: InlinedSet['remotes'], hashes: Record<string, string>) {
  if (!knowsMember()) return;
  const builds = Object.keys(remotes).map((name) => remotes[name] as InlinedRemote);
  for (const { routes, slots } of builds) {
    const [route] = routes.filter(({ path }) => path === location.pathname);
    const [part] = slots.filter(({ name }) => route && name === `${route.name}.member`);
    for (const file of part ? part.preload.js.concat(part.preload.css) : [])
      fetch(file, { integrity: hashes[file] ?? '' }).catch(() => undefined);
  }
}

/**
 * The file that carries requests (`shared/src/runtime/client/transport.ts`), for a page whose first request follows immediately. Requests
 * made here are read without it.
 */
function preloadClient(hashes: Record<string, string>, early: EarlyRequest | null) {
  if (early || !asksAtOnce()) return;
  const [path] = Object.keys(hashes).filter((file) => /\/host\/.*\/client\.\w+\.js$/.test(file));
  // the host's chunk loader finds it in the HTTP cache
  if (path) fetch(path, { integrity: hashes[path] ?? '' }).catch(() => undefined);
}

/** As far as a finger strays during a tap. */
const TAP_PX = 12;
const DOUBLE_TAP_MS = 300;
const CLICK_WITHIN_MS = 100;

const controlOf = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('a, button') : null;

const nameOf = (control: Element) =>
  control.getAttribute('href') || control.getAttribute('aria-label') || control.textContent;

const isInSight = (control: Element) => control.getClientRects().length > 0 && !control.closest('[inert]');

/** What a tap on this control goes to now: the control, or the app's own where the server's is gone. */
function heirOf(control: HTMLElement): HTMLElement | undefined {
  const isDrawn = !control.isConnected && control.closest('[data-first]');
  const controls = isDrawn ? Array.from(document.querySelectorAll<HTMLElement>('a, button')) : [control];
  return controls.filter((each) => isInSight(each) && nameOf(each) === nameOf(control))[0];
}

/** Notes of what the server drew which button was tapped last, and what has the focus: the app does the same to its own. */
function noteTaps(): Begun['taps'] {
  const taps: Begun['taps'] = { last: null, focused: null, isLeaving: false, heirOf };
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
 * A tap acts on what the finger was put on, and the second half of a double tap on nothing else. Browsers give the click to what has
 * come there meanwhile, or to nothing: a list is sorted, a sheet closes, the app takes the place of what the server drew.
 */
function keepTaps() {
  let pressed: HTMLElement | null = null;
  let clicked: HTMLElement | null = null;
  let clickedAt = 0;
  let isSecond = false;
  let [x, y] = [0, 0];
  const on = (type: string, act: (event: PointerEvent) => void) =>
    document.addEventListener(type, act as EventListener, true);
  const isNear = ({ clientX, clientY }: MouseEvent) => Math.abs(clientX - x) + Math.abs(clientY - y) < TAP_PX;
  on('pointerdown', (event) => {
    isSecond = event.pointerType !== 'mouse' && isNear(event) && event.timeStamp - clickedAt < DOUBLE_TAP_MS;
    pressed = controlOf(event.target);
    x = event.clientX;
    y = event.clientY;
  });
  on('pointercancel', () => {
    pressed = null;
  });
  on('pointerup', (event) => {
    const cut = pressed;
    if (!cut || cut.isConnected || !isNear(event)) return;
    // to a mouse most browsers send no click then
    setTimeout(() => cut === pressed && heirOf(cut)?.click(), CLICK_WITHIN_MS);
  });
  on('click', (event) => {
    // a script's, or a key's
    if (!event.isTrusted || !event.detail) return;
    const meant = isSecond ? clicked : pressed;
    const control = controlOf(event.target);
    pressed = null;
    clicked = control;
    clickedAt = event.timeStamp;
    if (!meant || !isNear(event)) return;
    const isMeant = meant.isConnected ? control === meant : control && nameOf(control) === nameOf(meant);
    if (isMeant) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    // what lies under a dialog that has opened meanwhile is out of reach
    if (!isSecond && meant.closest('dialog') === (event.target as Element).closest('dialog')) heirOf(meant)?.click();
  });
}

interface EarlyRequest {
  url: string;
  response: Promise<Response>;
}

/** What was begun before the page was whole. */
interface Begun {
  taps: NonNullable<typeof globalThis.__liaozhai>['taps'];
  early: EarlyRequest | null;
}

interface InlinedRemote {
  routes: { name: string; path: string }[];
  slots: { name: string; preload: { js: string[]; css: string[] } }[];
}

interface InlinedSet {
  host: { entry: string };
  remotes: Record<string, InlinedRemote>;
  hashes: Record<string, string>;
  override: { local?: { origin: string }[] } | null;
}

function loadHost(set: InlinedSet, { taps, early }: Begun) {
  const hashOf = (url: string) => {
    const { origin, pathname } = new URL(url, location.href);
    // a dev server's files have no hashes; the page's policy admits it
    if (set.override?.local?.some((local) => local.origin === origin)) return '';
    const hash = origin === location.origin && Object.hasOwn(set.hashes, pathname) ? set.hashes[pathname] : '';
    if (!hash) throw new TypeError(`not in the set: ${url}`);
    return hash;
  };
  const createScriptURL = (url: string) => {
    hashOf(url);
    return url;
  };
  const { trustedTypes } = window as typeof window & {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): unknown } };
  };
  const policy = trustedTypes ? trustedTypes.createPolicy('liaozhai', { createScriptURL }) : null;
  dropForeignContent();
  const failed = () => showNotice('failed');
  const loader = { policy, hashOf, early: early ?? startStories(), started: false, failed, taps };
  window.__liaozhai = loader;
  const append = (url: string, onerror: () => void) => {
    const host = document.createElement('script');
    host.integrity = hashOf(url);
    host.crossOrigin = 'anonymous';
    host.onerror = onerror;
    // a script that cannot be parsed loads as well
    host.onload = () => {
      if (!loader.started) failed();
    };
    host.src = policy ? (policy.createScriptURL(url) as string) : url;
    document.head.append(host);
  };
  // once more past the caches, which keep corrupt bytes like sound ones
  append(set.host.entry, () => append(`${set.host.entry}?again=1`, failed));
  preloadClient(set.hashes, loader.early);
  preloadMemberPart(set.remotes, set.hashes);
}

/** A page that was cut off stands in the browser's cache under the whole one's name: asks past it. */
function openWhole() {
  fetch(location.href, { cache: 'reload', headers: { Accept: 'text/html' } })
    .then((answer) => answer.text())
    .then((html) => {
      if (/<\/html>\s*$/.test(html)) location.reload();
    })
    .catch(() => undefined);
}

/** The worker may have answered with the beginning of a page that it kept. Where the live one differs it says so with `null`. */
function openSet(begun: Begun) {
  // the page's last element
  if (!byId('notice')) return openWhole();
  const text = byId('liaozhai-set')?.textContent;
  if (!text) return;
  const set: InlinedSet | null = JSON.parse(text);
  if (set) loadHost(set, begun);
  else if (!begun.taps.isLeaving) location.reload();
}

const whenParsed = (then: () => void) => document.addEventListener('DOMContentLoaded', then);

function start() {
  if (!isNewEnough()) return whenParsed(() => showNotice('old'));
  markGuest();
  keepInvite();
  placeLead();
  keepTaps();
  const begun = { taps: noteTaps(), early: startOwnList() };
  whenParsed(() => openSet(begun));
}

start();

export {};
