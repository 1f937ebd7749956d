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
  // the browsers' figures that webpack's tests bring; nothing of them is in a build
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

/** What in a lockfile comes from elsewhere than the registry, or comes unchecked. One line each. */
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

/** What a package does that was not agreed to: a licence off the list, an install script that is allowed nowhere. */
export function disagreements({ name, license = 'none', scripts = {} }: Manifest, answered: ReadonlySet<string>) {
  const ran = installScripts.filter((script) => scripts[script] && !answered.has(name));
  return [
    ...(licences.has(license) ? [] : [`${name}: licence ${license}`]),
    ...ran.map((script) => `${name}: ${script} script`),
  ];
}

/** Manifests of every package that pnpm laid out below `store`. */
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

/** The secrets that a text seems to carry, by their form. */
export const secretsIn = (text: string): string[] => secretForms.flatMap((form) => form.exec(text)?.[0] ?? []);
