import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasCode } from '../../src/errors.ts';
import { sha256Hex } from '../../src/model/hashing.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = '.sources';

export const PAGE_FOLDER = join(ROOT, 'dist');

async function sourceHash(): Promise<string> {
  const names = (await readdir(join(ROOT, 'src'))).sort();
  const files = [...names.map((name) => join('src', name)), 'rsbuild.config.ts', '../../shared/src/build/floor.ts'];
  const contents = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')));
  return sha256Hex(files.map((file, at) => `${file}\n${contents[at]}`).join('\n'));
}

const builtFrom = (): Promise<string> =>
  readFile(join(PAGE_FOLDER, STAMP), 'utf8').catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return '';
    throw cause;
  });

/** Builds the console's page unless it was built from these very sources. */
export async function buildPage(): Promise<string> {
  const hash = await sourceHash();
  if ((await builtFrom()) === hash) return PAGE_FOLDER;
  const { createRsbuild, loadConfig } = await import('@rsbuild/core');
  const { content } = await loadConfig({ cwd: ROOT });
  const rsbuild = await createRsbuild({ cwd: ROOT, config: { ...content, logLevel: 'error' } });
  const { close } = await rsbuild.build();
  await close();
  await writeFile(join(PAGE_FOLDER, STAMP), hash);
  return PAGE_FOLDER;
}
