import type { OutboxEntry } from './recordStore';

/** An unsent message whose text is its id. */
export const outboxEntry = (clientId: string, createdAt = 1): OutboxEntry => ({
  clientId,
  storyId: 's-1',
  conversationId: null,
  body: clientId,
  createdAt,
  state: 'waiting',
});
