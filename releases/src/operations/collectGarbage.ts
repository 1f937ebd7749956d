import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '@liaozhai/shared/contract';
import { type Claim, claimedBy, claimKey, publishedIds, readClaim } from '../builds/catalog.ts';
import { mapsFolder } from '../builds/sourceMaps.ts';
import { readAgenda } from '../channel/changeAgenda.ts';
import { history, requireChannel } from '../channel/readChannel.ts';
import { refused } from '../errors.ts';
import { buildFolder, buildIdParts, idOfFolder, parseBuildId } from '../model/build.ts';
import { namedIn } from '../model/channel.ts';
import { canonicalJson } from '../model/signing.ts';
import type { Store } from '../store/store.ts';
import { readOverride } from './override.ts';

const YOUNGEST_DAYS = 7;
const AUDIT_DAYS = 30;
const AUDIT_STATES = 20;

export interface GarbageOptions {
  dryRun: boolean;
  /** Pause before the second check, in which running switches finish. */
  graceMilliseconds?: number;
  now?: () => Date;
  /** Aborts the collection while it waits; nothing is removed then. */
  signal?: AbortSignal;
}

export interface Garbage {
  removed: string[];
  kept: number;
}

async function reachableFrom(store: Store, channel: string, publicKey: string, now: Date): Promise<string[]> {
  const { document } = await requireChannel(store, channel, publicKey);
  const reachable = namedIn(document);
  let states = 0;
  for await (const state of history(store, document, publicKey)) {
    states += 1;
    if (states > AUDIT_STATES && now.getTime() - Date.parse(state.action.at) > AUDIT_DAYS * DAY_MS) break;
    reachable.push(...namedIn(state));
  }
  const { schedules } = await readAgenda(store, channel, publicKey);
  reachable.push(...schedules.flatMap(({ builds }) => builds));
  for (const file of await store.children(`overrides/${channel}/`)) {
    const override = await readOverride(store, channel, file.replace(/\.json$/, ''), publicKey, now);
    reachable.push(...(override?.builds ?? []));
  }
  return reachable;
}

async function reachable(store: Store, publicKey: string, now: Date): Promise<Set<string>> {
  const channels = (await store.children('channels/')).map((file) => file.replace(/\.json$/, ''));
  const lists = await Promise.all(channels.map((channel) => reachableFrom(store, channel, publicKey, now)));
  return new Set(lists.flat());
}

async function removeBuild(store: Store, id: string): Promise<void> {
  const folder = buildFolder(id);
  for (const prefix of [folder, mapsFolder(folder)])
    for (const key of await store.list(`${prefix}/`)) await store.remove(key);
}

/**
 * Removes builds older than seven days that are unreachable: not live, last good, candidate, scheduled, in an override or in the audit.
 * The audit counts for 30 days, and at least 20 states. Withdraws the version, then checks again before it removes files, so that a
 * running switch never loses a build.
 */
export async function collectGarbage(store: Store, publicKey: string, options: GarbageOptions): Promise<Garbage> {
  const now = (options.now ?? (() => new Date()))();
  const ids = await publishedIds(store);
  const needed = await reachable(store, publicKey, now);
  const old: Claim[] = [];
  for (const id of ids.filter((known) => !needed.has(known))) {
    const { name, version } = buildIdParts(id);
    const claim = await readClaim(store, name, version);
    if (claim && now.getTime() - Date.parse(claim.at) >= YOUNGEST_DAYS * DAY_MS) old.push(claim);
  }
  if (options.dryRun || old.length === 0) return { removed: old.map(({ id }) => id), kept: ids.length - old.length };
  return withdraw(store, publicKey, old, options, ids.length);
}

/** An upload without a new file for this long counts as abandoned. */
const UNCLAIMED_HOURS = 24;
const TEMPORARY_HOURS = 1;

export interface SweepOptions {
  dryRun?: boolean;
  unclaimedHours?: number;
}

export interface Swept {
  /** Folders of uploads that never became a build. */
  uploads: string[];
  bytes: number;
  /** Number of files left by interrupted writes. */
  temporary: number;
}

/** Lists folders below `builds/` that no version claims. Reads a claim only if two folders have the same version. */
async function unclaimedFolders(store: Store): Promise<string[]> {
  const unclaimed: string[] = [];
  for (const name of (await store.children('builds/')).map((folder) => folder.replace(/\/$/, ''))) {
    const claimed = new Set((await store.children(`versions/${name}/`)).map((file) => file.replace(/\.json$/, '')));
    const folders = (await store.children(`builds/${name}/`)).map((folder) => folder.replace(/\/$/, ''));
    const versions = folders.map((folder) => parseBuildId(idOfFolder(name, folder) ?? '')?.version ?? '');
    for (const [at, folder] of folders.entries()) {
      const version = versions[at] ?? '';
      const alone = versions.filter((other) => other === version).length === 1;
      if (claimed.has(version) && (alone || (await isClaimed(store, name, folder)))) continue;
      unclaimed.push(`builds/${name}/${folder}/`);
    }
  }
  return unclaimed;
}

async function isClaimed(store: Store, name: string, folder: string): Promise<boolean> {
  const id = idOfFolder(name, folder);
  return id !== null && (await claimedBy(store, name, buildIdParts(id).version)) === id;
}

/**
 * Removes abandoned uploads and remains of interrupted writes. Needs no free space. An upload that is swept while it runs is refused as
 * incomplete and sent again.
 */
export async function sweepUploads(store: Store, options: SweepOptions = {}): Promise<Swept> {
  const { dryRun = false, unclaimedHours = UNCLAIMED_HOURS } = options;
  const now = (await store.time()).getTime();
  const swept: Swept = { uploads: [], bytes: 0, temporary: 0 };
  for (const prefix of await unclaimedFolders(store)) {
    const maps = `${mapsFolder(prefix.slice(0, -1))}/`;
    const entries = [...(await store.entries(prefix)), ...(await store.entries(maps))];
    if (entries.length === 0 || entries.some(({ at }) => now - at.getTime() < unclaimedHours * HOUR_MS)) continue;
    const [, name = '', folder = ''] = prefix.split('/');
    swept.uploads.push(prefix.slice(0, -1));
    for (const { key, bytes } of entries) {
      // it may have become a build since the listing
      if (await isClaimed(store, name, folder)) break;
      swept.bytes += bytes;
      if (!dryRun) await store.remove(key);
    }
  }
  if (!dryRun) swept.temporary = await store.sweep(new Date(now - TEMPORARY_HOURS * HOUR_MS));
  return swept;
}

const keyOf = ({ id }: Claim): string => claimKey(buildIdParts(id).name, buildIdParts(id).version);

/** Withdraws versions and removes builds that are still unreachable after the pause. The others get their version back. */
async function withdraw(
  store: Store,
  publicKey: string,
  old: readonly Claim[],
  { graceMilliseconds = 15_000, now = () => new Date(), signal }: GarbageOptions,
  total: number,
): Promise<Garbage> {
  const withdrawn = new Set(old);
  const removed: string[] = [];
  try {
    for (const claim of old) await store.remove(keyOf(claim));
    await pause(graceMilliseconds, undefined, { signal }).catch(() => {
      throw refused('garbage collection was ended before it removed anything', 'Run it again.');
    });
    const needed = await reachable(store, publicKey, now());
    for (const claim of old) {
      if (needed.has(claim.id) || (await store.read(keyOf(claim)))) continue;
      withdrawn.delete(claim);
      await removeBuild(store, claim.id);
      removed.push(claim.id);
    }
  } finally {
    for (const claim of withdrawn) await store.create(keyOf(claim), canonicalJson(claim));
  }
  return { removed, kept: total - removed.length };
}
