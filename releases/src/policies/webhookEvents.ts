import { actionLine, evidenceLines } from '../english.ts';
import { type ReadAction, readAction } from '../model/action.ts';
import type { ChannelDocument } from '../model/channel.ts';
import type { WebhookRules } from './webhookAddress.ts';

export type EventType =
  | 'switched'
  | 'ramp'
  | 'alarm'
  | 'stopped'
  | 'rolledBack'
  | 'killed'
  | 'scheduleWaiting'
  | 'proposed'
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'test';

export interface WebhookEvent {
  /** Equal for every attempt, so that receivers can drop duplicates. */
  id: string;
  type: EventType;
  channel: string;
  seq: number;
  at: string;
  who: string;
  why: string;
  builds: string[];
  /** Share of visitors of a `ramp`; null for other types. */
  percent: number | null;
  /** Summary for people; its last line is `console`, if set. */
  text: string;
  /** Address of the channel in the console; null if the console's address is not configured. */
  console: string | null;
}

/** Address of the page on which the recipient can act; null if the console's address is not configured. */
export const consoleOf = (channel: string, { console }: Pick<WebhookRules, 'console'>): string | null =>
  console ? new URL(`?channel=${encodeURIComponent(channel)}`, console).href : null;

const EVENTS: { [Kind in ReadAction['kind']]?: EventType } = {
  activate: 'switched',
  promote: 'switched',
  canary: 'ramp',
  alarm: 'alarm',
  abort: 'rolledBack',
  rollback: 'rolledBack',
  withdraw: 'rolledBack',
  kill: 'killed',
};

/** A proposal withdrawn by its proposer concerns nobody else. */
const PROPOSAL_EVENTS = {
  proposed: 'proposed',
  approved: 'approved',
  rejected: 'rejected',
  withdrawn: null,
  expired: 'expired',
  interrupted: 'rejected',
} as const;

function typeOf({ kind, evidence }: ReadAction, who: string): EventType | null {
  if (kind === 'abort' && who === 'auto-stop') return 'stopped';
  for (const each of evidence) {
    if (kind === 'kill' && (each.kind === 'replaced' || each.kind === 'candidateEnded')) return 'rolledBack';
    if (kind === 'schedule' && each.kind === 'schedule' && ['waits', 'refused', 'revoked'].includes(each.change))
      return 'scheduleWaiting';
    if (kind === 'proposal' && each.kind === 'proposal') return PROPOSAL_EVENTS[each.change];
  }
  return EVENTS[kind] ?? null;
}

/** Returns the event of a state; null if webhooks do not report it. */
export function eventOf(
  { channel, seq, action: storedAction }: Pick<ChannelDocument, 'channel' | 'seq' | 'action'>,
  rules: Pick<WebhookRules, 'console'> = {},
): WebhookEvent | null {
  const action = readAction(storedAction);
  const type = typeOf(action, storedAction.who);
  if (!type) return null;
  const { who, why, at } = storedAction;
  const console = consoleOf(channel, rules);
  const lines = [
    `${channel}: ${actionLine(storedAction)} (${who}${why ? `, "${why}"` : ''})`,
    ...evidenceLines(storedAction),
    ...(console ? [console] : []),
  ];
  return {
    id: `${channel}-${seq}`,
    type,
    channel,
    seq,
    at,
    who,
    why,
    builds: 'builds' in action ? action.builds : [],
    percent: action.kind === 'canary' ? action.percent : null,
    text: lines.join('\n'),
    console,
  };
}
