import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RsbuildPlugin, Rspack } from '@rsbuild/core';
import { createJiti } from 'jiti';
import * as v from 'valibot';
import { GATE_FILE, gateFileSchema } from '../contract/gateFile.ts';
import type { HostDescription, RemoteDescription } from '../contract/releases.ts';
import type { RouteDefinition } from '../contract/remote.ts';
import { type SlotDefinition, slotProblem } from '../contract/slots.ts';

export type ChunkFiles = RemoteDescription['module'];

/** Files of a named chunk. Throws if it is missing. */
export function chunkFiles(compilation: Rspack.Compilation, name: string): ChunkFiles {
  const files = compilation.namedChunkGroups.get(name)?.getFiles();
  if (!files)
    throw new Error(
      `no chunk named "${name}": write import(/* webpackChunkName: "${name}" */ './pages/…') in src/routes.tsx`,
    );
  return { js: files.filter((file) => file.endsWith('.js')), css: files.filter((file) => file.endsWith('.css')) };
}

/** Warns of a chunk named like a slot that `src/routes` does not declare. */
export function warnOfUndeclaredSlots(compilation: Rspack.Compilation, { routes, slots }: RemoteDeclaration) {
  const declaredNames = [...routes, ...slots].map(({ name }) => name);
  for (const name of compilation.namedChunkGroups.keys())
    if (slotProblem(name, routes) === null && !declaredNames.includes(name))
      compilation.warnings.push(new Error(`export the slot "${name}" in slots of src/routes.tsx, or nobody sees it`));
}

/** Emits `liaozhai.json` and, for a remote, its file for the release gate. */
export function emitDescription(
  compilation: Rspack.Compilation,
  { RawSource }: { RawSource: new (text: string) => Rspack.sources.Source },
  describe: () => HostDescription | RemoteDescription,
) {
  // a failed compilation has no chunks; its own errors are more useful
  if (compilation.errors.length > 0) return;
  const description = describe();
  compilation.emitAsset('liaozhai.json', new RawSource(`${JSON.stringify(description, null, 2)}\n`));
  const root = compilation.compiler.context;
  if (description.kind === 'remote') compilation.emitAsset(GATE_FILE, new RawSource(gateFileText(root)));
}

/** Writes `liaozhai.json` from the finished compilation. */
export const pluginDescribe = (
  describe: (compilation: Rspack.Compilation) => HostDescription | RemoteDescription,
): RsbuildPlugin => ({
  name: 'liaozhai:describe',
  setup(api) {
    api.processAssets({ stage: 'report' }, ({ compilation, sources }) =>
      emitDescription(compilation, sources, () => describe(compilation)),
    );
  },
});

/** Exports of a remote's `src/routes`, and its contract. */
export interface RemoteDeclaration {
  routes: RouteDefinition[];
  slots: SlotDefinition[];
  /** `liaozhai.contract` of `package.json`: the required range of the shared runtime. */
  contract?: string;
}

/** Reads a remote's declaration by running its `src/routes` in Node; `import()` keeps the pages unloaded. Throws if it cannot run. */
export async function readDeclaration(root: string): Promise<RemoteDeclaration> {
  const files = ['.tsx', '.ts', '.jsx', '.js'].map((extension) => join(root, `src/routes${extension}`));
  const file = files.find(existsSync) ?? join(root, 'src/routes.tsx');
  const moduleExports = await createJiti(import.meta.url, { jsx: { runtime: 'automatic' }, moduleCache: false })
    .import<Partial<RemoteDeclaration>>(file)
    .catch((cause) => {
      throw new Error(
        `${file} cannot be read at build time: let it import only types, ./texts and pages behind import()`,
        { cause },
      );
    });
  const { routes = [], slots = [] } = moduleExports;
  for (const { name } of slots) {
    const problem = slotProblem(name, routes);
    if (problem) console.warn(`${file}: ${problem}`);
  }
  const { liaozhai = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    liaozhai?: Pick<RemoteDeclaration, 'contract'>;
  };
  return { routes, slots, contract: liaozhai.contract };
}

/** Returns the text of a remote's file for the release gate, `{}` with defaults if missing. Throws with every problem if invalid. */
export function gateFileText(root: string): string {
  const file = join(root, GATE_FILE);
  let content: unknown;
  try {
    content = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  } catch (cause) {
    throw new Error(`${GATE_FILE} is not JSON (${(cause as Error).message}): correct it`);
  }
  const parsed = v.safeParse(gateFileSchema, content);
  if (parsed.success) return `${JSON.stringify(parsed.output)}\n`;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
  throw new Error(`${GATE_FILE} cannot be read by the release gate: correct it\n${problems.join('\n')}`);
}
