import { canaryShare, falseSpeedStops, falseStops } from './releaseSystem/canary.ts';
import { scale } from './releaseSystem/scale.ts';
import { mixing, rollbackTime } from './releaseSystem/switching.ts';
import { writers } from './releaseSystem/writers.ts';
import { measureInBrowser } from './releasesBrowser.ts';
import { printRows, type Row, selectParts, startRun } from './report.ts';

const parts: Record<string, () => Promise<Row[]>> = {
  writers,
  mixing,
  rollback: rollbackTime,
  canary: canaryShare,
  stops: async () => [...(await falseStops()), ...(await falseSpeedStops())],
  scale,
  browser: measureInBrowser,
};

/** Measures the release system under load, at scale and in a browser: `pnpm bench releases [part …]`. */
export async function run() {
  const selectedParts = selectParts(parts);
  const runLine = startRun();
  const rows: Row[] = [];
  for (const [name, part] of selectedParts) {
    console.error(`${name} …`);
    rows.push(...(await part()));
  }
  console.log(`${runLine()}; in a browser 150 ms, 1.6 Mbit/s\n`);
  printRows(rows, 'baseline, same run');
}
