import semver from 'semver';
import type { RemoteRecord } from '../model/build.ts';
import type { GateCheck } from './gateCheck.ts';

function problemsOf(remote: RemoteRecord, provided: Readonly<Record<string, string>>): string[] {
  const { provides, requires } = remote.description.shared;
  const needs = Object.entries(requires).flatMap(([library, range]) => {
    const version = provided[library];
    if (!version)
      return [`needs ${library} ${range}, which the host does not share: bundle it, or release a host that shares it`];
    if (semver.satisfies(version, range)) return [];
    return [`needs ${library} ${range}, the host shares ${version}: widen the range, or release a host that has it`];
  });
  const own = Object.keys(provides).filter((library) => library in provided);
  const brings = own.map(
    (library) => `brings its own ${library} beside the host's single one: set import: false for it`,
  );
  return [...needs, ...brings].map((line) => `${remote.id}: ${line}`);
}

/** Share negotiation of the whole set: each singleton comes from the host and satisfies everyone. */
export const sharing: GateCheck = {
  name: 'sharing',
  run: async ({ host, remotes }) => remotes.flatMap((remote) => problemsOf(remote, host.description.shared.provides)),
};
