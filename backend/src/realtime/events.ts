import { presentMessage } from '../chat/message.ts';
import { query } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import { codePoints } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findUser, presentUser } from '../users/user.ts';

export const userChannel = (userId: string): string => `private-App.Models.User.${userId}`;

/** Bytes of a payload as PHP's `json_encode` writes it: each UTF-16 unit beyond ASCII takes six, a slash two. */
export function phpBytes(payload: unknown): number {
  const json = JSON.stringify(payload);
  let bytes = json.length;
  for (const unit of json) if (unit > '\u007f') bytes += unit.length * 5;
  return bytes + (json.match(/\//g)?.length ?? 0);
}

/** Tells all of a user's sockets, once the surrounding transaction is on disk. */
export function tell({ db, hub }: Services, userId: string, event: string, data: object): void {
  db.afterCommit(() => hub.broadcast(userChannel(userId), event, data));
}

type MessageEvent = 'message.created' | 'message.completed' | 'message.failed';

/** The whole message; one too long for a frame travels without its body, which the client then fetches by version. */
export function announceMessage(services: Services, event: MessageEvent, row: MessageRow): void {
  const message = presentMessage(row);
  const head = { conversation_id: row.conversation_id, version: row.version };
  const full = { ...head, message };
  if (phpBytes(full) <= rules.eventBytes) {
    tell(services, row.user_id, event, full);
  } else {
    const { body, ...short } = message;
    const cut = { ...short, body_length: codePoints(body) };
    tell(services, row.user_id, event, { ...head, message: cut, truncated: true });
  }
}

export function announceBalance(services: Services, userId: string): void {
  services.db.afterCommit(() => {
    const user = services.db.first(query.selectFrom('users').select(['balance', 'version']).where('id', '=', userId));
    if (user) tell(services, userId, 'balance.updated', user);
  });
}

/** The whole user; a persona too long for a frame stays out of it, and what clients know of it stays as it is. */
export function announceUser(services: Services, userId: string): void {
  services.db.afterCommit(() => {
    const user = presentUser(findUser(services, userId), services.clock());
    const full = { user, version: user.version };
    const { persona, ...short } = user;
    tell(services, userId, 'user.updated', phpBytes(full) <= rules.eventBytes ? full : { ...full, user: short });
  });
}
