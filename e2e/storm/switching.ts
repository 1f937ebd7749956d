// Release managers at work while the storm blows: new builds are published, switched, ramped and taken back.
import { setTimeout as pause } from 'node:timers/promises';
import { buildEdition } from '../federation/site/edition.ts';
import { runRelease } from '../federation/site/site.ts';
import type { Random } from './random.ts';

const editions = [
  { remote: 'chat', part: 'conversations', says: '风版' },
  { remote: 'stories', part: 'explore', says: '雨版' },
  { remote: 'account', part: 'my', says: '雷版' },
];

/** Builds the next version of some remotes, to be published in the storm; resolves with their folders. */
export async function buildEditions(): Promise<string[]> {
  const built: string[] = [];
  // one after another: a build takes a core
  for (const edition of editions) built.push(await buildEdition(edition));
  return built;
}

export interface Switches {
  /** How often each verb was done. */
  done: Record<string, number>;
  /** What a command that was refused said. */
  refusals: string[];
  /** The set that is live for everyone in the end. */
  set: string;
}

/** Switches what is live in the store now and then until that time; at last everyone has the stable set. */
export async function keepSwitching(
  store: string,
  built: readonly string[],
  random: Random,
  until: number,
): Promise<Switches> {
  const done: Record<string, number> = {};
  const refusals: string[] = [];
  const refused = (cause: Error & { stderr?: string }) =>
    void refusals.push((cause.stderr || cause.message).trim().replace(/\s+/g, ' ').slice(0, 200));
  const release = async (...words: string[]) => {
    const answer = await runRelease(store, words);
    done[words[0] ?? ''] = (done[words[0] ?? ''] ?? 0) + 1;
    return answer;
  };
  const unpublished = [...built];
  const known = (await runRelease(store, ['status'])).stable.builds.filter((build) => !build.startsWith('host@'));
  /** A new build while there is one, else any that was live or could have been. */
  const publish = async () => {
    const next = unpublished.shift();
    if (!next) return random.pick(known);
    const { id } = await release('publish', next, '--version', '2.0.0');
    known.push(id);
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
