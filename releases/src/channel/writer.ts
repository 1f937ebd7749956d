import type { Catalog } from '../builds/catalog.ts';
import type { Evidence } from '../model/action.ts';
import type { Person } from '../model/agenda.ts';
import type { ChannelDocument } from '../model/channel.ts';
import type { SigningKey } from '../model/signing.ts';
import type { Store } from '../store/store.ts';
import type { Decided } from './changeChannel.ts';

/** Largest difference between correct clocks, in ms. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

export interface Reader {
  store: Store;
  channel: string;
  key: Pick<SigningKey, 'publicKey'>;
}

export interface Writer extends Reader {
  catalog: Catalog;
  key: SigningKey;
  who: string;
  now: () => Date;
  /** Throws forbidden if the writer lacks permission. Called for every state that the change is tried on. */
  permit?: (current: ChannelDocument) => void;
  /** Verified identity of the writer. Absent when working directly on a store, where only `who` is known. */
  actor?: Actor;
  /**
   * A second person's decision under the approval rule, called for every state that a forward change is tried on. Returns evidence for the
   * log, or null if the change must not be written. Throws refused. Without it, forward changes are refused.
   */
  second?: (current: ChannelDocument, decided: Pick<Decided, 'state' | 'action'>) => Promise<Evidence[] | null>;
}

export interface ChangeOptions {
  /** Recorded in the audit. */
  why?: string;
  /** The state the caller saw; another writer's change since then is a conflict. */
  seq?: number;
}

/** Identity of a console's caller, as far as permissions depend on it. */
export interface Actor {
  person: Person;
  /** Id of the token; null for a person who signed in. */
  token: string | null;
  isManager: boolean;
}

/** Returns the writer's own time, or the store's if they differ by more than `CLOCK_TOLERANCE_MS`. */
export async function timeOf({ store, now }: Pick<Writer, 'store' | 'now'>): Promise<Date> {
  const [writerTime, storeTime] = [now(), await store.time()];
  return Math.abs(writerTime.getTime() - storeTime.getTime()) <= CLOCK_TOLERANCE_MS ? writerTime : storeTime;
}
