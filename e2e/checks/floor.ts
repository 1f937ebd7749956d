// Checks that built files run in the oldest supported browsers. `pnpm check:floor [folder …]` checks these folders, by default
// the builds of the product and the console, which it updates first.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackages } from '../../host/server/buildPackages.ts';
import { buildPage } from '../../releases/console/server/startConsole.ts';
import { floor } from '../../shared/src/build/floor.ts';
import { allowed, checkFloor, describeBeyond } from '../../shared/src/floorCheck/checkFloor.ts';
import { report } from './report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function ownBuilds(): Promise<string[]> {
  const packages = await buildPackages((line) => console.log(line));
  return [...packages.map(({ dist }) => dist), await buildPage()];
}

const named = process.argv.slice(2);
const missing = named.filter((folder) => !existsSync(folder));
if (missing.length > 0) {
  console.log('pnpm check:floor [folder …]   what built files have that the oldest supported browsers lack');
  for (const word of missing) if (!/^(?:-h|--help)$/.test(word)) console.error(`✗ there is no folder ${word}`);
  process.exit(missing.every((word) => /^(?:-h|--help)$/.test(word)) ? 0 : 2);
}
const folders = named.length > 0 ? named : await ownBuilds();
const reports = await Promise.all(
  folders.map(async (folder) => ({
    folder: relative(root, folder) || folder,
    ...(await checkFloor(folder, { floor })),
  })),
);

const problems = reports.flatMap(({ folder, found }) =>
  found.map((beyond) => describeBeyond({ ...beyond, file: join(folder, beyond.file) })),
);
const needed = new Set(reports.flatMap(({ used }) => [...used]));
// other folders need not use every allowed feature
const idle = named.length > 0 ? [] : allowed.filter((entry) => !needed.has(entry));
for (const { features } of idle)
  problems.push(
    `shared/src/floorCheck/checkFloor.ts: nothing built has ${features.join(', ')} any more: remove the entry`,
  );

report('floor', problems);
