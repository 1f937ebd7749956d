import { existsSync } from 'node:fs';
import { test as base, expect } from '@playwright/test';
import { providePath } from '../needs.ts';
import type { EngineName, Look } from './engine.ts';
import { startFront } from './front.ts';
import { Phone } from './phone.ts';
import { launchPuppeteerEngine } from './puppeteerEngine.ts';
import { launchWebKitEngine } from './webkitEngine.ts';

export interface EngineOptions {
  engineName: EngineName;
  /** Runs without features that the oldest supported browsers lack. */
  isOlder: boolean;
  /** Path of a Chromium or Firefox. Default: the installed one. */
  executablePath: string | undefined;
}

interface WorkerFixtures extends EngineOptions {
  /** One phone for the whole journey: each step starts where the previous one ended. */
  phone: Phone;
}

interface TestFixtures {
  watched: undefined;
}

/** WebKit features that can be disabled at start and that engines of the floor lack. */
const olderFeatures = [
  'PopoverAttribute',
  'CSSAnchorPositioning',
  'TrustedTypes',
  'ViewTransitions',
  'CookieStoreAPI',
  'URLPatternAPI',
  'ScrollDrivenAnimations',
  'CSSTextWrapPretty',
  'HiddenUntilFound',
  'DetailsAutoExpand',
].map((feature) => `-${feature}`);

/** Removes features that no start option disables, before the page's scripts run. */
const olderScript = `(() => {
  const without = (owner, ...names) => { for (const name of names) if (owner) delete owner[name]; };
  without(globalThis, 'ClipboardItem', 'requestIdleCallback', 'cancelIdleCallback', 'Iterator');
  without(HTMLDialogElement.prototype, 'requestClose', 'closedBy');
  without(HTMLElement.prototype, 'popover', 'showPopover', 'hidePopover', 'togglePopover');
  without(URL, 'canParse', 'parse');
  without(Array, 'fromAsync');
  without(Array.prototype, 'toSpliced', 'toSorted', 'toReversed', 'with');
  without(Object, 'groupBy');
  without(Map, 'groupBy');
  without(Promise, 'withResolvers', 'try');
  without(AbortSignal, 'any');
  without(RegExp, 'escape');
  without(Set.prototype, 'union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom');
})();`;

interface Launch extends Look {
  engineName: EngineName;
  isOlder?: boolean;
  executablePath?: string | undefined;
}

async function launchEngine(name: EngineName, executablePath: string | undefined, look: Look) {
  const path = executablePath ?? (await providePath(name));
  return name === 'webkit' ? launchWebKitEngine(path, look) : launchPuppeteerEngine(name, path, look);
}

/** Opens a browser with its own proxy to the shared product, and closes both when `use` ends or fails. */
export async function withPhone(
  { engineName, isOlder = false, executablePath, ...look }: Launch,
  use: (phone: Phone) => Promise<void>,
) {
  const origin = process.env.ENGINES_ORIGIN;
  if (!origin) throw new Error('ENGINES_ORIGIN is empty: the product was not started');
  const front = await startFront(origin, isOlder ? [olderScript] : []);
  try {
    const engine = await launchEngine(engineName, executablePath, { ...look, features: isOlder ? olderFeatures : [] });
    try {
      await use(new Phone(engine, front));
    } finally {
      await engine.close();
    }
  } finally {
    await front.close();
  }
}

/** Expects that the step caused no error and no policy violation in a page. */
export function expectNoTrouble({ engine, front }: Phone) {
  const { violations, errors } = front.trouble();
  expect(violations, `${engine.name}: policy violations`).toEqual([]);
  expect(errors, `${engine.name}: errors in the page`).toEqual([]);
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  engineName: ['chromium', { option: true, scope: 'worker' }],
  isOlder: [false, { option: true, scope: 'worker' }],
  executablePath: [undefined, { option: true, scope: 'worker' }],
  phone: [
    async ({ engineName, isOlder, executablePath }, use) => withPhone({ engineName, isOlder, executablePath }, use),
    { scope: 'worker', timeout: 300_000 },
  ],
  watched: [
    async ({ phone }, use, testInfo) => {
      await use(undefined);
      if (testInfo.status !== testInfo.expectedStatus) {
        const path = testInfo.outputPath(`${phone.engine.name}.png`);
        await phone.picture(path);
        if (existsSync(path)) testInfo.attachments.push({ name: 'screen', contentType: 'image/png', path });
      }
      expectNoTrouble(phone);
    },
    { auto: true },
  ],
});

export { expect };
