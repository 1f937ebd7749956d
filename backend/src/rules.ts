/** The product's limits and times. What is paid and given stands in `prices.ts`. */
export const rules = {
  /** Lines that a story offers for the first message. */
  openingLines: 3,
  maxRewardedInvites: 20,
  orderMinutes: 30,
  /** Orders of one user that can still be paid. */
  openOrders: 10,
  /** How old, or ahead of time, a webhook's signature may be. */
  webhookToleranceSeconds: 300,
  /** 未成年人模式: no use between these hours in Shanghai, so many minutes of the day, and what a guardian adds by the PIN. */
  minorMode: {
    from: 22,
    to: 6,
    minutesADay: 40,
    extensionMinutes: 30,
    /** a longer gap between two signs of use does not count as use */
    idleSeconds: 120,
    pinTries: 5,
    pinPauseMinutes: 15,
    /** between asking for a reset by the account's password and its taking effect */
    resetHours: 24,
  },
  ticketCharacters: 1_000,
  contactCharacters: 100,
  diagnosticsCharacters: 4_000,
  ticketsPerDay: 20,
  messageCharacters: 2_000,
  replyCharacters: 6_000,
  /** A reply with less room left cannot go on. */
  continuationCharacters: 200,
  personaCharacters: 1_000,
  nameCharacters: 20,
  passwordCharacters: { min: 6, max: 128 },
  pageSize: 20,
  pinnedConversations: 20,
  searchCharacters: 60,
  /** How many of the most read stories are told apart by their readers; the others follow by age. */
  hotStories: 1_000,
  foundMessages: 500,
  reportCharacters: 500,
  latestLimit: { fallback: 50, max: 100 },
  suggestionLifetimeSeconds: 600,
  sessionLifetimeDays: 30,
  deviceLifetimeDays: 365,
  verificationLinkHours: 24,
  resetLinkMinutes: 60,
  deletionDays: 7,
  idempotencyHours: 24,
  deltaIntervalMs: 200,
  /** Of the 10,000 that Reverb takes as a whole request; the rest is for the address and the headers. */
  eventBytes: 9_400,
  frameBytes: 10_000,
  bodyBytes: 64 * 1024,
} as const;
