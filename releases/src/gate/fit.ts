import { hostRoutePaths, isOpenSlot, reservedSegments } from '@liaozhai/shared/contract';
import semver from 'semver';
import type { Finding } from '../model/action.ts';
import { type BuildRecord, type HostRecord, isHost, isRemote, type RemoteRecord } from '../model/build.ts';

// Whether builds can run together. The page, the gate and every verb ask these rules, so that none makes live what another refuses.

/** One way in which the builds of a set do not fit. */
export interface Misfit extends Finding {
  /** Names the conflict itself: the wording may change with the other build's version, the key does not. */
  key: string;
}

/** Builds that run together, with others that may meet them on one page: last good ones and those that are live now. */
export interface Ensemble {
  host: HostRecord;
  remotes: readonly RemoteRecord[];
  neighbours?: readonly BuildRecord[];
}

interface Rule {
  check: string;
  find: (ensemble: Ensemble) => { key: string; problem: string }[];
}

function sharingMisfits({ id, description }: RemoteRecord, provided: Readonly<Record<string, string>>) {
  const { provides, requires } = description.shared;
  return Object.entries(requires).flatMap(([library, range]) => {
    const version = provided[library];
    const key = `${id} needs ${library}`;
    const carried = provides[library];
    if (!version && carried && !semver.satisfies(carried, range))
      return [
        {
          key,
          problem: `${id}: carries ${library} ${carried}, which its own range ${range} refuses: set requiredVersion to a range that allows it`,
        },
      ];
    // the build carries it, for others too
    if (!version && carried) return [];
    if (!version)
      return [
        {
          key,
          problem: `${id}: needs ${library} ${range}, which the host does not share: bundle it, or release a host that shares it`,
        },
      ];
    if (semver.satisfies(version, range)) return [];
    return [
      {
        key,
        problem: `${id}: needs ${library} ${range}, the host shares ${version}: widen the range, or release a host that has it`,
      },
    ];
  });
}

/** Share negotiation of the whole set: each singleton comes from the host and satisfies everyone. */
const sharing: Rule = {
  check: 'sharing',
  find: ({ host, remotes }) => remotes.flatMap((remote) => sharingMisfits(remote, host.description.shared.provides)),
};

/** Every remote can run on this host's `shared/runtime`. */
const contract: Rule = {
  check: 'contract',
  find: ({ host, remotes }) => {
    const provided = host.description.contract;
    return remotes
      .filter(({ description }) => !semver.satisfies(provided, description.contract))
      .map(({ id, description }) => ({
        key: `${id} contract`,
        problem: `${id}: needs shared/runtime ${description.contract}, the host has ${provided}: release the host first`,
      }));
  },
};

const MOST_OPTIONAL = 3;
const segments = (path: string): string[] => path.split('/').slice(1);
const isOptional = (part: string): boolean => part.endsWith('?');

/** `/story/:id` and `/story/:storyId` are the same place; `/story/:id?` is two places. */
const shapes = (path: string): string[] =>
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
  if (first === '*') return 'would catch every address: name the paths';
  if (RESERVED.includes(first) || first.startsWith('_')) return 'belongs to the server: choose another';
  if (parts.some((part) => part.includes('.'))) return 'looks like a file to web servers: leave out the dot';
  if (parts.filter(isOptional).length > MOST_OPTIONAL) return `has more than ${MOST_OPTIONAL} optional parts: split it`;
  return null;
}

interface Claim {
  id: string;
  what: string;
  place: string;
}

const claimsOf = ({ id, description }: RemoteRecord): Claim[] => [
  ...description.routes
    .filter(({ path }) => pathProblem(path) === null)
    .flatMap(({ path }) =>
      [...new Set(shapes(path))].map((shape) => ({ id, what: `route ${path}`, place: `route ${shape}` })),
    ),
  ...description.routes.map(({ name }) => ({ id, what: `route name "${name}"`, place: `name ${name}` })),
  ...description.slots
    .filter(({ name }) => !isOpenSlot(name))
    .map(({ name }) => ({ id, what: `slot "${name}"`, place: `slot ${name}` })),
];

/** No route, route name or slot for one is claimed twice, and none of the host's or the server's. */
const routes: Rule = {
  check: 'routes',
  find: ({ remotes }) => {
    const unfit = remotes.flatMap(({ id, description }) =>
      description.routes.flatMap(({ path }) => {
        const problem = pathProblem(path);
        return problem ? [{ key: `${id} route ${path}`, problem: `${id}: route ${path} ${problem}` }] : [];
      }),
    );
    const owners = new Map<string, string[]>(
      Object.values(hostRoutePaths)
        .flatMap(shapes)
        .map((path) => [`route ${path}`, ['the host']]),
    );
    const doubles = remotes.flatMap(claimsOf).flatMap(({ id, what, place }) => {
      const others = owners.get(place) ?? [];
      owners.set(place, [...others, id]);
      return others.map((owner) => ({
        key: `${[owner, id].sort().join(' ')} ${place}`,
        problem: `${id}: ${what} belongs to ${owner} already: choose another`,
      }));
    });
    return [...unfit, ...doubles];
  },
};

const globalsOf = ({ description }: RemoteRecord): string[] =>
  [description.global, description.chunkGlobal].filter((name) => name !== undefined);
const contentOf = (id: string): string => id.slice(id.lastIndexOf('+'));

const clash = (id: string, rival: string): string =>
  contentOf(id) === contentOf(rival)
    ? `has the very files of ${rival}, only its version is another: keep that one, or publish what you changed`
    : `shares a global with ${rival}: give each build's container and chunks names of their own, made of its version or the hash of its sources`;

/** No two builds that can meet share a container or chunk global, or one would run the other's chunks. */
const globals: Rule = {
  check: 'globals',
  find: ({ remotes, neighbours = [] }) =>
    remotes.flatMap((remote) => {
      const { id } = remote;
      const mine = globalsOf(remote);
      if (mine[0] === mine[1])
        return [
          {
            key: `${id} globals`,
            problem: `${id}: container and chunks share the global ${mine[0]}: give each its own`,
          },
        ];
      const rivals = [...remotes, ...neighbours]
        .filter(isRemote)
        .filter((rival) => rival.id !== id && globalsOf(rival).some((name) => mine.includes(name)));
      return [...new Set(rivals.map((rival) => rival.id))].map((rival) => ({
        key: [id, rival].sort().join(' '),
        problem: `${id}: ${clash(id, rival)}`,
      }));
    }),
};

/** Every rule about builds that run together. Each holds for a set if it holds for every two of its builds. */
export const FIT_RULES: readonly Rule[] = [sharing, contract, routes, globals];

/** Everything that keeps these builds from running together; empty = they fit. */
const misfitsOf = (ensemble: Ensemble): Misfit[] =>
  FIT_RULES.flatMap(({ check, find }) => find(ensemble).map((misfit) => ({ check, ...misfit })));

/** The same of a set's records; without a host there is nothing to run, and nothing that does not fit. */
export function misfitsAmong(records: readonly BuildRecord[], neighbours: readonly BuildRecord[] = []): Misfit[] {
  const [host] = records.filter(isHost);
  return host ? misfitsOf({ host, remotes: records.filter(isRemote), neighbours }) : [];
}
