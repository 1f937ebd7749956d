// Checks the types of all sources, and that every class named by a component exists in its CSS module. The bundler types every
// name as a string, so a typo would be `undefined`: this check generates exact types of the modules.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, walk } from 'css-tree';
import { report } from './report.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const generated = join(root, 'node_modules/.cache/types');

const modules = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--deduplicate', '*.module.css'], {
  cwd: root,
  encoding: 'utf8',
});

function typeOf(css: string): string {
  const classes = new Set<string>();
  walk(parse(css), (node) => {
    if (node.type === 'ClassSelector') classes.add(node.name);
  });
  const members = [...classes].map((name) => `readonly ${JSON.stringify(name)}: string`);
  return `declare const styles: { ${members.join('; ')} };\nexport default styles;\n`;
}

rmSync(generated, { recursive: true, force: true });
for (const path of modules.trim().split('\n')) {
  const file = join(generated, path.replace(/\.css$/, '.d.css.ts'));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeOf(readFileSync(join(root, path), 'utf8')));
}
const up = relative(generated, root);
const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { include: string[] };
const tsconfig = {
  extends: `${up}/tsconfig.json`,
  compilerOptions: { rootDirs: ['.', up], allowArbitraryExtensions: true },
  include: include.map((path) => `${up}/${path}`),
  exclude: ['**/node_modules', '**/dist', '**/.data'].map((path) => `${up}/${path}`),
};
writeFileSync(join(generated, 'tsconfig.json'), JSON.stringify(tsconfig));

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const { stdout, stderr } = spawnSync(process.execPath, [compiler, '--noEmit', '--pretty', 'false', '-p', generated], {
  cwd: root,
  encoding: 'utf8',
});
if (stderr) throw new Error(stderr);
report('types', stdout.trim() ? stdout.trim().split('\n') : []);
