import type { ComponentType } from 'react';
import type { SlotDefinition } from './slots.ts';

/** Version of the shared runtime that a host provides; a build requires a range of it. Versions only increase. */
export const CONTRACT_VERSION = '2.2.0';

/** A screen of a remote. Missing flags are false. */
export interface RouteDefinition {
  /** Unique in a set; also names the page's chunk. */
  name: string;
  /** A pattern such as `/story/:id`. */
  path: string;
  /** Chinese title of the document and the top bar. */
  title: string;
  requiresAuth?: boolean;
  keepAlive?: boolean;
  outsideShell?: boolean;
  page: () => Promise<{ default: ComponentType }>;
}

/** The only federated module of a remote. */
export interface RemoteModule {
  name: string;
  /** Required range of the shared runtime, e.g. `^2.0.0`. */
  contract: string;
  routes: RouteDefinition[];
  slots: SlotDefinition[];
}

type DeclaredRemote = Pick<RemoteModule, 'name' | 'routes'> & Partial<Pick<RemoteModule, 'contract' | 'slots'>>;

/** Declares a remote: its name, its routes and the slots that it fills. */
export const defineRemote = ({
  contract = `^${CONTRACT_VERSION}`,
  slots = [],
  ...declaration
}: DeclaredRemote): RemoteModule => ({
  ...declaration,
  contract,
  slots,
});

/** Whether a remote that requires `range` (`^2.1.0`, `^1.4.0 || ^2.1.0`) runs on the provided shared runtime. */
export function satisfiesContract(range: string, provided: string = CONTRACT_VERSION): boolean {
  const [providedMajor, providedMinor = 0, providedPatch = 0] = provided.split('.').map(Number);
  return range.split('||').some((each) => {
    const [major, minor = 0, patch = 0] = each.trim().replace(/^\^/, '').split('.').map(Number);
    return major === providedMajor && (minor < providedMinor || (minor === providedMinor && patch <= providedPatch));
  });
}
