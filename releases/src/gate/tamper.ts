import type { BrowserContext, Route } from 'playwright';
import { say } from '../sentences.ts';
import { beat, type Site, TIMEOUT_MS, track, type Visit, waitForIdle } from './pageWatch.ts';

/** Marker in a changed file: a global or custom property that shows that the file took effect. */
const TAMPER_MARKER = 'gateTampered';
const CHANGES = {
  script: { type: 'text/javascript', said: 'changedScriptRan', text: `\n;globalThis.${TAMPER_MARKER} = true;` },
  stylesheet: { type: 'text/css', said: 'changedStyleHeld', text: `\n:root{--${TAMPER_MARKER}:1}` },
} as const;

/** A file of a build that loads after its entry and module. */
export interface LateFile {
  kind: keyof typeof CHANGES;
  path: string;
  /** A page that loads it. */
  target: Visit;
}

/**
 * Opens a page with a changed file, which must not take effect. Some browsers check only files loaded by the host's asset loader. Closes
 * the context.
 */
export async function tamper(site: Site, context: BrowserContext, { kind, path, target }: LateFile): Promise<string[]> {
  const change = async (route: Route) => {
    const body = (await (await route.fetch()).text()) + CHANGES[kind].text;
    const headers = { 'access-control-allow-origin': '*' };
    await route.fulfill({ contentType: CHANGES[kind].type, headers, body });
  };
  try {
    await context.route((url) => url.pathname === path, change);
    const page = await context.newPage();
    const activity = track(page, site);
    await page.goto(site.origin + target.path, { waitUntil: 'load', timeout: TIMEOUT_MS });
    await waitForIdle(() => beat(page, site.origin, target, activity));
    const isEffective = await page.evaluate(
      (name) => name in globalThis || getComputedStyle(document.documentElement).getPropertyValue(`--${name}`) !== '',
      TAMPER_MARKER,
    );
    return isEffective ? [say('ofBuild', { build: target.id, problem: say(CHANGES[kind].said, { path }) })] : [];
  } finally {
    // a file may still be loading
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}
