import { refused, usage } from '../errors.ts';
import type { Store } from '../store/store.ts';

const MIB = 1024 * 1024;
/** What even an empty file takes on a disk. */
const BLOCK = 4096;
/** How long a count of what is stored is believed. */
const COUNTED_MILLISECONDS = 10 * 60_000;

/** How much publishing may take, in bytes. */
export interface QuotaLimits {
  /** Left free on the store's disk: switching and rolling back write there too. */
  reserve: number;
  /** Of one remote, with everything of it that is stored, by whoever publishes through a console. */
  remote: number;
  /** Of all remotes together, likewise. */
  total: number;
}

function mebibytes(environment: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = environment[name] ?? String(otherwise);
  if (/^\d{1,9}$/.test(text)) return Number(text) * MIB;
  throw usage(`${name} is "${text}"`, 'Use a whole number of MiB.');
}

/** The limits of RELEASES_RESERVE, RELEASES_QUOTA and RELEASES_TOTAL, in MiB. Throws usage. */
export const limitsFrom = (environment: NodeJS.ProcessEnv = process.env): QuotaLimits => ({
  reserve: mebibytes(environment, 'RELEASES_RESERVE', 64),
  remote: mebibytes(environment, 'RELEASES_QUOTA', 1024),
  total: mebibytes(environment, 'RELEASES_TOTAL', 10_240),
});

const onDisk = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK)) * BLOCK;
const inMib = (bytes: number): string => `${Math.floor(bytes / MIB)} MiB`;

const FREE = 'Remove what nothing needs with `pnpm release gc`';

/** Throws refused if writing so many bytes would leave less than the reserve. */
export async function assertReserve(store: Store, bytes: number, reserve: number): Promise<void> {
  const room = await store.room();
  if (room === null || room - bytes >= reserve) return;
  throw refused(
    `${store.label} would have less than ${inMib(reserve)} left, which are kept for switching and rolling back`,
    `${FREE}, or make the disk larger. Switching and rolling back go on meanwhile.`,
  );
}

/** Keeps whoever publishes through a console from filling the store: each remote and all together have a bound, the disk a reserve. */
export class Quota {
  readonly #store: Store;
  readonly #limits: QuotaLimits;
  readonly #counted = new Map<string, { bytes: Promise<number>; at: number }>();
  /** Of writes under way, which no count has seen yet. */
  #underWay = 0;

  constructor(store: Store, limits: QuotaLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Writes `bytes` of a remote if there is room for them; `write` says whether they were new. Throws refused. */
  async hold(name: string, bytes: number, write: () => Promise<boolean>): Promise<void> {
    const needed = onDisk(bytes);
    this.#underWay += needed;
    try {
      // counted before, so that the room of writes under way is not given twice
      await this.#assertRoom(name);
      if (await write()) this.#add(name, needed);
    } finally {
      this.#underWay -= needed;
    }
  }

  /** Counts anew, after something was removed. */
  forget(): void {
    this.#counted.clear();
  }

  async #assertRoom(name: string): Promise<void> {
    const { reserve, remote, total } = this.#limits;
    await assertReserve(this.#store, this.#underWay, reserve);
    if ((await this.#bytesOf(name)) + this.#underWay > remote)
      throw refused(`${name} has used up its ${inMib(remote)}`, `${FREE}, or raise RELEASES_QUOTA of the console.`);
    const names = (await this.#store.children('builds/')).map((folder) => folder.replace(/\/$/, ''));
    let all = this.#underWay;
    for (const each of new Set([...names, name])) all += await this.#bytesOf(each);
    if (all > total)
      throw refused(
        `all remotes together have used up their ${inMib(total)}`,
        `${FREE}, or raise RELEASES_TOTAL of the console.`,
      );
  }

  #bytesOf(name: string): Promise<number> {
    const known = this.#counted.get(name);
    if (known && performance.now() - known.at < COUNTED_MILLISECONDS) return known.bytes;
    const count = async () =>
      (await this.#store.entries(`builds/${name}/`)).reduce((sum, { bytes }) => sum + onDisk(bytes), 0);
    const bytes = count();
    this.#counted.set(name, { bytes, at: performance.now() });
    bytes.catch(() => this.#counted.delete(name));
    return bytes;
  }

  #add(name: string, bytes: number): void {
    const known = this.#counted.get(name);
    if (known) this.#counted.set(name, { ...known, bytes: known.bytes.then((counted) => counted + bytes) });
  }
}
