import type { ComponentType } from 'react';
import type { SlotDefinition } from './slots.ts';

/** The version of the shared runtime that a host provides; a build asks for a range of it. It only ever grows. */
export const CONTRACT_VERSION = '2.2.0';

/** A screen that a remote serves. Flags that are left out are false. */
export interface RouteDefinition {
  /** Unique in a set; also the name of the page's chunk. */
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

/** What a remote exposes as its only federated module. */
export interface RemoteModule {
  name: string;
  /** The range of the shared runtime it needs, e.g. `^2.0.0`. */
  contract: string;
  routes: RouteDefinition[];
  slots: SlotDefinition[];
}

type DeclaredRemote = Pick<RemoteModule, 'name' | 'routes'> & Partial<Pick<RemoteModule, 'contract' | 'slots'>>;

/** A remote is its contract: what it is called, which routes it serves, which slots it fills. */
export const defineRemote = ({
  contract = `^${CONTRACT_VERSION}`,
  slots = [],
  ...declared
}: DeclaredRemote): RemoteModule => ({
  ...declared,
  contract,
  slots,
});

/** Whether a remote that needs `range` (`^2.1.0`, `^1.4.0 || ^2.1.0`) runs on the shared runtime that a host provides. */
export function satisfiesContract(range: string, provided: string = CONTRACT_VERSION): boolean {
  const [hasMajor, hasMinor = 0, hasPatch = 0] = provided.split('.').map(Number);
  return range.split('||').some((each) => {
    const [major, minor = 0, patch = 0] = each.trim().replace(/^\^/, '').split('.').map(Number);
    return major === hasMajor && (minor < hasMinor || (minor === hasMinor && patch <= hasPatch));
  });
}
