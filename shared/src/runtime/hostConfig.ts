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
  /** addresses of the site's own terms and privacy policy, and their version */
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
  /** share of the pages that report what their readers felt; a site without a server listens to none */
  vitals: fallback(object({ sample: fallback(number(), 0) }), { sample: 0 }),
  /** whether the page reports spans of its own: the server says so where it sends traces */
  spans: fallback(boolean(), false),
  /** whether Redux DevTools may show the store, which holds a reader's own data */
  devTools: fallback(boolean(), false),
  /** what the backend told the server that rendered the page; left out where it did not answer */
  capabilities: fallback(optional(array(string())), undefined),
  /** what readers pay and are given: the server's own figures, else the site's; each reader takes what it understands */
  rules: anything,
});

export type HostConfig = InferOutput<typeof schema>;

/** A part that is missing or broken reads as "not configured"; the rest stands. */
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

/** The site's own settings, from `<script type="application/json" id="liaozhai-config">`. */
export function hostConfig(): HostConfig {
  const current = config.current() ?? parseHostConfig(document.getElementById(PAGE_ELEMENTS.config)?.textContent);
  config.set(current);
  return current;
}

/** Makes the next call read the page's element again. */
export const forgetHostConfig = () => config.set(undefined);

/** A refusal for its price brings rules that hold now; those that it does not name stay. */
onPriceRise((answer) => {
  const said = safeParse(object({ rules: rulesSchema }), answer);
  const current = hostConfig();
  if (said.success) config.set({ ...current, rules: { ...current.rules, ...said.output.rules } });
});

/** Which set and builds a page runs. */
export interface PageInfo {
  channel: string;
  set: string;
  /** remote → build id */
  builds: Record<string, string>;
  /** Ids of what failed here last, as servers log them, newest first. */
  problems?: readonly string[];
}

/** Told by the host, shown in diagnostics. */
const info = createCell<PageInfo>({ channel: '', set: '', builds: {} });
export const pageInfoKnown = info.set;
export const pageInfo = (): PageInfo => ({ ...info.current(), problems: recentProblems() });

const changed = createSignal();

/** What came with the page, else what the server said on the last visit. */
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

/** What the server said that it has beyond the specification; kept on the device, so that nothing shifts on the next visit. */
export const capabilities = {
  has: (name: Capability) => capabilityNames.current().includes(name),
  set,
  /** Asks the server. One without this call has nothing beyond; while it does not answer, what it said last holds. */
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

/** Whether the server offers this; follows what it answers. */
export const useCapability = (name: Capability): boolean =>
  useSyncExternalStore(changed.on, () => capabilities.has(name));

/** Whether the server's capabilities are known; with `wanted` it asks immediately, as for a shared address. */
export function useCapabilitiesAsked(wanted: boolean): boolean {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => {
    if (wanted && !isAsked) void capabilities.learn().then(() => setAsked(true));
  }, [wanted, isAsked]);
  return isAsked;
}
