import type { BuildRecord, HostRecord, RemoteRecord } from '../model/build.ts';
import type { SetBody } from '../model/set.ts';
import type { Store } from '../store/store.ts';

/** A set about to go live, and everything it takes to judge it. */
export interface GateSubject {
  store: Store;
  set: SetBody;
  hash: string;
  host: HostRecord;
  remotes: RemoteRecord[];
  /** The builds that this change brings in. */
  changed: BuildRecord[];
  /** Builds that may meet the set's builds on one page or follow them in one browser: last good and now live. */
  neighbours: BuildRecord[];
}

/** One rule of the gate. */
export interface GateCheck {
  name: string;
  /** One line per problem, each naming the build and the cure; empty = passed. */
  run(subject: GateSubject): Promise<string[]>;
}

export const isChanged = (subject: GateSubject, record: BuildRecord): boolean =>
  subject.changed.some(({ id }) => id === record.id);
