import type { Catalog } from '../builds/catalog.ts';
import type { Evidence } from '../model/action.ts';
import type { Person } from '../model/agenda.ts';
import type { ChannelDocument } from '../model/channel.ts';
import type { SigningKey } from '../model/signing.ts';
import type { Store } from '../store/store.ts';
import type { Decision } from './changeChannel.ts';

/** Clocks that are right are no further apart. */
export const CLOCK_TOLERANCE = 5 * 60_000;

/** Who changes which channel with what. */
export interface Writer {
  store: Store;
  catalog: Catalog;
  key: SigningKey;
  channel: string;
  who: string;
  now: () => Date;
  /** Throws forbidden where the writer's right does not reach; asked again for every state the change is tried on. */
  permit?: (current: ChannelDocument) => void;
  /** Who that is; left out on a store itself, where nobody can tell but by what `who` says. */
  actor?: Actor;
  /** Where two persons decide: what the second one says. Without it nothing goes forward. */
  second?: SecondWord;
}

/** What anybody who changes a channel may say. */
export interface ChangeOptions {
  /** Kept in the audit. */
  why?: string;
  /** The state the caller saw; another writer's change since then is a conflict. */
  seq?: number;
}

/** Somebody who asks a console, as far as it decides what they may. */
export interface Actor {
  person: Person;
  /** The token they came with. */
  token: string | null;
  isManager: boolean;
}

/**
 * A second person's decision on a change that goes forward, requested for every state it is tried on: its text in the log, or null where
 * the change must not be written. Throws refused.
 */
export type SecondWord = (
  current: ChannelDocument,
  decided: Pick<Decision, 'state' | 'action'>,
) => Promise<Evidence[] | null>;

/** The writer's own time, or the store's where the two are further apart than clocks that are right. */
export async function timeOf({ store, now }: Pick<Writer, 'store' | 'now'>): Promise<Date> {
  const [own, stores] = [now(), await store.time()];
  return Math.abs(own.getTime() - stores.getTime()) <= CLOCK_TOLERANCE ? own : stores;
}
