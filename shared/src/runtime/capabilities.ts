import { useSyncExternalStore } from 'react';
import { safeParse } from 'valibot';
import { type Capability, capabilitiesSchema, endpoints, STORAGE_KEYS } from '../contract';
import { request, toApiError } from './client/client';
import { createCell, createSignal } from './signal';
import { local, readJson } from './storage/browserStorage';

/** Statuses by which a server says that it has no such call. */
const MISSING = [404, 405, 501];

const changed = createSignal();

function kept(): readonly Capability[] {
  const parsed = safeParse(capabilitiesSchema, { data: readJson(STORAGE_KEYS.capabilities) });
  return parsed.success ? parsed.output : [];
}

const known = createCell(kept());

function set(names: readonly Capability[]) {
  if (names.join() === known.current().join()) return;
  known.set(names);
  local.set(STORAGE_KEYS.capabilities, JSON.stringify(names));
  changed.emit();
}

/** What the server said that it has beyond the specification; kept on the device, so that nothing shifts on the next visit. */
export const capabilities = {
  has: (name: Capability) => known.current().includes(name),
  set,
  /** Asks the server. One without this call has nothing beyond; while it does not answer, what it said last holds. */
  async learn(): Promise<void> {
    try {
      set(await request({ url: endpoints.capabilities, schema: capabilitiesSchema }));
    } catch (cause) {
      const error = toApiError(cause);
      if (error.kind === 'server' && MISSING.includes(error.status)) set([]);
    }
  },
};

/** Whether the server offers this; follows what it answers. */
export const useCapability = (name: Capability): boolean =>
  useSyncExternalStore(changed.on, () => capabilities.has(name));
