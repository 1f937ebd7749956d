import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { provide } from '../needs.ts';

const cache = fileURLToPath(new URL('../node_modules/.cache/old-chromium', import.meta.url));

/** Old builds of Chromium in the npm registry, with their hashes when they were chosen. */
const packages = {
  '103': {
    version: '103.0.0',
    integrity: 'sha512-tFX5k5uWAT0fIxelUtpN4GN1VOTT61AHB6rRjeYzC296SjizKM1pNslEWj0YeuajKfsnNeDuHizB320TTTOrkA==',
  },
  '92': {
    version: '92.0.0',
    integrity: 'sha512-xCFop83v5gXKQTDGNfzj84F4f9QZkY9eShTu1pbWYOPB6wJNw9YgoX56zeVeRD7VL9AVwiS9VS9tgShnc5uR2g==',
  },
} as const;

export type OldVersion = keyof typeof packages;

/** Downloads the package with npm, which uses the configured registry and proxies. */
function fetchPackage(folder: string, { version, integrity }: (typeof packages)[OldVersion]): string {
  const name = `@sparticuz/chromium@${version}`;
  console.log(`Fetching ${name} (50 MB, once) …`);
  execFileSync('npm', ['pack', name, '--silent', '--pack-destination', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const file = join(folder, `sparticuz-chromium-${version}.tgz`);
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name} came with the hash ${found}: the registry serves another file than was chosen`);
  return file;
}

/**
 * Path of a Chromium of that version, downloaded on first use. It runs on x86-64 Linux and needs the libraries of Debian's
 * `chromium` package.
 */
export async function provideOldChromium(age: OldVersion): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('old Chromiums are built for x86-64 Linux only: run this there, or in such a container.');
  await provide('chromium');
  const { version } = packages[age];
  const path = join(cache, version, 'chromium');
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `${version}-`));
  const archive = fetchPackage(folder, packages[age]);
  execFileSync('tar', ['xzf', archive, '-C', folder, 'package/bin/chromium.br']);
  writeFileSync(join(folder, 'chromium'), brotliDecompressSync(readFileSync(join(folder, 'package/bin/chromium.br'))));
  chmodSync(join(folder, 'chromium'), 0o755);
  for (const rest of [archive, join(folder, 'package')]) rmSync(rest, { recursive: true });
  // renamed as a whole, so that an interrupted download does not count
  renameSync(folder, join(cache, version));
  return path;
}
