import { findChromium, requireChromium } from './chromium.ts';
import type { GateCheck } from './gate.ts';

export type SmokeMode = 'auto' | 'required' | 'off';

export interface SmokeOptions {
  mode: SmokeMode;
  store: string;
  channel: string;
  environment: NodeJS.ProcessEnv;
  /** Hears that the browser check is left out. */
  note: (line: string) => void;
}

/** The browser check as asked for; without a browser it is left out aloud, or refused where it is required. */
export async function chooseSmoke({
  mode,
  store,
  channel,
  environment,
  note,
}: SmokeOptions): Promise<GateCheck | null> {
  if (mode === 'off') return null;
  const chromium = mode === 'required' ? await requireChromium(environment) : await findChromium(environment);
  if (!chromium) {
    note('No Chromium found: the headless smoke is left out. Name one with CHROMIUM_PATH to have it.');
    return null;
  }
  const [{ serveByCommand, serveInProcess }, { smoke }] = await Promise.all([
    import('./serveSet.ts'),
    import('./smoke.ts'),
  ]);
  const command = environment.RELEASES_SERVE;
  const serve = command
    ? serveByCommand(command, { ...environment, RELEASES_STORE: store, RELEASES_CHANNEL: channel, CHANNEL: channel })
    : serveInProcess({ store, channel });
  return smoke(serve, chromium);
}
