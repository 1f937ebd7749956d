import { hostRoutePaths, isOpenSlot, reservedSegments } from '@liaozhai/shared/contract';
import semver from 'semver';
import type { Finding } from '../model/action.ts';
import { type BuildRecord, type HostRecord, isHost, isRemote, type RemoteRecord } from '../model/build.ts';
import { type Check, say } from '../sentences.ts';

// Rules for builds that run together. Page server, gate and operations share them, so that none accepts what another refuses.

/** A conflict between the builds of a set. */
export interface Misfit extends Finding {
  /** Identifies the conflict, even if its wording changes with the other build's version. */
  key: string;
}

/** Builds that run together, with neighbours that may share a page with them: last good and live builds. */
export interface Ensemble {
  host: HostRecord;
  remotes: readonly RemoteRecord[];
  neighbours?: readonly BuildRecord[];
}

interface Rule {
  check: Check;
  find: (ensemble: Ensemble) => { key: string; problem: string }[];
}

export const attributeTo = (build: string, problem: string): string => say('ofBuild', { build, problem });

/** True if a range includes this version. As in federation, prereleases count like other versions. */
export const allows = (range: string, version: string): boolean =>
  semver.satisfies(version, range, { includePrerelease: true });

const RUNTIME = '@liaozhai/shared/runtime';

function sharingMisfits({ id, description }: RemoteRecord, hostVersions: Readonly<Record<string, string>>) {
  const { provides, requires } = description.shared;
  return Object.entries(requires).flatMap(([library, range]) => {
    const version = hostVersions[library];
    const bundledVersion = provides[library];
    const misfit = (problem: string) => [{ key: `${id} needs ${library}`, problem: attributeTo(id, problem) }];
    if (!version && bundledVersion)
      // the build contains its own copy, which others may use as well
      return allows(range, bundledVersion)
        ? []
        : misfit(say('carriesUnfit', { library, version: bundledVersion, range }));
    if (!version) return misfit(say('needsUnshared', { library, range }));
    // the range of the contract is checked by the rule `contract`
    if (allows(range, version) || (library === RUNTIME && range === description.contract)) return [];
    return misfit(say('needsOther', { library, range, version }));
  });
}

/** Checks sharing in the whole set: each library of the host must satisfy every remote. */
const sharing: Rule = {
  check: 'sharing',
  find: ({ host, remotes }) => remotes.flatMap((remote) => sharingMisfits(remote, host.description.shared.provides)),
};

const contract: Rule = {
  check: 'contract',
  find: ({ host, remotes }) => {
    const version = host.description.contract;
    return remotes
      .filter(({ description }) => !semver.satisfies(version, description.contract))
      .map(({ id, description: { contract: range } }) => ({
        key: `${id} contract`,
        problem: attributeTo(
          id,
          say(semver.gtr(version, range) ? 'needsFormerContract' : 'needsContract', { range, version }),
        ),
      }));
  },
};

const MAX_OPTIONAL = 3;
const segments = (path: string): string[] => path.split('/').slice(1);
const isOptional = (part: string): boolean => part.endsWith('?');

/** Expands a path to its shapes. `/story/:id` and `/story/:storyId` have the same one; `/story/:id?` has two. */
const pathShapes = (path: string): string[] =>
  segments(path)
    .reduce<string[]>(
      (forms, part) => [
        ...(isOptional(part) ? forms : []),
        ...forms.map((form) => `${form}/${part.startsWith(':') ? ':' : part}`),
      ],
      [''],
    )
    .map((form) => form || '/');

const RESERVED: readonly string[] = reservedSegments;

/** Why no remote may claim a path, or null. */
function pathProblem(path: string): string | null {
  const parts = segments(path);
  const [first = ''] = parts;
  if (first === '*' || first.startsWith(':')) return say('catchesAll', { path });
  if (parts.slice(0, -1).includes('*')) return say('starInside', { path });
  if (RESERVED.includes(first) || first.startsWith('_')) return say('ofServer', { path });
  if (parts.some((part) => part.includes('.'))) return say('likeAFile', { path });
  if (parts.filter(isOptional).length > MAX_OPTIONAL) return say('manyOptional', { path, most: MAX_OPTIONAL });
  return null;
}

const claimsOf = ({ id, description }: RemoteRecord) => [
  ...description.routes
    .filter(({ path }) => pathProblem(path) === null)
    .flatMap(({ path }) =>
      [...new Set(pathShapes(path))].map((shape) => ({ id, what: say('route', { path }), place: `route ${shape}` })),
    ),
  ...description.routes.map(({ name }) => ({ id, what: say('routeName', { name }), place: `name ${name}` })),
  ...description.slots
    .filter(({ name }) => !isOpenSlot(name))
    .map(({ name }) => ({ id, what: say('slot', { name }), place: `slot ${name}` })),
];

/** Checks that no route, route name or exclusive slot is claimed twice, or belongs to the host or server. */
const routes: Rule = {
  check: 'routes',
  find: ({ remotes }) => {
    const pathMisfits = remotes.flatMap(({ id, description }) =>
      description.routes.flatMap(({ path }) => {
        const problem = pathProblem(path);
        return problem ? [{ key: `${id} route ${path}`, problem: attributeTo(id, problem) }] : [];
      }),
    );
    const owners = new Map<string, string[]>(
      Object.values(hostRoutePaths)
        .flatMap(pathShapes)
        .map((path) => [`route ${path}`, [say('theHost')]]),
    );
    const duplicateClaims = remotes.flatMap(claimsOf).flatMap(({ id, what, place }) => {
      const others = owners.get(place) ?? [];
      owners.set(place, [...others, id]);
      return others.map((owner) => ({
        key: `${[owner, id].sort().join(' ')} ${place}`,
        problem: attributeTo(id, say('taken', { place: what, owner })),
      }));
    });
    return [...pathMisfits, ...duplicateClaims];
  },
};

const globalsOf = ({ description }: RemoteRecord): string[] =>
  [description.global, description.chunkGlobal].filter((name) => name !== undefined);
const contentOf = (id: string): string => id.slice(id.lastIndexOf('+'));

const clash = (id: string, rival: string): string =>
  contentOf(id) === contentOf(rival) ? say('sameFiles', { build: rival }) : say('sharesGlobal', { build: rival });

/**
 * Checks that builds on one page share no container or chunk global: one would run the other's chunks. A container must not have the
 * name of another remote either, because imports of that remote would resolve to it.
 */
const globals: Rule = {
  check: 'globals',
  find: ({ remotes, neighbours = [] }) =>
    remotes.flatMap((remote, at) => {
      const { id } = remote;
      const ownGlobals = globalsOf(remote);
      if (ownGlobals[0] === ownGlobals[1])
        return [{ key: `${id} globals`, problem: attributeTo(id, say('sameGlobals', { name: ownGlobals[0] ?? '' })) }];
      const namesake = remotes.find((other) => other.id !== id && other.description.name === ownGlobals[0]);
      if (namesake) {
        const problem = say('globalOfRemote', { name: namesake.description.name, build: namesake.id });
        return [{ key: `${id} names ${namesake.description.name}`, problem: attributeTo(id, problem) }];
      }
      const rivals = [...remotes.slice(0, at), ...neighbours]
        .filter(isRemote)
        .filter((rival) => rival.id !== id && globalsOf(rival).some((name) => ownGlobals.includes(name)));
      return [...new Set(rivals.map((rival) => rival.id))].map((rival) => ({
        key: [id, rival].sort().join(' '),
        problem: attributeTo(id, clash(id, rival)),
      }));
    }),
};

/** All rules for builds that run together. A set passes each of them if every pair of its builds does. */
export const FIT_RULES: readonly Rule[] = [sharing, contract, routes, globals];

/** Returns all conflicts among records; empty without a host, because then nothing runs. */
export function misfitsAmong(records: readonly BuildRecord[], neighbours: readonly BuildRecord[] = []): Misfit[] {
  const [host] = records.filter(isHost);
  if (!host) return [];
  const ensemble = { host, remotes: records.filter(isRemote), neighbours };
  return FIT_RULES.flatMap(({ check, find }) => find(ensemble).map((misfit) => ({ check, ...misfit })));
}

export function addedMisfits(records: readonly BuildRecord[], before: readonly BuildRecord[]): Misfit[] {
  const knownKeys = new Set(misfitsAmong(before).map(({ key }) => key));
  return misfitsAmong(records).filter(({ key }) => !knownKeys.has(key));
}
