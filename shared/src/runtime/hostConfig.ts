import { useEffect, useState, useSyncExternalStore } from 'react';
import {
  array,
  boolean,
  fallback,
  type InferOutput,
  nullable,
  number,
  object,
  optional,
  record,
  safeParse,
  string,
  unknown,
} from 'valibot';
import {
  BRAND,
  type Capability,
  capabilitiesSchema,
  endpoints,
  isCallMissing,
  PAGE_ELEMENTS,
  rulesSchema,
  STORAGE_KEYS,
} from '../contract';
import { recentProblems, toApiError } from './client/errors';
import { onPriceRise, request } from './client/request';
import { createCell, createSignal } from './signal';
import { local, readJson } from './storage/browserStorage';

const optionalText = fallback(optional(string()), undefined);
const optionalNumber = fallback(optional(number()), undefined);

const offer = object({ id: string(), points: number(), priceCents: number(), label: optionalText });
const anything = fallback(record(string(), unknown()), {});

const brandText = (field: 'name' | 'seal' | 'slogan' | 'icp') =>
  fallback(optional(string(), BRAND[field]), BRAND[field]);

const schema = object({
  brand: fallback(
    object({ name: brandText('name'), seal: brandText('seal'), slogan: brandText('slogan'), icp: brandText('icp') }),
    BRAND,
  ),
  rechargePackages: fallback(array(offer), []),
  paymentProvider: fallback(nullable(object({ name: string(), checkoutUrl: string() })), null),
  support: fallback(
    object({ operator: optionalText, email: optionalText, hours: optionalText, wechat: optionalText }),
    {},
  ),
  /** URLs of the site's terms and privacy policy, and their version */
  legal: fallback(object({ terms: optionalText, privacy: optionalText, version: optionalText }), {}),
  realtime: fallback(
    object({
      key: fallback(string(), '{key}'),
      host: optionalText,
      port: optionalNumber,
      channel: fallback(string(), 'private-App.Models.User.{id}'),
    }),
    { key: '{key}', channel: 'private-App.Models.User.{id}' },
  ),
  /** share of page views that report web vitals, 0–1; 0 for a site without a server to receive them */
  vitals: fallback(object({ sample: fallback(number(), 0) }), { sample: 0 }),
  /** whether the page reports its own spans; set by a server that exports traces */
  spans: fallback(boolean(), false),
  /** whether Redux DevTools may show the store, which contains the user's private data */
  devTools: fallback(boolean(), false),
  /** the backend's capabilities, as the server that rendered the page fetched them; missing if the backend did not answer */
  capabilities: fallback(optional(array(string())), undefined),
  /** prices and gifts, from the server or else from the site; each reader parses the fields that it knows */
  rules: anything,
});

export type HostConfig = InferOutput<typeof schema>;

/** Parses the site's settings. A missing or invalid part counts as "not configured"; the other parts are used. */
export function parseHostConfig(text: string | null | undefined): HostConfig {
  let json: unknown = {};
  try {
    json = JSON.parse(text || '{}');
  } catch (cause) {
    console.warn('liaozhai-config is no JSON', cause);
  }
  const parsed = safeParse(schema, json);
  return parsed.success ? parsed.output : parseHostConfig('{}');
}

const config = createCell<HostConfig | undefined>(undefined);

/** The site's settings, from `<script type="application/json" id="liaozhai-config">`. */
export function hostConfig(): HostConfig {
  const current = config.current() ?? parseHostConfig(document.getElementById(PAGE_ELEMENTS.config)?.textContent);
  config.set(current);
  return current;
}

/** Makes the next `hostConfig()` read the page's element again. */
export const forgetHostConfig = () => config.set(undefined);

/** A 409 for a changed price contains the current rules; they replace the ones of the same name. */
onPriceRise((answer) => {
  const said = safeParse(object({ rules: rulesSchema }), answer);
  const current = hostConfig();
  if (said.success) config.set({ ...current, rules: { ...current.rules, ...said.output.rules } });
});

/** Which set and builds the page runs. */
export interface PageInfo {
  channel: string;
  set: string;
  /** remote → build id */
  builds: Record<string, string>;
  /** Request ids of the latest failures, as the servers log them, newest first. */
  problems?: readonly string[];
}

/** Set by the host, shown in diagnostics. */
const info = createCell<PageInfo>({ channel: '', set: '', builds: {} });
export const pageInfoKnown = info.set;
export const pageInfo = (): PageInfo => ({ ...info.current(), problems: recentProblems() });

const changed = createSignal();

/** Capabilities in the page's settings, else the ones that were stored on the last visit. */
function kept(): readonly Capability[] {
  const parsed = safeParse(capabilitiesSchema, {
    data: hostConfig().capabilities ?? readJson(STORAGE_KEYS.capabilities),
  });
  return parsed.success ? parsed.output.names : [];
}

const capabilityNames = createCell(kept());

function set(names: readonly Capability[]) {
  if (names.join() === capabilityNames.current().join()) return;
  capabilityNames.set(names);
  local.set(STORAGE_KEYS.capabilities, JSON.stringify(names));
  changed.emit();
}

/** Server features beyond the specification. Stored on the device, so that the layout does not shift on the next visit. */
export const capabilities = {
  has: (name: Capability) => capabilityNames.current().includes(name),
  set,
  /** `GET` of the capabilities. A server without this endpoint has none; after any other failure the stored ones stay. */
  async learn(): Promise<void> {
    try {
      const said = await request({ url: endpoints.capabilities, schema: capabilitiesSchema, isOptional: true });
      set(said.names);
      if (said.rules) config.set({ ...hostConfig(), rules: said.rules });
    } catch (cause) {
      if (isCallMissing(toApiError(cause))) set([]);
    }
  },
};

/** Whether the server offers this capability; updates when the capabilities load. */
export const useCapability = (name: Capability): boolean =>
  useSyncExternalStore(changed.on, () => capabilities.has(name));

/** Whether the capabilities have been requested in this component. `wanted` sends the request immediately, e.g. for a shared link. */
export function useCapabilitiesAsked(wanted: boolean): boolean {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => {
    if (wanted && !isAsked) void capabilities.learn().then(() => setAsked(true));
  }, [wanted, isAsked]);
  return isAsked;
}
