/** Every screen that one team links to and another serves, as links. */
export const paths = {
  explore: () => '/explore',
  story: (id: string) => `/story/${encodeURIComponent(id)}`,
  /** The story's screen with its chat open; `line`, from 1, is the opening line that stands in the field. */
  storyChat: (id: string, line?: number) => `/story/${encodeURIComponent(id)}?chat=1${line ? `&line=${line}` : ''}`,
  conversations: () => '/conversations',
  my: () => '/my',
  profile: () => '/my/profile',
  security: () => '/my/security',
  minorMode: () => '/my/minor',
  support: () => '/my/support',
  favorites: () => '/my/favorites',
  terms: () => '/terms',
  privacy: () => '/privacy',
  transactions: () => '/my/wallet/transactions',
  recharge: () => '/my/wallet/recharge',
  order: (id: string) => `/my/wallet/orders/${encodeURIComponent(id)}`,
  testList: () => '/test/list',
} as const;

/** Patterns of the screens that the host serves itself; no remote may claim them. */
export const hostRoutePaths = {
  root: '/',
  test: '/test/list',
  emailVerify: '/email/verify/:id/:hash',
  /** `?token=…&email=…`, in the query since what stands there is kept out of logs */
  passwordReset: '/reset-password',
} as const;

/** First segments that the server answers itself or passes to the backend; no screen can lie there. */
export const reservedSegments = [
  'api',
  'app',
  'beacon',
  'broadcasting',
  'builds',
  'channels',
  'healthz',
  'readyz',
  'sanctum',
  'static',
] as const;

/** First segments that belong to the backend: calls, CSRF cookie, channel authorisation, socket. */
export const backendSegments = ['api', 'sanctum', 'broadcasting', 'app'] as const;

/** Base path of the specification's calls. */
export const API_BASE = '/api';

/** The specification's calls below `API_BASE`, and what the product adds to them. */
export const endpoints = {
  stories: '/v1/stories',
  story: (id: string) => `/v1/stories/${encodeURIComponent(id)}`,
  favorite: (id: string) => `/v1/stories/${encodeURIComponent(id)}/favorite`,
  favorites: '/v1/favorites',
  messages: '/v1/messages',
  latestMessages: '/v1/messages/latest',
  findMessages: '/v1/messages/search',
  messageDays: '/v1/messages/days',
  report: (id: string) => `/v1/messages/${encodeURIComponent(id)}/report`,
  suggestions: '/v1/messages/suggestion',
  suggestion: (id: string) => `/v1/messages/suggestion/${encodeURIComponent(id)}`,
  continue: '/v1/messages/continue',
  cancelReply: (id: string) => `/v1/messages/${encodeURIComponent(id)}/cancel`,
  regenerate: (id: string) => `/v1/messages/${encodeURIComponent(id)}/regenerate`,
  editMessage: (id: string) => `/v1/messages/${encodeURIComponent(id)}/edit`,
  variant: (id: string) => `/v1/messages/${encodeURIComponent(id)}/variant`,
  conversations: '/v1/conversations',
  restartConversation: (id: string) => `/v1/conversations/${encodeURIComponent(id)}/restart`,
  conversation: (id: string) => `/v1/conversations/${encodeURIComponent(id)}`,
  user: '/v1/user',
  password: '/v1/user/password',
  /** `DELETE` ends all but the present one */
  sessions: '/v1/user/sessions',
  userSession: (id: string) => `/v1/user/sessions/${encodeURIComponent(id)}`,
  deletion: '/v1/user/deletion',
  email: '/v1/user/email',
  resendEmail: '/v1/user/email/resend',
  minor: '/v1/user/minor',
  minorUnlock: '/v1/user/minor/unlock',
  minorUse: '/v1/user/minor/use',
  minorReset: '/v1/user/minor/reset',
  login: '/v1/login',
  register: '/v1/register',
  logout: '/v1/logout',
  /** `query` is the link's own, with its leading question mark. */
  verifyEmail: (id: string, hash: string, query = '') =>
    `/v1/email/verify/${encodeURIComponent(id)}/${encodeURIComponent(hash)}${query}`,
  resendVerification: '/v1/email/verification-notification/resend',
  forgotPassword: '/v1/forgot-password',
  resetPassword: '/v1/reset-password',
  checkIn: '/v1/check-in',
  transactions: '/v1/transactions',
  tickets: '/v1/support/tickets',
  ticketRead: (id: string) => `/v1/support/tickets/${encodeURIComponent(id)}/read`,
  orders: '/v1/orders',
  order: (id: string) => `/v1/orders/${encodeURIComponent(id)}`,
  invite: (code: string) => `/v1/invites/${encodeURIComponent(code)}`,
  giftsAnnounced: '/v1/invites/gifts/announced',
  /** Which of the product's own calls a server has; optional. */
  capabilities: '/v1/capabilities',
  wechatSignature: '/v1/wechat/signature',
  /** A static list of pictures to choose from; optional. */
  avatars: '/media/avatars.json',
} as const;

type EndpointOf = (...ids: string[]) => string;

/** Patterns of the calls below `API_BASE`, by which one is named without its ids. */
export const apiRoutes = (): { path: string }[] =>
  Object.values(endpoints).map((endpoint: string | EndpointOf) => ({
    path: API_BASE + (typeof endpoint === 'string' ? endpoint : decodeURIComponent(endpoint(':id', ':hash'))),
  }));

/** Calls outside `API_BASE`. */
export const edgeEndpoints = {
  csrfCookie: '/sanctum/csrf-cookie',
  channelAuth: '/broadcasting/auth',
  userAuth: '/broadcasting/user-auth',
} as const;

const segmentsOf = (path: string): string[] => path.split('/').filter(Boolean);

/**
 * How closely a pattern fits a path, one digit a segment, to be compared as text: a fixed word 3, a parameter 2, `*` 1. The end of
 * both is a 2. Null where it does not fit.
 */
function fitOf([first, ...rest]: readonly string[], path: readonly string[]): string | null {
  if (first === '*') return '1';
  const [head, ...tail] = path;
  if (first === undefined) return head === undefined ? '2' : null;
  const isParameter = first.startsWith(':');
  const further = head !== undefined && (isParameter || first === head) ? fitOf(rest, tail) : null;
  if (further !== null) return (isParameter ? '2' : '3') + further;
  return first.endsWith('?') ? fitOf(rest, path) : null;
}

/**
 * The route that fits a pathname most closely, or undefined. Segments count from the left: `/gifts/new` comes before `/gifts/:id`, and
 * both before `/gifts/*`. Server and page choose a screen by this rule.
 */
export function matchRoute<Route extends { path: string }>(
  routes: readonly Route[],
  pathname: string,
): Route | undefined {
  const path = segmentsOf(pathname);
  let [best, closest]: [Route | undefined, string] = [undefined, ''];
  for (const route of routes) {
    const fit = fitOf(segmentsOf(route.path), path) ?? '';
    if (fit > closest) [best, closest] = [route, fit];
  }
  return best;
}

/** Names of everything kept on the device. Formats only grow: an older build may read what a newer one wrote. */
export const STORAGE_KEYS = {
  user: 'user-store',
  /** id of who signed in here last and has not logged out */
  owner: 'liaozhai-owner',
  /** the name that this owner signs in with */
  login: 'liaozhai-login',
  /** the server has said that nobody is signed in here, and nobody has signed in since */
  guest: 'liaozhai-guest',
  preferences: 'liaozhai-preferences',
  draft: 'liaozhai-draft',
  positions: 'liaozhai-positions',
  /** the stories one talked in last; the loader keeps their place in the page free */
  recent: 'liaozhai-recent',
  /** builds that failed here, with the time until which they are avoided */
  quarantine: 'liaozhai-quarantine',
  /** builds that ran here: a page tells whether what it measured came from the cache */
  ranBuilds: 'liaozhai-ran-builds',
  /** what the server said last that it can do beyond the specification */
  capabilities: 'liaozhai-capabilities',
  /** the account of this browser's making whose address is yet to be confirmed */
  confirming: 'liaozhai-confirming',
  /** sessionStorage: credentials that the clipboard refused */
  uncopied: 'liaozhai-uncopied',
  /** sessionStorage: the invite code that a visitor came by */
  invite: 'liaozhai-invite',
  /** sessionStorage: the keys of orders that may be open, by package */
  orders: 'liaozhai-orders',
  /** sessionStorage: where this visit began */
  arrival: 'liaozhai-arrival',
  /** sessionStorage: scroll positions of screens */
  scroll: 'liaozhai-scroll',
  /** sessionStorage: the state for which this page was reloaded */
  update: 'liaozhai-update',
  /** IndexedDB */
  database: 'liaozhai',
  /** messages on their way, which IndexedDB has as well, by owner and key */
  outbox: 'liaozhai-unsent',
  /** BroadcastChannel between tabs */
  outboxChannel: 'liaozhai-outbox',
} as const;

/** The draft that is no draft: a JSON list of the messages that the outbox does not have yet. */
export const PENDING_LOG = 'chat.journal';

/** Ids of the page's data elements. `host/src/page.html` writes them out, since it can import nothing. */
export const PAGE_ELEMENTS = {
  set: 'liaozhai-set',
  config: 'liaozhai-config',
  first: 'liaozhai-first',
} as const;
