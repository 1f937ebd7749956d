import { createHash } from 'node:crypto';
import semver from 'semver';
import type { Catalog } from '../builds/catalog.ts';
import { isRemote } from '../model/build.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { codeHashes, type PageBuild, pageBuild, type SetBody } from '../model/set.ts';

const STEPS = 2 ** 48;

/** Where a visitor stands for a salt: 0 (inclusive) to 100 (exclusive), even over visitors, the same for ever. */
export const bucket = (visitor: string, salt: string): number =>
  (createHash('sha256').update(`${salt}:${visitor}`).digest().readUIntBE(0, 6) / STEPS) * 100;

/** A higher percentage keeps everyone who was in at a lower one. */
export const isInCandidate = (visitor: string, candidate: { salt: string; percent: number }): boolean =>
  bucket(visitor, candidate.salt) < candidate.percent;

/** What a page carries inlined: the set it runs for its whole life. */
export interface PageSet {
  channel: string;
  seq: number;
  set: string;
  candidate: boolean;
  override: { id: string; expires: string } | null;
  /** Base64 SPKI of the ECDSA P-256 key that signs channel documents. */
  publicKey: string;
  host: { id: string; entry: string; contract: string; css: string[] };
  remotes: Record<string, PageBuild & { lastGood: PageBuild | null }>;
  hashes: Record<string, string>;
  killed: string[];
}

/** Which set a page is to run, and under which name. */
export interface ChosenSet {
  hash: string;
  body: SetBody;
  candidate: boolean;
  override: PageSet['override'];
}

/** Last good builds that can run beside the set's host and never be mistaken for the build they stand in for. */
async function lastGoodOf(catalog: Catalog, document: ChannelDocument, body: SetBody) {
  const usable = new Map<string, { build: PageBuild; hashes: Record<string, string> }>();
  for (const [name, id] of Object.entries(document.lastGood)) {
    const active = body.remotes[name];
    if (!active || active.id === id) continue;
    const record = await catalog.record(id, document.digests[id]);
    if (!isRemote(record) || record.description.global === active.global) continue;
    const { federation, contract } = record.description;
    if (federation !== body.host.federation || !semver.satisfies(body.host.contract, contract)) continue;
    usable.set(name, { build: pageBuild(record), hashes: codeHashes(record) });
  }
  return usable;
}

/** The page's data for a chosen set. Killed builds stay listed, so that a page can tell why it must leave. */
export async function makePageSet(
  catalog: Catalog,
  document: ChannelDocument,
  publicKey: string,
  { hash, body, candidate, override }: ChosenSet,
): Promise<PageSet> {
  const lastGood = await lastGoodOf(catalog, document, body);
  const { id, entry, contract, css } = body.host;
  const remotes = Object.entries(body.remotes).map(([name, build]): [string, PageSet['remotes'][string]] => [
    name,
    { ...build, lastGood: lastGood.get(name)?.build ?? null },
  ]);
  return {
    channel: document.channel,
    seq: document.seq,
    set: hash,
    candidate,
    override,
    publicKey,
    host: { id, entry, contract, css },
    remotes: Object.fromEntries(remotes),
    hashes: Object.assign({}, body.hashes, ...[...lastGood.values()].map(({ hashes }) => hashes)),
    killed: document.killed,
  };
}
