import type { ComponentType } from 'react';

/** The version of this module that a host provides; a build asks for a range of it. It only ever grows. */
export const CONTRACT_VERSION = '1.0.0';

export interface RouteDefinition {
  name: string;
  path: string;
  title: string;
  requiresAuth?: boolean;
  keepAlive?: boolean;
  outsideShell?: boolean;
  page: () => Promise<{ default: ComponentType }>;
}

export interface SlotDefinition {
  name: string;
  part: () => Promise<{ default: ComponentType<never> }>;
}

export interface RemoteModule {
  name: string;
  contract: string;
  routes: RouteDefinition[];
  slots: SlotDefinition[];
}

type Declared = Pick<RemoteModule, 'name' | 'routes'> & Partial<Pick<RemoteModule, 'contract' | 'slots'>>;

/** A remote is its contract: what it is called, which routes it serves, which slots it fills. */
export const defineRemote = ({ contract = '^1.0.0', slots = [], ...declared }: Declared): RemoteModule => ({
  ...declared,
  contract,
  slots,
});
