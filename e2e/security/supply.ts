import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const licences = new Set([
  '(MIT AND Zlib)',
  '(MIT OR Apache-2.0)',
  '(MIT OR GPL-3.0-or-later)',
  '(MPL-2.0 OR Apache-2.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  // caniuse-lite, a dependency of webpack, which is used only in tests; no build contains it
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT AND OFL-1.1',
  'MIT OR Apache-2.0',
  'MPL-2.0',
  'PSF-2.0',
  'Unlicense',
]);
const installScripts = ['preinstall', 'install', 'postinstall'] as const;

interface Manifest {
  name: string;
  license?: string;
  scripts?: Record<string, string>;
}

/** Lines of a lockfile about sources outside of the registry, or without a checksum. */
export function foreignSources(lockfile: string): string[] {
  return lockfile
    .split('\n')
    .filter((line) => /^\s+(resolution|specifier|version):/.test(line))
    .filter(
      (line) =>
        /tarball:|repo:|git\+|git@|github:|https?:|file:/.test(line) ||
        (line.includes('resolution:') && !/\{integrity: sha512-[\w+/]+=*\}/.test(line)),
    )
    .map((line) => line.trim());
}

/** Violations of a package: a licence that is not on the list, or an install script without a decision. */
export function disagreements({ name, license = 'none', scripts = {} }: Manifest, answered: ReadonlySet<string>) {
  const ran = installScripts.filter((script) => scripts[script] && !answered.has(name));
  return [
    ...(licences.has(license) ? [] : [`${name}: licence ${license}`]),
    ...ran.map((script) => `${name}: ${script} script`),
  ];
}

/** Yields the manifests of all packages that pnpm installed below `store`. */
export function* installedPackages(store: string): Generator<Manifest> {
  for (const place of readdirSync(store)) {
    const modules = join(store, place, 'node_modules');
    if (place === 'node_modules' || !lstatSync(join(store, place)).isDirectory()) continue;
    for (const name of packageNames(modules)) {
      const folder = join(modules, name);
      if (lstatSync(folder).isSymbolicLink()) continue;
      yield JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    }
  }
}

const packageNames = (modules: string) =>
  readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : [name],
    );

const secretForms = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /"d"\s*:\s*"[\w-]{43}"/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bgh[pousr]_\w{36}\b/,
  /\bsk-[A-Za-z0-9_-]{20,}\b/,
  /\b(AI_API_KEY|RELEASES_TOKEN|AWS_SECRET_ACCESS_KEY|APP_KEY|REVERB_APP_SECRET|CONSOLE_OIDC_CLIENT_SECRET)\b/,
];

export const secretsIn = (text: string): string[] => secretForms.flatMap((form) => form.exec(text)?.[0] ?? []);
