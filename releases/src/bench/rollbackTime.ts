import { activate } from '../operations/activate.ts';
import { rollback } from '../operations/rollback.ts';
import { openReleases } from '../serve/openReleases.ts';
import { openGate, openTestStore } from '../testing/openTestStore.ts';
import { writeRemote } from '../testing/writePackage.ts';
import { type Measure, quantile, seconds } from './measure.ts';

const ROUNDS = 20;

/** From the decision to a durable pointer, and to the first page of another process's reader that shows it. */
export async function rollbackTime(): Promise<Measure[]> {
  const at = await openTestStore();
  const bulky = { 'static/js/async/page.js': `/* ${'liaozhai '.repeat(20_000)} */` };
  const [first, second] = [
    await at.remote('stories', '1.0.0', { files: bulky }),
    await at.remote('stories', '1.1.0', { files: bulky }),
  ];
  await at.activate(await at.host(), first);
  const releases = await openReleases({ store: at.url });
  const shows = async (id: string) => {
    while ((await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id !== id)
      await new Promise((resolve) => setImmediate(resolve));
  };
  const ours = { durable: [] as number[], visible: [] as number[] };
  const again = { durable: [] as number[], visible: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await at.activate(second);
    await releases.pageFor({ id: 'v' });
    const started = performance.now();
    ours.durable.push(await seconds(() => rollback(at.writer, { name: 'stories' })));
    await shows(first);
    ours.visible.push((performance.now() - started) / 1000);
    const dist = await writeRemote(at.place(), 'stories', `again ${round}`, { files: bulky });
    const restarted = performance.now();
    const id = await at.publishFrom(dist, `1.0.${round + 1}`);
    await activate(at.writer, [id], { gate: openGate });
    again.durable.push((performance.now() - restarted) / 1000);
    await shows(id);
    again.visible.push((performance.now() - restarted) / 1000);
    await at.activate(first);
  }
  await at.remove();
  const p95 = (values: number[]) => quantile(values, 0.95);
  const usual = (values: number[]) =>
    `${p95(values).toFixed(2)} s (publishing the former build again, build time not counted)`;
  return [
    {
      what: `rollback to a durable pointer, p95 of ${ROUNDS}`,
      baseline: usual(again.durable),
      ours: `${p95(ours.durable).toFixed(3)} s`,
      goal: '≤ 2 s',
      met: p95(ours.durable) <= 2,
    },
    {
      what: 'rollback to the first new page that shows it, p95',
      baseline: usual(again.visible),
      ours: `${p95(ours.visible).toFixed(3)} s`,
      goal: '≤ 10 s',
      met: p95(ours.visible) <= 10,
    },
  ];
}
