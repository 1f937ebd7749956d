import type { PageSet } from '@liaozhai/shared/contract';
import { BUNDLED } from '../federation/pageSet';

const script = '/sw.js';

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}

function trustedScript(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('liaozhai-sw', {
    createScriptURL: (url) => {
      if (url !== script) throw new TypeError(`${url} is not the service worker`);
      return url;
    },
  });
  return policy ? (policy.createScriptURL(script) as unknown as string) : script;
}

/** Registers the service worker and tells it which files the page's set consists of. Call when idle. */
export async function registerServiceWorker({ set, hashes }: PageSet) {
  if (!('serviceWorker' in navigator) || set === BUNDLED) return;
  try {
    await navigator.serviceWorker.register(trustedScript(), { updateViaCache: 'none' });
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage({ type: 'set', hashes });
  } catch (cause) {
    // private windows and old WebViews refuse; the app works without
    console.info('no service worker', cause);
  }
}
