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

/** The body of a call. */
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

function typeOf(action: ReadAction, who: string): EventType | null {
  switch (action.kind) {
    case 'activate':
    case 'promote':
      return 'switched';
    case 'canary':
      return 'ramp';
    case 'alarm':
      return 'alarm';
    case 'abort':
      return who === 'auto-stop' ? 'stopped' : 'rolledBack';
    case 'rollback':
    case 'withdraw':
      return 'rolledBack';
    case 'kill': {
      const wasInUse = action.evidence.some(({ kind }) => kind === 'replaced' || kind === 'candidateEnded');
      return wasInUse ? 'rolledBack' : 'killed';
    }
    case 'schedule': {
      const isWaiting = action.evidence.some(
        (each) => each.kind === 'schedule' && ['waits', 'refused', 'revoked'].includes(each.change),
      );
      return isWaiting ? 'scheduleWaiting' : null;
    }
    case 'proposal': {
      const [proposal] = action.evidence.filter((each) => each.kind === 'proposal');
      return proposal ? PROPOSAL_EVENTS[proposal.change] : null;
    }
    default:
      return null;
  }
}

/** A proposal withdrawn by its proposer concerns nobody else. */
const PROPOSAL_EVENTS = {
  proposed: 'proposed',
  approved: 'approved',
  rejected: 'rejected',
  withdrawn: null,
  expired: 'expired',
  interrupted: 'rejected',
} as const;

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
