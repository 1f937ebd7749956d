import { type BuildSummary, type Catalog, listBuilds } from '../builds/catalog.ts';
import { currentDocument, type Difference, diff } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { nullIfRefused } from '../errors.ts';
import { type GroupHealth, groupHealth, type Reports, withoutFallbacks } from '../health/figures.ts';
import type { HealthEvent, HealthReader } from '../health/healthRecord.ts';
import { type BuildRecord, HOST_NAME, type Provenance } from '../model/build.ts';
import { say } from '../sentences.ts';

/** A value of both builds; null where a build is missing, unreadable or has none. */
export interface Sides<Value> {
  from: Value | null;
  to: Value | null;
}

/** Origin of a build published between the two that are compared. */
export type Commit = Pick<Provenance, 'commit' | 'author' | 'change' | 'at'> & { build: string };

export interface Comparison extends Difference {
  /** `to` was published before `from`, so the commits are undone. */
  back: boolean;
  /** Published after the older build, up to the newer one; oldest first. */
  commits: Commit[];
  /** Page with all commits between both, if they are in one repository. */
  page: string | null;
  files: Sides<{ count: number; bytes: number }>;
  /** Sizes of files that differ, in bytes, largest difference first. Hashes in names are ignored. */
  changedFiles: (Sides<number> & { path: string })[];
  routes: { added: string[]; removed: string[] };
  contract: Sides<string>;
  /** Shared libraries that differ: the version a build carries, and the range it accepts. */
  libraries: { name: string; carries: Sides<string>; accepts: Sides<string> }[];
  /** Health of the last day. */
  health: Sides<GroupHealth>;
  /** Builds whose record cannot be read. */
  damaged: string[];
}

const sides = <Value>(
  { from, to }: Sides<BuildRecord>,
  read: (record: BuildRecord) => Value | null | undefined,
): Sides<Value> => ({ from: (from && read(from)) ?? null, to: (to && read(to)) ?? null });

const publishedAt = (record: BuildRecord | null): string => record?.provenance.at ?? '';

async function commitsBetween(catalog: Catalog, name: string, { from, to }: Sides<BuildRecord>): Promise<Commit[]> {
  const [older = '', newer = ''] = [publishedAt(from), publishedAt(to)].sort();
  const isBetween = ({ provenance: { at }, problem }: BuildSummary) => !problem && at > older && at <= newer;
  const builds = from && to ? (await listBuilds(catalog, name)).filter(isBetween) : [to].filter((one) => one !== null);
  return builds
    .map(({ id, provenance: { commit, author, change, at } }) => ({ build: id, commit, author, change, at }))
    .sort((a, b) => a.at.localeCompare(b.at));
}

/** Repository in an address of GitHub, GitLab (which adds `/-`) or Gitee. */
const REPOSITORY = /^(https?:\/\/[^/]+\/.+?(?:\/-)?)\/(?:commit|pulls?|merge_requests|actions|jobs|pipelines)\//;

function comparePage({ from, to }: Sides<BuildRecord>): string | null {
  const [a, b] = [from, to].map((record) => {
    const { commit, change, run } = record?.provenance ?? {};
    const [, repository] = REPOSITORY.exec(change ?? run ?? '') ?? [];
    return { commit: /^[0-9a-f]{7,40}$/.test(commit ?? '') ? commit : undefined, repository };
  });
  if (!a?.commit || !b?.commit || !a.repository || a.repository !== b.repository || a.commit === b.commit) return null;
  return `${a.repository}/compare/${a.commit}...${b.commit}`;
}

/** `static/js/page.3f9c1a7b.js` and `assets/page-Bx3_k9Qa.js` without the hash of their contents. */
const withoutHash = (path: string): string => path.replace(/[.-][\w-]{8,20}(?=\.\w+$)/, '');

/** Pairs the files of two builds by path, then by name without hash if that is unambiguous. */
function changedFiles({ from, to }: Sides<BuildRecord>): Comparison['changedFiles'] {
  const [before, after] = [from?.files ?? {}, to?.files ?? {}];
  const removedPaths = Object.keys(before).filter((path) => !after[path]);
  const addedPaths = Object.keys(after).filter((path) => !before[path]);
  const uniqueMatch = (paths: readonly string[], name: string) => {
    const [first, second] = paths.filter((path) => withoutHash(path) === name);
    return second === undefined ? first : undefined;
  };
  const changes = Object.keys(after)
    .filter((path) => before[path] && before[path].integrity !== after[path]?.integrity)
    .map((path) => ({ path, from: before[path]?.size ?? null, to: after[path]?.size ?? null }));
  for (const path of addedPaths) {
    const formerPath =
      uniqueMatch(addedPaths, withoutHash(path)) === path ? uniqueMatch(removedPaths, withoutHash(path)) : undefined;
    if (formerPath) removedPaths.splice(removedPaths.indexOf(formerPath), 1);
    const [formerFile, size] = [formerPath === undefined ? undefined : before[formerPath], after[path]?.size ?? null];
    if (formerFile?.integrity === after[path]?.integrity) continue;
    changes.push({ path, from: formerFile?.size ?? null, to: size });
  }
  for (const path of removedPaths) changes.push({ path, from: before[path]?.size ?? null, to: null });
  const sizeChange = (file: Sides<number>) => Math.abs((file.to ?? 0) - (file.from ?? 0));
  return changes.sort((a, b) => sizeChange(b) - sizeChange(a) || a.path.localeCompare(b.path));
}

/** Returns routes, with those for members marked, and slots. */
const placesOf = (record: BuildRecord | null): string[] =>
  record?.description.kind === 'remote'
    ? [
        ...record.description.routes.map(({ path, requiresAuth }) =>
          requiresAuth ? say('forMembers', { path }) : path,
        ),
        ...record.description.slots.map(({ name }) => say('slotNamed', { slotName: name })),
      ]
    : [];

function changedLibraries(records: Sides<BuildRecord>): Comparison['libraries'] {
  const versionLists = [records.from, records.to].flatMap((record) =>
    record ? [record.description.shared.provides, record.description.shared.requires] : [],
  );
  const names = [...new Set(versionLists.flatMap((versions) => Object.keys(versions)))].sort();
  const libraries = names.map((name) => ({
    name,
    carries: sides(records, ({ description }) => description.shared.provides[name]),
    accepts: sides(records, ({ description }) => description.shared.requires[name]),
  }));
  return libraries.filter(({ carries, accepts }) => carries.from !== carries.to || accepts.from !== accepts.to);
}

/** Returns the votes on a build. Pages never vote on the host, so all votes on its sets count for it. */
async function votesOn(catalog: Catalog, id: string, events: readonly HealthEvent[]): Promise<readonly HealthEvent[]> {
  if (!id.startsWith(`${HOST_NAME}@`)) return events.filter(({ build }) => build === id);
  const sets = new Set<string>();
  for (const hash of new Set(events.map(({ set }) => set))) {
    const set = await catalog.set(hash).catch(nullIfRefused);
    if (set?.host.id === id) sets.add(hash);
  }
  return events.filter(({ set }) => sets.has(set));
}

async function compareBuilds(
  { catalog }: Pick<Writer, 'catalog'>,
  difference: Difference,
  { events, errors }: Required<Reports>,
): Promise<Comparison> {
  const { name, from, to } = difference;
  const recordOf = async (id: string | null) => (id === null ? null : catalog.record(id).catch(nullIfRefused));
  const records = { from: await recordOf(from), to: await recordOf(to) };
  const places = { from: placesOf(records.from), to: placesOf(records.to) };
  const health = async (id: string | null) => {
    if (id === null) return null;
    const votes = await votesOn(catalog, id, events);
    const health = groupHealth(
      votes,
      errors.filter(({ build }) => build === id),
    );
    return health.visitors > 0 ? health : null;
  };
  return {
    ...difference,
    back: to !== null && publishedAt(records.to) < publishedAt(records.from),
    commits: await commitsBetween(catalog, name, records),
    page: comparePage(records),
    files: sides(records, ({ files }) => {
      const sizes = Object.values(files).map(({ size }) => size);
      return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
    }),
    changedFiles: changedFiles(records),
    routes: {
      added: places.to.filter((place) => !places.from.includes(place)),
      removed: places.from.filter((place) => !places.to.includes(place)),
    },
    contract: sides(records, ({ description }) => description.contract),
    libraries: changedLibraries(records),
    health: { from: await health(from), to: await health(to) },
    damaged: [from, to].filter((id, at) => id !== null && !(at === 0 ? records.from : records.to)) as string[],
  };
}

/** Compares two states or builds, by name. Throws refused for a word that names neither. */
export async function compare(writer: Writer, reader: HealthReader, a: string, b: string): Promise<Comparison[]> {
  const document = await currentDocument(writer);
  const differences = await diff(writer, document, a, b);
  if (differences.length === 0) return [];
  const reports = withoutFallbacks(await reader.record('', writer.now()), document);
  return Promise.all(differences.map((difference) => compareBuilds(writer, difference, reports)));
}
