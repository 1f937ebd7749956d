/** Links to the screens that one team links to and another serves. */
export const paths = {
  explore: () => '/explore',
  story: (id: string) => `/story/${encodeURIComponent(id)}`,
  /** The story's screen with its chat open; `line` (from 1) fills in that opening line. */
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

/** Patterns of the host's own screens; no remote may claim them. */
export const hostRoutePaths = {
  root: '/',
  test: '/test/list',
  emailVerify: '/email/verify/:id/:hash',
  /** `?token=…&email=…`: query strings are not logged */
  passwordReset: '/reset-password',
} as const;

/** First segments that the server answers or passes to the backend; no screen may use them. */
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

/** First segments of the backend: calls, CSRF cookie, channel authorisation, socket. */
export const backendSegments = ['api', 'sanctum', 'broadcasting', 'app'] as const;

export const API_BASE = '/api';

/** API calls below `API_BASE`: the specification's and the product's own. */
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
  /** `DELETE` ends all sessions except the present one */
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
  /** `query` is the link's query string, with its leading question mark. */
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
  /** Lists the product's own calls that a server has; optional. */
  capabilities: '/v1/capabilities',
  wechatSignature: '/v1/wechat/signature',
  /** Static list of avatars to choose from; optional. */
  avatars: '/media/avatars.json',
} as const;

/** Patterns of the calls below `API_BASE`, to name a call without its ids. */
export const apiRoutes = (): { path: string }[] =>
  Object.values(endpoints).map((endpoint: string | ((...ids: string[]) => string)) => ({
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
 * Returns how closely a pattern fits a path: one digit per segment, comparable as text. Literal 3, parameter 2, `*` 1, common end
 * 2. Null if it does not fit.
 */
function matchScore([first, ...rest]: readonly string[], path: readonly string[]): string | null {
  if (first === '*') return '1';
  const [head, ...tail] = path;
  if (first === undefined) return head === undefined ? '2' : null;
  const isParameter = first.startsWith(':');
  const restScore = head !== undefined && (isParameter || first === head) ? matchScore(rest, tail) : null;
  if (restScore !== null) return (isParameter ? '2' : '3') + restScore;
  return first.endsWith('?') ? matchScore(rest, path) : null;
}

/**
 * Returns the route that fits a pathname most closely, or undefined. The leftmost segments decide: `/gifts/new` precedes
 * `/gifts/:id`, and both precede `/gifts/*`. Server and page share this rule.
 */
export function matchRoute<Route extends { path: string }>(
  routes: readonly Route[],
  pathname: string,
): Route | undefined {
  const path = segmentsOf(pathname);
  let [bestRoute, bestScore]: [Route | undefined, string] = [undefined, ''];
  for (const route of routes) {
    const score = matchScore(segmentsOf(route.path), path) ?? '';
    if (score > bestScore) [bestRoute, bestScore] = [route, score];
  }
  return bestRoute;
}

/** Keys of all data stored on the device. Formats may only be extended: an older build may read what a newer one wrote. */
export const STORAGE_KEYS = {
  user: 'user-store',
  /** id of the last user who signed in and has not logged out */
  owner: 'liaozhai-owner',
  /** login name of that user */
  login: 'liaozhai-login',
  /** the server has reported that nobody is signed in, and nobody has signed in since */
  guest: 'liaozhai-guest',
  preferences: 'liaozhai-preferences',
  draft: 'liaozhai-draft',
  positions: 'liaozhai-positions',
  /** the user's latest stories; the loader reserves their space in the page */
  recent: 'liaozhai-recent',
  /** builds that failed on this device → time of the failure; avoided for ten minutes */
  quarantine: 'liaozhai-quarantine',
  /** builds that ran on this device, to know whether a measurement is from a warm cache */
  ranBuilds: 'liaozhai-ran-builds',
  /** the server's capabilities in its last response */
  capabilities: 'liaozhai-capabilities',
  /** the account that this browser registered and whose address is not confirmed yet */
  confirming: 'liaozhai-confirming',
  /** sessionStorage: credentials that the clipboard refused */
  uncopied: 'liaozhai-uncopied',
  /** sessionStorage: invite code of the visitor's link */
  invite: 'liaozhai-invite',
  /** sessionStorage: idempotency keys of orders that may be open, by package */
  orders: 'liaozhai-orders',
  /** sessionStorage: path and history index for the document that a navigation loads */
  arrival: 'liaozhai-arrival',
  /** sessionStorage: scroll positions of screens */
  scroll: 'liaozhai-scroll',
  /** sessionStorage: goal and time of the last reload for an update */
  update: 'liaozhai-update',
  /** IndexedDB */
  database: 'liaozhai',
  /** unsent messages, by owner and key; IndexedDB has a copy */
  outbox: 'liaozhai-unsent',
  /** ms since 1970: date of the newest message written on this device */
  lastMessage: 'liaozhai-last-message',
  /** BroadcastChannel between tabs */
  outboxChannel: 'liaozhai-outbox',
} as const;

/** Ids of the page's data elements. `host/src/page.html` repeats them, since it cannot import. */
export const PAGE_ELEMENTS = {
  set: 'liaozhai-set',
  config: 'liaozhai-config',
  first: 'liaozhai-first',
} as const;
