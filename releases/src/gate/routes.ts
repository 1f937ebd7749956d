import type { RemoteRecord } from '../model/build.ts';
import type { GateCheck } from './gateCheck.ts';

const HOST_PATHS = ['/', '/test/list', '/email/verify/:/:'];

interface Claim {
  id: string;
  what: string;
  key: string;
}

/** `/story/:id` and `/story/:storyId` are the same place. */
const shape = (path: string): string => path.replace(/:\w+/g, ':').replace(/(.)\/$/, '$1');

const claimsOf = ({ id, description }: RemoteRecord): Claim[] => [
  ...description.routes.map(({ path }) => ({ id, what: `route ${path}`, key: `route ${shape(path)}` })),
  ...description.routes.map(({ name }) => ({ id, what: `route name "${name}"`, key: `name ${name}` })),
  ...description.slots.map(({ name }) => ({ id, what: `slot "${name}"`, key: `slot ${name}` })),
];

/** No route, route name or slot is claimed twice, and none of the host's. */
export const routes: GateCheck = {
  name: 'routes',
  run: async ({ remotes }) => {
    const owners = new Map(HOST_PATHS.map((path) => [`route ${path}`, 'the host']));
    const problems: string[] = [];
    for (const { id, what, key } of remotes.flatMap(claimsOf)) {
      const owner = owners.get(key);
      if (owner) problems.push(`${id}: ${what} belongs to ${owner} already: choose another`);
      if (/^route \/?\*$/.test(key)) problems.push(`${id}: ${what} would catch every address: name the paths`);
      owners.set(key, owner ?? id);
    }
    return problems;
  },
};
