import semver from 'semver';
import type { GateCheck } from './gateCheck.ts';

/** Every remote can run on this host's `shared/runtime` and on its exact Module Federation version. */
export const contract: GateCheck = {
  name: 'contract',
  run: async ({ host, remotes }) =>
    remotes.flatMap(({ id, description }) => {
      const problems: string[] = [];
      const { contract: provided, federation } = host.description;
      if (!semver.satisfies(provided, description.contract))
        problems.push(
          `${id}: needs shared/runtime ${description.contract}, the host has ${provided}: release the host first`,
        );
      if (description.federation !== federation)
        problems.push(
          `${id}: built with Module Federation ${description.federation}, the host with ${federation}: build both with the same version`,
        );
      return problems;
    }),
};
