// Release managers at work while the storm blows: new builds of all packages are published, switched, ramped and taken back.
import { setTimeout as pause } from 'node:timers/promises';
import { packagesToBuild } from '../../host/server/buildPackages.ts';
import { runRelease } from '../federation/site/site.ts';
import type { Random } from './random.ts';

export interface Switches {
  /** How often each verb was done. */
  done: Record<string, number>;
  /** What a command that was refused said. */
  refusals: string[];
  /** The set that is live for everyone in the end. */
  set: string;
}

/** Switches what is live in the store now and then until that time; at last everyone has the stable set. */
export async function keepSwitching(store: string, random: Random, until: number): Promise<Switches> {
  const done: Record<string, number> = {};
  const refusals: string[] = [];
  const refused = (cause: Error & { stderr?: string }) =>
    void refusals.push((cause.stderr || cause.message).trim().replace(/\s+/g, ' ').slice(0, 200));
  const release = async (...words: string[]) => {
    const answer = await runRelease(store, words);
    done[words[0] ?? ''] = (done[words[0] ?? ''] ?? 0) + 1;
    return answer;
  };
  let published = 0;
  const publish = async () => {
    const { dist } = random.pick(packagesToBuild());
    published += 1;
    const { id } = await release('publish', dist, '--version', `2.${published}.0`);
    return id;
  };
  const verbs = {
    activate: async () => release('activate', await publish()),
    canary: async () => {
      await release('canary', await publish(), '--percent', '50');
      await pause(random.between(2000, 15_000));
      await release('canary', '--percent', '90');
      await pause(random.between(2000, 15_000));
      await release(random.pick(['promote', 'abort']));
    },
    rollback: () => release('rollback'),
  };
  for (;;) {
    const next = Date.now() + random.between(5000, 25_000);
    if (next > until - 5000) break;
    await pause(next - Date.now());
    // someone was faster (a start publishes as well), or there is nothing to go back to: said by the command, and no fault
    await verbs[random.weighed({ activate: 3, canary: 2, rollback: 2 })]().catch(refused);
  }
  await pause(Math.max(0, until - Date.now()));
  await release('abort').catch(refused);
  const { stable } = await runRelease(store, ['status']);
  return { done, refusals, set: stable.set };
}
