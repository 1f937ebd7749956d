/** Names of everything kept on the device. Formats only grow: an older build may read what a newer one wrote. */
export const STORAGE_KEYS = {
  user: 'user-store',
  /** id of who signed in here last and has not logged out */
  owner: 'liaozhai-owner',
  /** the name that this owner signs in with */
  login: 'liaozhai-login',
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
