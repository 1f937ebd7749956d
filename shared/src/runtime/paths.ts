/** Every address that one team links to and another serves. */
export const paths = {
  explore: () => '/explore',
  story: (id: string) => `/story/${encodeURIComponent(id)}`,
  /** the story's screen with its chat open */
  storyChat: (id: string) => `/story/${encodeURIComponent(id)}?chat=1`,
  conversations: () => '/conversations',
  my: () => '/my',
  profile: () => '/my/profile',
  support: () => '/my/support',
  transactions: () => '/my/wallet/transactions',
  recharge: () => '/my/wallet/recharge',
  testList: () => '/test/list',
} as const;
