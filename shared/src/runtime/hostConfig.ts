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
  PATIENT,
  pauseMs,
  readAs,
  rulesSchema,
  STORAGE_KEYS,
} from '../contract';
import { figure } from '../contract/decode';
import { recentProblems, toApiError } from './client/errors';
import { onPriceRise, request } from './client/request';
import { retryPolicy } from './retryPolicy';
import { createCell } from './signal';
import { local, readJson } from './storage/browserStorage';

const optionalText = fallback(optional(string()), undefined);

const brandText = (field: 'name' | 'seal' | 'slogan' | 'icp') =>
  fallback(optional(string(), BRAND[field]), BRAND[field]);

const schema = object({
  brand: fallback(
    object({ name: brandText('name'), seal: brandText('seal'), slogan: brandText('slogan'), icp: brandText('icp') }),
    BRAND,
  ),
  rechargePackages: fallback(
    array(
      object({ id: string(), points: figure('points', 2), priceCents: figure('priceCents', 0), label: optionalText }),
    ),
    [],
  ),
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
      port: fallback(optional(number()), undefined),
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
  rules: fallback(record(string(), unknown()), {}),
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
  return readAs(schema, json) ?? parseHostConfig('{}');
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
  const rules = readAs(object({ rules: rulesSchema }), answer)?.rules;
  const current = hostConfig();
  if (rules) config.set({ ...current, rules: { ...current.rules, ...rules } });
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
const pageInfoCell = createCell<PageInfo>({ channel: '', set: '', builds: {} });
export const pageInfoKnown = pageInfoCell.set;
export const pageInfo = (): PageInfo => ({ ...pageInfoCell.current(), problems: recentProblems() });

/** Capabilities in the page's settings, else the ones that were stored on the last visit. */
function readStoredCapabilities(): readonly Capability[] {
  const data = hostConfig().capabilities ?? readJson(STORAGE_KEYS.capabilities);
  return readAs(capabilitiesSchema, { data })?.names ?? [];
}

const capabilityNames = createCell(readStoredCapabilities());

function setCapabilities(names: readonly Capability[]) {
  if (names.join() === capabilityNames.current().join()) return;
  local.set(STORAGE_KEYS.capabilities, JSON.stringify(names));
  capabilityNames.set(names);
}

/** Server features beyond the specification. Stored on the device, so that the layout does not shift on the next visit. */
export const capabilities = {
  has: (name: Capability) => capabilityNames.current().includes(name),
  set: setCapabilities,
  /**
   * `GET` of the capabilities. A server without this endpoint has none; after any other failure the stored ones stay. Returns
   * whether the server has answered.
   */
  async learn(): Promise<boolean> {
    try {
      const response = await request({ url: endpoints.capabilities, schema: capabilitiesSchema, isOptional: true });
      setCapabilities(response.names);
      if (response.rules) config.set({ ...hostConfig(), rules: response.rules });
      return true;
    } catch (cause) {
      const error = toApiError(cause);
      const isMissing = isCallMissing(error);
      if (isMissing) setCapabilities([]);
      // a refusal is an answer; a failure passes
      return isMissing || !['offline', 'timeout', 'tooOften', 'server'].includes(error.kind);
    }
  },
  /** Requests them until the server has answered, after growing pauses. Returns the function that stops. */
  follow(onLearned: () => void = () => {}): () => void {
    let stopTimer = () => {};
    let isStopped = false;
    const attempt = async (failures: number) => {
      const isLearned = await capabilities.learn();
      if (isStopped) return;
      if (isLearned) return onLearned();
      stopTimer = retryPolicy.after(pauseMs(failures, PATIENT) ?? PATIENT.longestMs, () => void attempt(failures + 1));
    };
    void attempt(0);
    return () => {
      isStopped = true;
      stopTimer();
    };
  },
};

/** Whether the server offers this capability; updates when the capabilities load. */
export const useCapability = (name: Capability): boolean =>
  useSyncExternalStore(capabilityNames.on, () => capabilities.has(name));

/** Whether the server has answered this component's request for its capabilities. `isRequested` sends it, e.g. for a shared link. */
export function useCapabilitiesAsked(isRequested: boolean): boolean {
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    return isRequested && !isLoaded ? capabilities.follow(() => setLoaded(true)) : undefined;
  }, [isRequested, isLoaded]);
  return isLoaded;
}
