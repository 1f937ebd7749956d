// Checks that every remote has the same layout, and that no package reaches into another by a relative path.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registeredRemotes } from '../../shared/src/build/registry.ts';
import { report } from './report.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const requiredFiles = [
  'README.md',
  'package.json',
  'rsbuild.config.ts',
  'src/remote.ts',
  'src/routes.tsx',
  'src/texts.ts',
  'src/fixtures.ts',
];
/** Each is a file, or a folder once it covers several concepts; never both. */
const fileOrFolder = ['api', 'model'];
const allowedInSrc = new Set([
  ...requiredFiles.filter((file) => file.startsWith('src/')).map((file) => basename(file)),
  'slice.ts',
  'prerender.tsx',
  'pages',
  'components',
  'testing',
  ...fileOrFolder.flatMap((name) => [name, `${name}.ts`]),
  'chat.d.ts',
]);

function* below(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'dist') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* below(path);
    else yield path;
  }
}

const registered = registeredRemotes(root);
const folders = readdirSync(join(root, 'remotes'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const problems: string[] = [];

const closingHeading = '## Run it alone';
const template = readFileSync(join(root, 'templates/remote/README.md'), 'utf8');
const closing = template.slice(template.indexOf(closingHeading));

for (const name of folders)
  if (!registered.some((remote) => remote.name === name))
    problems.push(`remotes/${name} is not in remotes.json: register it there`);
const ports = registered.map((remote) => remote.devPort);
if (new Set(ports).size !== ports.length)
  problems.push('remotes.json: two remotes have the same devPort: give each its own');

for (const { name } of registered) {
  const folder = join(root, 'remotes', name);
  const shown = (path: string) => path.slice(root.length + 1);
  if (!existsSync(folder)) {
    problems.push(
      `remotes.json names "${name}", but remotes/${name} is missing: create it with pnpm new-remote ${name} <label>`,
    );
    continue;
  }
  for (const file of requiredFiles)
    if (!existsSync(join(folder, file)))
      problems.push(`remotes/${name}/${file} is missing: every remote has it (see docs/patterns.md)`);
  for (const part of fileOrFolder) {
    const forms = [`src/${part}.ts`, `src/${part}`].filter((path) => existsSync(join(folder, path)));
    if (forms.length === 0)
      problems.push(`remotes/${name}/src/${part}.ts is missing: every remote has it, or a folder`);
    if (forms.length > 1) problems.push(`remotes/${name}: ${forms.join(' next to ')}: put the file into the folder`);
  }
  const readme = join(folder, 'README.md');
  if (existsSync(readme) && !readFileSync(readme, 'utf8').endsWith(closing.replaceAll('sample', name)))
    problems.push(`${shown(readme)}: let it end as templates/remote/README.md does, from "${closingHeading}" on`);
  const config = join(folder, 'rsbuild.config.ts');
  if (existsSync(config) && !readFileSync(config, 'utf8').includes(`remoteConfig('${name}')`))
    problems.push(`${shown(config)}: let it be one line, export default remoteConfig('${name}')`);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  if (manifest.name !== `@liaozhai/${name}`)
    problems.push(`remotes/${name}/package.json: name must be @liaozhai/${name}`);
  for (const entry of readdirSync(join(folder, 'src'))) {
    if (!allowedInSrc.has(entry.replace('.test.', '.')))
      problems.push(
        `remotes/${name}/src/${entry} has no place in a remote: move it to pages, components, api or model`,
      );
  }
  for (const file of below(join(folder, 'src/pages'))) {
    const base = basename(file);
    const isPage = /^[A-Z][A-Za-z]+Page((\.[a-z]+)?\.test)?\.tsx$|^[A-Z][A-Za-z]+Page\.module\.css$/.test(base);
    const isHook = /^[a-z][A-Za-z]+(\.test)?\.ts$/.test(base);
    if (!isPage && !isHook)
      problems.push(`${shown(file)}: pages are named NounVerbPage.tsx; parts of a page belong into components/`);
  }
  const routes = readFileSync(join(folder, 'src/routes.tsx'), 'utf8');
  const imports = routes.match(/import\(/g)?.length ?? 0;
  const named = routes.match(/webpackChunkName:/g)?.length ?? 0;
  if (imports !== named)
    problems.push(`remotes/${name}/src/routes.tsx: each import() needs /* webpackChunkName: "<route or slot name>" */`);
}

/** Lint names the packages that may be imported, and sees no relative path to another one. Tests and their helpers are free. */
const isProductSource = (path: string) => /\.tsx?$/.test(path) && !/\.(test|config)\.|\/(testing|test)\//.test(path);
for (const name of [
  'backend',
  'host',
  'releases',
  'shared',
  'shared/http',
  'shared/telemetry',
  ...folders.map((remote) => `remotes/${remote}`),
]) {
  const folder = join(root, name);
  for (const file of [...below(folder)].filter(isProductSource)) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.\.?\/[^']+)'/g))
      if (relative(folder, join(dirname(file), path)).startsWith('..'))
        problems.push(
          `${relative(root, file)} imports ${path}, a file of another package: import what its package exports`,
        );
  }
}

report('remotes', problems);
