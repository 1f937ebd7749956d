import {
  CONTRACT_VERSION,
  PAGE_ELEMENTS,
  type PageBuild,
  type PageRoute,
  type PageSet,
} from '@liaozhai/shared/contract';

const route = (name: string, path: string, title: string, flags: Partial<PageRoute> = {}): PageRoute => ({
  name,
  path,
  title,
  requiresAuth: false,
  keepAlive: false,
  outsideShell: false,
  preload: { js: [], css: [] },
  ...flags,
});

type Slot = Omit<PageBuild['slots'][0], 'preload'>;

const build = (name: string, version: string, routes: PageRoute[], slots: Slot[] = []): PageBuild => ({
  id: `${name}@${version}+000000000000`,
  label: name,
  entry: `/builds/${name}/${version}/remoteEntry.js`,
  global: `${name}_${version}`,
  contract: `^${CONTRACT_VERSION}`,
  routes,
  slots: slots.map((slot) => ({ ...slot, preload: { js: [], css: [] } })),
});

const withLastGood = (current: PageBuild, lastGood: PageBuild | null = null) => ({ ...current, lastGood });

const stories = [
  route('explore', '/explore', '发现', { keepAlive: true }),
  route('story', '/story/:id', '故事', { keepAlive: true, outsideShell: true }),
];
const account = [
  route('my', '/my', '我的', { keepAlive: true }),
  route('profile', '/my/profile', '个人资料', { requiresAuth: true }),
];
const gifts = [route('gifts', '/gifts', '礼物')];
const lanterns = [route('lanterns', '/lanterns', '灯会')];

const entries = (order: number) => [{ name: 'my.entries', order }];

/** The set of the tests' page. `gifts` has a last good build, `lanterns` has none. */
export const testSet: PageSet = {
  channel: 'production',
  seq: 7,
  set: 'a'.repeat(40),
  candidate: false,
  override: null,
  publicKey: '',
  host: { id: 'host@1.0.0+000000000000', entry: '/host.js', contract: CONTRACT_VERSION, css: [] },
  remotes: {
    stories: withLastGood(build('stories', '1.0.0', stories)),
    chat: withLastGood(
      build(
        'chat',
        '1.0.0',
        [route('conversations', '/conversations', '聊过', { keepAlive: true })],
        [{ name: 'story.chat' }, { name: 'conversations.member' }],
      ),
    ),
    account: withLastGood(build('account', '1.0.0', account, [{ name: 'legal' }, { name: 'minor' }])),
    gifts: withLastGood(build('gifts', '2.0.0', gifts, entries(20)), build('gifts', '1.0.0', gifts, entries(20))),
    lanterns: withLastGood(build('lanterns', '1.0.0', lanterns, entries(10))),
  },
  hashes: {},
  killed: [],
};

const script = document.createElement('script');
script.type = 'application/json';
script.id = PAGE_ELEMENTS.set;
script.textContent = JSON.stringify(testSet);
document.head.append(script);
globalThis.__liaozhai = {
  policy: null,
  hashOf: () => 'sha384-test',
  started: false,
  failed: () => undefined,
  taps: { last: null, focused: null, isLeaving: false, heirOf: (control) => control },
};

// a test is never idle: idle work would run at an arbitrary time
window.requestIdleCallback = () => 0;
window.cancelIdleCallback = () => undefined;

// the origin has no channel and no builds to prefetch
globalThis.fetch = async () => new Response('', { status: 404 });

/** Reports that the page sent to the origin with `sendBeacon`, as `<path> <body>`. */
export const beacons: string[] = [];
navigator.sendBeacon = (url, body) => {
  void new Response(body).text().then((text) => beacons.push(`${url} ${text}`));
  return true;
};
