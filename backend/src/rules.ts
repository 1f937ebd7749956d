/** The product's limits and times. Prices and rewards are in `prices.ts`. */
export const rules = {
  /** Number of lines that a story offers for the first message. */
  openingLines: 3,
  maxRewardedInvites: 20,
  orderMinutes: 30,
  /** Maximum number of unpaid orders per user. */
  openOrders: 10,
  /** Maximum difference between the times of a webhook's signature and of this server. */
  webhookToleranceSeconds: 300,
  /** 未成年人模式: no use from `from` to `to` o'clock in Shanghai. A guardian's PIN adds `extensionMinutes`. */
  minorMode: {
    from: 22,
    to: 6,
    minutesADay: 40,
    extensionMinutes: 30,
    /** a longer gap between two calls does not count as use */
    idleSeconds: 120,
    pinTries: 5,
    pinPauseMinutes: 15,
    /** delay of a reset that was requested with the account's password */
    resetHours: 24,
  },
  ticketCharacters: 1_000,
  contactCharacters: 100,
  diagnosticsCharacters: 4_000,
  ticketsPerDay: 20,
  messageCharacters: 2_000,
  replyCharacters: 6_000,
  /** Minimum room in a reply for a continuation. */
  continuationCharacters: 200,
  personaCharacters: 1_000,
  nameCharacters: 20,
  passwordCharacters: { min: 6, max: 128 },
  pageSize: 20,
  pinnedConversations: 20,
  searchCharacters: 60,
  /** Number of most read stories that are sorted by their conversations. The others follow by age. */
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
  /** Reverb accepts requests of up to 10,000 bytes; the rest is for the URL and the headers. */
  eventBytes: 9_400,
  frameBytes: 10_000,
  bodyBytes: 64 * 1024,
} as const;
