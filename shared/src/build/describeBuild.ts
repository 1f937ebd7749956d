import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RsbuildPlugin, Rspack } from '@rsbuild/core';
import { createJiti } from 'jiti';
import type { Answers } from '../contract/answers.ts';
import type { HostDescription, RemoteDescription } from '../contract/releases.ts';
import type { RouteDefinition } from '../contract/remote.ts';
import { type SlotDefinition, slotProblem } from '../contract/slots.ts';

type ChunkFiles = RemoteDescription['module'];

function filesOf(compilation: Rspack.Compilation, chunk: string): ChunkFiles | undefined {
  const files = compilation.namedChunkGroups.get(chunk)?.getFiles();
  return (
    files && { js: files.filter((file) => file.endsWith('.js')), css: files.filter((file) => file.endsWith('.css')) }
  );
}

function chunkOf(compilation: Rspack.Compilation, name: string): ChunkFiles {
  const found = filesOf(compilation, name);
  if (!found)
    throw new Error(
      `no chunk named "${name}": write import(/* webpackChunkName: "${name}" */ './pages/…') in src/routes.tsx`,
    );
  return found;
}

export const describeRoutes = (compilation: Rspack.Compilation, routes: RouteDefinition[]) =>
  routes.map(({ name, path, title, requiresAuth = false, keepAlive = false, outsideShell = false }) => ({
    name,
    path,
    title,
    requiresAuth,
    keepAlive,
    outsideShell,
    ...chunkOf(compilation, name),
  }));

export const placeOf = ({ name, order }: SlotDefinition) => ({ name, ...(order === undefined ? {} : { order }) });

export const describeSlots = (compilation: Rspack.Compilation, slots: SlotDefinition[]) =>
  slots.map((slot) => ({ ...placeOf(slot), ...chunkOf(compilation, slot.name) }));

export const describeModule = (compilation: Rspack.Compilation, name: string) => chunkOf(compilation, name);

/** Where a build keeps the answers. */
export const ANSWERS = 'answers.json';

type Describe = () => HostDescription | RemoteDescription;

/** Puts `liaozhai.json`, and the answers that the remote's fixtures give, beside the files of a compilation. */
export function emitDescription(
  compilation: Rspack.Compilation,
  { RawSource }: { RawSource: new (text: string) => Rspack.sources.Source },
  describe: Describe,
  answers?: Answers,
) {
  // a failed compilation has no chunks; its own errors say more than ours would
  if (compilation.errors.length > 0) return;
  if (answers) compilation.emitAsset(ANSWERS, new RawSource(JSON.stringify(answers)));
  compilation.emitAsset('liaozhai.json', new RawSource(`${JSON.stringify(describe(), null, 2)}\n`));
}

/** Writes `liaozhai.json` from the finished compilation. */
export const pluginDescribe = (
  describe: (compilation: Rspack.Compilation) => HostDescription | RemoteDescription,
  answers?: Answers,
): RsbuildPlugin => ({
  name: 'liaozhai:describe',
  setup(api) {
    api.processAssets({ stage: 'report' }, ({ compilation, sources }) =>
      emitDescription(compilation, sources, () => describe(compilation), answers),
    );
  },
});

/** What a remote says of itself in its sources. */
export interface Declared {
  /** `src/routes` exports them. */
  routes: RouteDefinition[];
  slots: SlotDefinition[];
  /** `src/fixtures` may export them: the gate opens the build with these, as `openRemote` does. Functions stay behind. */
  answers?: Answers;
  /** The field `liaozhai` of `package.json`. */
  unopened?: RemoteDescription['unopened'];
  contract?: string;
}

const sourceFile = (root: string, name: string) =>
  ['.tsx', '.ts', '.jsx', '.js'].map((extension) => join(root, `src/${name}${extension}`)).find(existsSync);

async function run<Exports>(file: string, cure: string): Promise<Partial<Exports>> {
  return createJiti(import.meta.url, { jsx: { runtime: 'automatic' }, moduleCache: false })
    .import<Partial<Exports>>(file)
    .catch((cause) => {
      throw new Error(`${file} cannot be read at build time: ${cure}`, { cause });
    });
}

/** Reads what a remote declares by running its `src/routes` and `src/fixtures` in Node; its pages stay unloaded behind `import()`. */
export async function readDeclaration(root: string): Promise<Declared> {
  const file = sourceFile(root, 'routes') ?? join(root, 'src/routes.tsx');
  const cure = 'let it import only types, ./texts and pages behind import()';
  const { routes = [], slots = [] } = await run<Declared>(file, cure);
  for (const { name } of slots) {
    const problem = slotProblem(name, routes);
    if (problem) console.warn(`${file}: ${problem}`);
  }
  const fixtures = sourceFile(root, 'fixtures');
  const { answers } = fixtures
    ? await run<Declared>(fixtures, 'let it import only types and plain functions')
    : { answers: undefined };
  const { liaozhai = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    liaozhai?: Pick<Declared, 'unopened' | 'contract'>;
  };
  return { routes, slots, answers, unopened: liaozhai.unopened, contract: liaozhai.contract };
}

/** What the description says for the gate. */
export const describeTrial = ({ answers, unopened }: Declared) => ({
  ...(answers && { answers: ANSWERS }),
  ...(unopened && { unopened }),
});
