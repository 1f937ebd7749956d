import { loadavg } from 'node:os';
import { canaryShare, falseSpeedStops, falseStops } from './canary.ts';
import type { Bench, Measure } from './measure.ts';
import { scale } from './scale.ts';
import { mixing, rollbackTime } from './switching.ts';
import { writers } from './writers.ts';

const BENCHES: Record<string, Bench> = {
  writers,
  mixing,
  rollback: rollbackTime,
  canary: canaryShare,
  stops: async () => [...(await falseStops()), ...(await falseSpeedStops())],
  scale,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}.\n`);
  process.exit(2);
}
const measures: Measure[] = [];
const load = () => loadavg()[0]?.toFixed(1);
const before = load();
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  measures.push(...(await bench()));
}
const rows = measures.map(({ what, baseline, ours, goal, met }) => [
  what,
  baseline,
  ours,
  goal,
  met ? 'met' : 'MISSED',
]);
process.stdout.write(`${new Date().toISOString().slice(0, 10)}, load ${before} → ${load()}\n\n`);
const head = ['measure', 'baseline, same run', 'ours', 'goal', ''];
for (const cells of [head, head.map(() => '---'), ...rows]) process.stdout.write(`| ${cells.join(' | ')} |\n`);
process.exitCode = measures.every(({ met }) => met) ? 0 : 1;
