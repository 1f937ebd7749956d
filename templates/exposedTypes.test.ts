import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rspack } from '@rsbuild/core';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { writeHost } from '../releases/src/testing/openTestStore.ts';
import { runCommand } from '../releases/src/testing/runCommand.ts';
import { RemotePlugin } from '../shared/src/build/remotePlugin.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '..');
const shared = join(repository, 'shared');
const tsc = join(repository, 'node_modules/typescript/bin/tsc');
let folder = '';

/** Creates a repository with the template's TypeScript configuration and these files. */
function layOut(name: string, files: Record<string, string>): string {
  const root = join(folder, name);
  for (const library of [
    'react',
    '@types/react',
    '@rsbuild/core',
    '@module-federation/enhanced',
    '@module-federation/runtime',
  ]) {
    mkdirSync(dirname(join(root, 'node_modules', library)), { recursive: true });
    symlinkSync(join(shared, 'node_modules', library), join(root, 'node_modules', library));
  }
  symlinkSync(join(repository, 'node_modules/typescript'), join(root, 'node_modules/typescript'));
  cpSync(join(repository, 'templates/outside/tsconfig.json'), join(root, 'tsconfig.json'));
  const all = { 'package.json': JSON.stringify({ name, version: '1.0.0', type: 'module' }), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const stories = {
  'src/routes.ts': 'export const routes = [];',
  'src/remote.ts': "import { routes } from './routes'; export default { name: 'stories', routes };",
  'src/ribbon.ts': `import type { Colour } from './colours';
    import { inkOf } from './inks';
    export const tie = (colour: Colour, loops: number): string => inkOf(colour).repeat(loops);
    export default tie;`,
  'src/colours.ts': `export type Colour = 'red' | 'gold';`,
  'src/inks.ts': `export interface Secret { recipe: string }
    export const inkOf = (colour: string): string => colour;`,
};

const build = (root: string, exposes: Record<string, string>) =>
  new Promise<string>((resolve, reject) =>
    rspack(
      {
        context: root,
        mode: 'production',
        output: { path: join(root, 'dist') },
        resolve: { extensions: ['.ts', '.js'] },
        module: {
          rules: [
            {
              test: /\.ts$/,
              type: 'javascript/auto',
              loader: 'builtin:swc-loader',
              options: { jsc: { parser: { syntax: 'typescript' } } },
            },
          ],
        },
        plugins: [new RemotePlugin({ name: 'stories', label: '故事', exposes })],
      },
      (failure, stats) => (failure ? reject(failure) : resolve(stats?.toString({ all: false, errors: true }) ?? '')),
    ),
  );

const release = async (...words: string[]) => {
  const { code, out, err } = await runCommand(words, {
    RELEASES_STORE: `file:${folder}/store`,
    RELEASES_SMOKE: 'off',
    RELEASES_WHO: 'tester',
  });
  if (code !== 0) throw new Error(err);
  return out;
};

/** Returns the compiler's output. Throws if the compiler failed without any. */
function complaints(root: string): string {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [tsc, '--singleThreaded', '--pretty', 'false'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (stderr || (status !== 0 && !stdout)) throw new Error(`tsc ended with ${status ?? signal}: ${stderr}`);
  return stdout;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'exposed-types-'));
  await release('init');
  await release('activate', (await release('publish', await writeHost(`${folder}/host`, 'a'))).trim());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("another team's calls of an exposed function are checked against the build that is live", async () => {
  const root = layOut('stories', stories);
  expect(await build(root, { './Ribbon': './src/ribbon' })).toBe('');
  await release('publish', join(root, 'dist'));
  await release('activate', 'stories@1.0.0', '--force', '--why', 'the host of this test provides nothing');
  const other = layOut('gifts', {
    'src/wrap.ts': `import { loadRemote } from '@module-federation/enhanced/runtime';
      export const wrap = async () => {
        const { tie, default: same } = await import('stories/Ribbon');
        const late = await loadRemote('stories/Ribbon');
        return [tie('red', 2), same('gold', 1), late?.tie('gold', 3).trim()];
      };`,
  });
  expect(complaints(other)).toContain("Cannot find module 'stories/Ribbon'");
  expect(await release('types', 'stories', '--out', join(other, '@mf-types'))).toMatch(
    /^stories@1\.0\.0\S+: stories\/Ribbon\n$/,
  );
  expect(complaints(other)).toBe('');
  writeFileSync(
    join(other, 'src/wrong.ts'),
    `import { loadRemote } from '@module-federation/enhanced/runtime';
    export const wrong = async () => (await import('stories/Ribbon')).tie('blue', 2);
    export const late = async () => (await loadRemote('stories/Ribbon'))?.tie('red', '3');`,
  );
  expect(complaints(other).trim().split('\n')).toEqual([
    expect.stringMatching(/^src\/wrong\.ts\(2,\d+\): .*'"blue"' is not assignable to parameter of type 'Colour'/),
    expect.stringMatching(/^src\/wrong\.ts\(3,\d+\): .*'string' is not assignable to parameter of type 'number'/),
  ]);
});

test('only what the exposed modules name travels, and no page loads it', async () => {
  const root = layOut('stories', stories);
  await build(root, { './Ribbon': './src/ribbon' });
  await release('publish', join(root, 'dist'));
  await release('activate', 'stories@1.0.0', '--force', '--why', 'the host of this test provides nothing');
  await release('types', 'stories', '--out', join(folder, 'types'));
  await release('types', 'stories', '--out', join(folder, 'types'));
  await expect(release('types', 'stories', '--out', folder)).rejects.toThrow('was not written by this command');
  const written = readdirSync(join(folder, 'types'), { recursive: true, encoding: 'utf8' });
  expect(written.filter((file) => file.endsWith('.ts')).sort()).toEqual([
    'loadRemote/stories.d.ts',
    'stories/Ribbon.d.ts',
    'stories/compiled-types/src/colours.d.ts',
    'stories/compiled-types/src/ribbon.d.ts',
  ]);
});

test('a build without types is refused with what cures it', async () => {
  const root = layOut('stories', stories);
  await build(root, {});
  await release('publish', join(root, 'dist'));
  await expect(release('types', 'stories')).rejects.toThrow('no build of "stories" is live');
  await expect(release('types', 'stories@1.0.0')).rejects.toThrow('names modules in `exposes` of its build');
});

test('an exposed path that is no source file stops the build by its name', async () => {
  const root = layOut('stories', stories);
  await expect(build(root, { './Ribbon': './src/bow' })).rejects.toThrow('./src/bow is exposed, but is no source file');
});
