/** Every key under which something is stored on the device. Formats only grow, so a rolled-back build can read them. */
export const STORAGE_KEYS = {
  user: 'user-store',
  preferences: 'liaozhai-preferences',
  drafts: 'liaozhai-drafts',
  positions: 'liaozhai-positions',
  lastOwner: 'liaozhai-owner',
} as const;

export const DATABASE = 'liaozhai';
