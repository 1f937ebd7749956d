// Release managers during the storm: they publish builds, activate and ramp them, and roll them back.
import { setTimeout as pause } from 'node:timers/promises';
import { buildEdition } from '../federation/site/edition.ts';
import { runRelease } from '../federation/site/site.ts';
import type { Random } from './random.ts';

const editions = [
  { remote: 'chat', part: 'conversations', says: '风版' },
  { remote: 'stories', part: 'explore', says: '雨版' },
  { remote: 'account', part: 'my', says: '雷版' },
];

/** Builds the next version of some remotes, for publishing during the storm. Returns their folders. */
export async function buildEditions(): Promise<string[]> {
  const folders: string[] = [];
  // one at a time, because a build uses a whole core
  for (const edition of editions) folders.push(await buildEdition(edition));
  return folders;
}

export interface Switches {
  /** Number of successful commands, by verb. */
  done: Record<string, number>;
  refusals: string[];
  /** The set that is live for all visitors at the end. */
  set: string;
}

/** Switches the store's live set at random times. At the end all visitors get the stable set. */
export async function switchRandomly(
  store: string,
  built: readonly string[],
  random: Random,
  until: number,
): Promise<Switches> {
  const done: Record<string, number> = {};
  const refusals: string[] = [];
  const recordRefusal = (cause: Error & { stderr?: string }) =>
    void refusals.push((cause.stderr || cause.message).trim().replace(/\s+/g, ' ').slice(0, 200));
  const release = async (...words: string[]) => {
    const answer = await runRelease(store, words);
    done[words[0] ?? ''] = (done[words[0] ?? ''] ?? 0) + 1;
    return answer;
  };
  const unpublished = [...built];
  const publishedBuilds = (await runRelease(store, ['status'])).stable.builds.filter(
    (build) => !build.startsWith('host@'),
  );
  /** Publishes a new build if one is left; otherwise picks a published one. */
  const publish = async () => {
    const next = unpublished.shift();
    if (!next) return random.pick(publishedBuilds);
    const { id } = await release('publish', next, '--version', '2.0.0');
    publishedBuilds.push(id);
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
    const nextAt = Date.now() + random.between(5000, 25_000);
    if (nextAt > until - 5000) break;
    await pause(nextAt - Date.now());
    // a conflict with another writer, such as a restart that publishes, or a missing earlier state: not a fault
    await verbs[random.pickWeighted({ activate: 3, canary: 2, rollback: 2 })]().catch(recordRefusal);
  }
  await pause(Math.max(0, until - Date.now()));
  await release('abort').catch(recordRefusal);
  const { stable } = await runRelease(store, ['status']);
  return { done, refusals, set: stable.set };
}
