import type { ShownToast } from '@liaozhai/shared/ui';
import type { AgendaView, ApiFailure, ChannelView, Comparison, Health, LogEntry, Preview, Sharing, Typed } from './api';
import type { NamedPackage } from './labels';

/** What the page shows besides the health figures, as last seen. */
export interface SeenState {
  status: ChannelView;
  log: LogEntry[];
  names: NamedPackage[];
  /** Null where it cannot be read: a build of the set is damaged. */
  sharing: Sharing | null;
  /** Names with nothing to go back to, '' of the whole, where the log does not show it. */
  deadEnds: readonly string[];
  /** When it was seen, by this device. */
  at: Date;
  /** Milliseconds that the console is ahead of this device, whose clock may be wrong. */
  ahead: number;
}

/** The state a decision is based on, taken before the dialog opens: the page is refreshed behind it. */
export interface Decided {
  channel: string;
  seq: number;
}

export interface Wanted {
  title: string;
  /** The label of the button that agrees. */
  action: string;
  /** What will be different afterwards, one line each. */
  changes: readonly string[];
  danger?: boolean;
  /** Has to be typed before it is agreed to: there is no way back. */
  typed?: string;
  /** Needs a reason: it is shown to everybody whom this refuses. */
  founded?: boolean;
  /** A way back, though its verb may go forward as well. */
  back?: boolean;
  /** A way that can be undone, offered before. */
  gentler?: Cure;
}

/** What to do about a refusal. */
export interface Cure {
  label: string;
  choose: () => void;
}

/** A change that waits for confirmation. */
interface Question extends Wanted {
  verb: string;
  body: object;
  decided: Decided;
  /** Agreed to; the request is under way. */
  busy: boolean;
  /** Why the channel is frozen, where this goes forward. */
  frozen: AgendaView['frozen'];
  /** Two persons decide: it becomes a proposal. */
  waits: boolean;
  /** What was typed when the same was asked and failed. */
  kept: Typed | null;
}

/** Verbs that a freeze window refuses. */
export const FORWARD: readonly string[] = ['activate', 'canary', 'promote', 'schedule'];

/** Verbs of a second person. They refer to the proposal that the person saw, so other entries of the log do not matter. */
export const WORDS: readonly string[] = ['approve', 'reject', 'retract'];

export interface ConsoleState {
  channel: string;
  /** Null while nothing of the channel is known. */
  seen: SeenState | null;
  /** Who may run remotes from a dev server now. */
  previews: readonly Preview[];
  health: Health | null;
  /** When the page last asked the server; relative times are computed from it. */
  now: Date;
  /** Why the state could not be read at the last look: what is shown may be outdated. */
  stale: ApiFailure | null;
  /** The token is no longer valid. */
  refused: boolean;
  /** Name of the control whose request is under way; no other starts meanwhile. */
  running: string | null;
  question: Question | null;
  /** Two builds of one name beside each other; `found` is null where nothing differs. */
  comparison: { name: string; from: string; to: string; found: Comparison | null } | null;
  /** How something went, with lines to read, and what is to be taken along by a button. */
  notice: { title: string; lines: readonly string[]; copy?: string; cures?: readonly Cure[] } | null;
  toast: ShownToast | null;
}
