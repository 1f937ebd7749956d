import { HealthRecorder } from '../health/healthRecord.ts';
import { nameOf } from '../model/build.ts';
import type { TestStore } from './openTestStore.ts';

const visitors = { count: 0 };

/** Records visitors of the candidate of `stories` and of its control, of whom `failing` fail. */
export async function recordVisits(
  at: TestStore,
  groups: { tried: [visitors: number, failing: number]; control: [visitors: number, failing: number] },
  when = new Date(),
): Promise<void> {
  const { stable, candidate } = await at.current();
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  for (const [group, [count, failing]] of Object.entries(groups)) {
    const isTried = group === 'tried';
    const source = isTried ? candidate : stable;
    const build = source?.builds.find((id) => nameOf(id) === 'stories') ?? '';
    for (let n = 0; n < count; n += 1) {
      visitors.count += 1;
      const outcome =
        n < failing ? ({ outcome: 'failed', failure: 'hang' } as const) : ({ outcome: 'loaded' } as const);
      recorder.record(
        { build, set: source?.set ?? '', candidate: isTried, ...outcome },
        `visitor ${visitors.count}`,
        when,
      );
    }
  }
  await recorder.flush();
}
