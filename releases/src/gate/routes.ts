import type { RemoteRecord } from '../model/build.ts';
import { RESERVED_SEGMENTS } from '../model/reservedPaths.ts';
import type { GateCheck } from './gateCheck.ts';

const HOST_PATHS = ['/', '/test/list', '/email/verify/:/:'];

interface Claim {
  id: string;
  what: string;
  key: string;
}

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

/** Why no page may lie at a path, whoever claims it. */
function pathProblem(path: string): string | null {
  const parts = segments(path);
  const [first = ''] = parts;
  if (first === '*') return 'would catch every address: name the paths';
  if (RESERVED_SEGMENTS.includes(first) || first.startsWith('_')) return 'belongs to the server: choose another';
  if (parts.some((part) => part.includes('.'))) return 'looks like a file to web servers: leave out the dot';
  if (parts.filter(isOptional).length > MOST_OPTIONAL) return `has more than ${MOST_OPTIONAL} optional parts: split it`;
  return null;
}

const claimsOf = ({ id, description }: RemoteRecord): Claim[] => [
  ...description.routes.flatMap(({ path }) =>
    [...new Set(shapes(path))].map((shape) => ({ id, what: `route ${path}`, key: `route ${shape}` })),
  ),
  ...description.routes.map(({ name }) => ({ id, what: `route name "${name}"`, key: `name ${name}` })),
  ...description.slots.map(({ name }) => ({ id, what: `slot "${name}"`, key: `slot ${name}` })),
];

const unfit = ({ id, description }: RemoteRecord): string[] =>
  description.routes.flatMap(({ path }) => {
    const problem = pathProblem(path);
    return problem ? [`${id}: route ${path} ${problem}`] : [];
  });

/** No route, route name or slot is claimed twice, and none of the host's or the server's. */
export const routes: GateCheck = {
  name: 'routes',
  run: async ({ remotes }) => {
    const owners = new Map(HOST_PATHS.map((path) => [`route ${path}`, 'the host']));
    const problems = remotes.flatMap(unfit);
    if (problems.length > 0) return problems;
    for (const { id, what, key } of remotes.flatMap(claimsOf)) {
      const owner = owners.get(key);
      if (owner) problems.push(`${id}: ${what} belongs to ${owner} already: choose another`);
      owners.set(key, owner ?? id);
    }
    return problems;
  },
};
