import { isoTime } from '../clock.ts';
import type { MessageRow } from '../db/schema.ts';

export const isRunning = (row: Pick<MessageRow, 'status'>): boolean =>
  row.status === 'pending' || row.status === 'streaming';

/** Returns an error in the shape of the API; null without an error. */
export const presentError = (row: { error_code: string | null; error_message: string | null }) =>
  row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' };

export function presentMessage(row: MessageRow) {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    story_id: row.story_id,
    seq: row.seq,
    version: row.version,
    revision: row.revision,
    client_id: row.client_id,
    role: row.role,
    body: row.body,
    status: row.status,
    error: presentError(row),
    cost: row.cost,
    variant: row.variant,
    variants: row.variants,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
