/** Names of everything kept on the device. Formats only grow: an older build may read what a newer one wrote. */
export const STORAGE_KEYS = {
  user: 'user-store',
  /** id of who signed in here last and has not logged out */
  owner: 'liaozhai-owner',
  preferences: 'liaozhai-preferences',
  draft: 'liaozhai-draft',
  positions: 'liaozhai-positions',
  /** sessionStorage: credentials that the clipboard refused */
  uncopied: 'liaozhai-uncopied',
  /** IndexedDB */
  database: 'liaozhai',
  /** BroadcastChannel between tabs */
  outboxChannel: 'liaozhai-outbox',
} as const;
