import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '@liaozhai/shared/contract';
import { type Claim, claimKey, isPublished, publishedIds, readClaim } from '../builds/catalog.ts';
import { mapsFolder } from '../builds/sourceMaps.ts';
import { readAgenda } from '../channel/changeAgenda.ts';
import { currentDocument, history, listChannels } from '../channel/readChannel.ts';
import { refused } from '../errors.ts';
import { buildFolder, buildIdParts, idOfFolder, parseBuildId } from '../model/build.ts';
import { reachableBuilds } from '../model/channel.ts';
import { canonicalJson } from '../model/signing.ts';
import { namesBelow, type Store } from '../store/store.ts';
import { readOverride } from './override.ts';

const MINIMUM_AGE_DAYS = 7;
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

async function findReachableFrom(store: Store, channel: string, publicKey: string, now: Date): Promise<string[]> {
  const reader = { store, channel, key: { publicKey } };
  const document = await currentDocument(reader);
  const reachableIds = reachableBuilds(document);
  let states = 0;
  for await (const state of history(reader, document)) {
    states += 1;
    if (states > AUDIT_STATES && now.getTime() - Date.parse(state.action.at) > AUDIT_DAYS * DAY_MS) break;
    reachableIds.push(...reachableBuilds(state));
  }
  const { schedules, proposals } = await readAgenda(reader);
  reachableIds.push(...[...schedules, ...proposals].flatMap(({ builds }) => builds));
  for (const id of await namesBelow(store, `overrides/${channel}/`)) {
    const override = await readOverride(store, channel, id, publicKey, now);
    reachableIds.push(...(override?.builds ?? []));
  }
  return reachableIds;
}

async function findReachable(store: Store, publicKey: string, now: Date): Promise<Set<string>> {
  const channels = await listChannels(store);
  const lists = await Promise.all(channels.map((channel) => findReachableFrom(store, channel, publicKey, now)));
  return new Set(lists.flat());
}

async function removeBuild(store: Store, id: string): Promise<void> {
  const folder = buildFolder(id);
  for (const prefix of [folder, mapsFolder(folder)])
    for (const key of await store.list(`${prefix}/`)) await store.remove(key);
}

const keyOf = ({ id }: Claim): string => claimKey(buildIdParts(id).name, buildIdParts(id).version);

/**
 * Removes builds older than seven days that are unreachable: not live, last good, candidate, planned, in an override or in the audit.
 * The audit counts for 30 days, and at least 20 states. Withdraws the version, then checks again before it removes files, so that a
 * running switch never loses a build.
 */
export async function collectGarbage(store: Store, publicKey: string, options: GarbageOptions) {
  const { dryRun, graceMilliseconds = 15_000, now: clock = () => new Date(), signal } = options;
  const now = clock();
  const ids = await publishedIds(store);
  const reachableIds = await findReachable(store, publicKey, now);
  const oldClaims: Claim[] = [];
  for (const id of ids.filter((known) => !reachableIds.has(known))) {
    const { name, version } = buildIdParts(id);
    const claim = await readClaim(store, name, version);
    if (claim && now.getTime() - Date.parse(claim.at) >= MINIMUM_AGE_DAYS * DAY_MS) oldClaims.push(claim);
  }
  if (dryRun || oldClaims.length === 0)
    return { removed: oldClaims.map(({ id }) => id), kept: ids.length - oldClaims.length };
  const withdrawnClaims = new Set(oldClaims);
  const removed: string[] = [];
  try {
    for (const claim of oldClaims) await store.remove(keyOf(claim));
    await pause(graceMilliseconds, undefined, { signal }).catch(() => {
      throw refused('garbage collection was ended before it removed anything', 'Run it again.');
    });
    const stillReachable = await findReachable(store, publicKey, clock());
    for (const claim of oldClaims) {
      if (stillReachable.has(claim.id) || (await store.read(keyOf(claim)))) continue;
      withdrawnClaims.delete(claim);
      await removeBuild(store, claim.id);
      removed.push(claim.id);
    }
  } finally {
    // the others get their version back
    for (const claim of withdrawnClaims) await store.create(keyOf(claim), canonicalJson(claim));
  }
  return { removed, kept: ids.length - removed.length };
}

/** An upload without a new file for this long counts as abandoned. */
const UNCLAIMED_HOURS = 24;
const TEMPORARY_HOURS = 1;

/** Lists folders below `builds/` that no version claims. Reads a claim only if two folders have the same version. */
async function unclaimedFolders(store: Store): Promise<string[]> {
  const unclaimed: string[] = [];
  for (const name of await namesBelow(store, 'builds/')) {
    const claimedVersions = new Set(await namesBelow(store, `versions/${name}/`));
    const folders = await namesBelow(store, `builds/${name}/`);
    const versions = folders.map((folder) => parseBuildId(idOfFolder(name, folder) ?? '')?.version ?? '');
    for (const [at, folder] of folders.entries()) {
      const version = versions[at] ?? '';
      const isAlone = versions.filter((other) => other === version).length === 1;
      if (claimedVersions.has(version) && (isAlone || (await isClaimed(store, name, folder)))) continue;
      unclaimed.push(`builds/${name}/${folder}/`);
    }
  }
  return unclaimed;
}

async function isClaimed(store: Store, name: string, folder: string): Promise<boolean> {
  const id = idOfFolder(name, folder);
  return id !== null && isPublished(store, id);
}

/**
 * Removes abandoned uploads and remains of interrupted writes. Needs no free space. An upload that is swept while it runs is refused as
 * incomplete and sent again. Returns the folders of the uploads, their bytes, and the number of remains.
 */
export async function sweepUploads(store: Store, { dryRun = false, unclaimedHours = UNCLAIMED_HOURS } = {}) {
  const now = (await store.time()).getTime();
  const result = { uploads: [] as string[], bytes: 0, temporary: 0 };
  for (const prefix of await unclaimedFolders(store)) {
    const maps = `${mapsFolder(prefix.slice(0, -1))}/`;
    const entries = [...(await store.entries(prefix)), ...(await store.entries(maps))];
    if (entries.length === 0 || entries.some(({ at }) => now - at.getTime() < unclaimedHours * HOUR_MS)) continue;
    const [, name = '', folder = ''] = prefix.split('/');
    result.uploads.push(prefix.slice(0, -1));
    for (const { key, bytes } of entries) {
      // it may have become a build since the listing
      if (await isClaimed(store, name, folder)) break;
      result.bytes += bytes;
      if (!dryRun) await store.remove(key);
    }
  }
  if (!dryRun) result.temporary = await store.sweep(new Date(now - TEMPORARY_HOURS * HOUR_MS));
  return result;
}
