import { idEventSchema, type MessageEventDto, messageEventSchema } from '@liaozhai/shared/contract';
import { isApiError, listen, onCaughtUpNeeded } from '@liaozhai/shared/runtime';
import { type ConversationPage, withLastMessage } from '../model';

interface Ports {
  /** undefined until the first page is there. */
  read: () => ConversationPage[] | undefined;
  change: (change: (pages: ConversationPage[]) => ConversationPage[]) => void;
  /** Takes a conversation away that was deleted, here or elsewhere. */
  drop: (id: string) => void;
  /** Puts the newest page over the list; rejects with ApiError. */
  takeNewest: () => Promise<void>;
}

/** The first catch-up comes with the first connection, moments after the list itself. */
const FRESH_SECONDS = 5;

/** Keeps the list of conversations in step with the user's channel. Returns the function that stops it. */
export function followConversations({ read, change, drop, takeNewest }: Ports): () => void {
  let askedAt = Date.now();

  const look = async () => {
    askedAt = Date.now();
    try {
      await takeNewest();
    } catch (cause) {
      // nobody asked for this look, and the next event or connection makes another
      if (!isApiError(cause)) throw cause;
    }
  };
  const hear = (event: MessageEventDto) => {
    const pages = read();
    if (!pages) return;
    if (withLastMessage(pages, event)) change((now) => withLastMessage(now, event) ?? now);
    else void look();
  };
  const stops = [
    listen('message.created', messageEventSchema, hear),
    listen('message.completed', messageEventSchema, hear),
    listen('message.failed', messageEventSchema, hear),
    listen('conversation.deleted', idEventSchema, (event) => drop(String(event.id))),
    onCaughtUpNeeded(() => {
      if (read() && Date.now() - askedAt > FRESH_SECONDS * 1000) void look();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
