import { createHash } from 'node:crypto';
import { matchRoute, type PageBuild, type PageRoute, type PageSet, type SetBody } from '@liaozhai/shared/contract';
import semver from 'semver';
import type { Catalog } from '../builds/catalog.ts';
import { isRemote } from '../model/build.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { nameOf } from '../model/ids.ts';
import { codeHashes, pageBuild } from '../model/set.ts';

const STEPS = 2 ** 48;

/** Where a visitor stands for a salt: 0 (inclusive) to 100 (exclusive), even over visitors, the same for ever. */
export const bucket = (visitor: string, salt: string): number =>
  (createHash('sha256').update(`${salt}:${visitor}`).digest().readUIntBE(0, 6) / STEPS) * 100;

/** A higher percentage keeps everyone who was in at a lower one. */
export const isInCandidate = (visitor: string, candidate: { salt: string; percent: number }): boolean =>
  bucket(visitor, candidate.salt) < candidate.percent;

/** The route of a set that a pathname shows, if there is one. */
export const routeAt = ({ remotes }: Pick<PageSet, 'remotes'>, pathname: string): PageRoute | undefined =>
  matchRoute(
    Object.values(remotes).flatMap(({ routes }) => routes),
    pathname,
  );

/** Which set a page is to run, and under which name. */
export interface ChosenSet {
  hash: string;
  body: SetBody;
  candidate: boolean;
  candidateSets?: string[];
  override: PageSet['override'];
}

/**
 * What each remote of the set falls back to when it fails: the build that everyone else runs now where the set has another one (it
 * is sound, or the visitors of stable would fail too), else the last good one. Only what can run beside the set's host, and can
 * never be mistaken for the build it takes the place of.
 */
async function fallbackBuilds(catalog: Catalog, document: ChannelDocument, body: SetBody) {
  const live = new Map((document.stable?.builds ?? []).map((id) => [nameOf(id), id]));
  const usable = new Map<string, { build: PageBuild; hashes: Record<string, string> }>();
  for (const [name, active] of Object.entries(body.remotes)) {
    for (const id of [live.get(name), document.lastGood[name]]) {
      if (!id || id === active.id || usable.has(name)) continue;
      const record = await catalog.record(id, document.digests[id]);
      if (!isRemote(record) || record.description.global === active.global) continue;
      const { federation, contract } = record.description;
      if (federation !== body.host.federation || !semver.satisfies(body.host.contract, contract)) continue;
      usable.set(name, { build: pageBuild(record), hashes: codeHashes(record) });
    }
  }
  return usable;
}

/** The page's data for a chosen set. Killed builds stay listed, so that a page can tell why it must leave. */
export async function makePageSet(
  catalog: Catalog,
  document: ChannelDocument,
  publicKey: string,
  { hash, body, candidate, candidateSets, override }: ChosenSet,
): Promise<PageSet> {
  const fallbacks = await fallbackBuilds(catalog, document, body);
  const { id, entry, contract, css } = body.host;
  const remotes = Object.entries(body.remotes).map(([name, build]): [string, PageSet['remotes'][string]] => [
    name,
    { ...build, lastGood: fallbacks.get(name)?.build ?? null },
  ]);
  return {
    channel: document.channel,
    seq: document.seq,
    set: hash,
    candidate,
    ...(candidateSets ? { candidateSets } : {}),
    override,
    publicKey,
    host: { id, entry, contract, css },
    remotes: Object.fromEntries(remotes),
    hashes: Object.assign({}, body.hashes, ...[...fallbacks.values()].map(({ hashes }) => hashes)),
    killed: document.killed,
  };
}
