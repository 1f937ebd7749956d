import { type PageBuild, type SetBody, setBodySchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { refused } from '../errors.ts';
import {
  type BuildRecord,
  type HostRecord,
  isHost,
  isRemote,
  issuesOf,
  parseJson,
  type RemoteRecord,
} from './build.ts';
import { buildFolder } from './ids.ts';
import { canonicalJson, sha256Hex } from './signing.ts';

export const HOST_NAME = 'host';
const CODE = /\.(?:m?js|css)$/;
const unique = (paths: string[]): string[] => [...new Set(paths)];

/** Absolute path → integrity, for every script and stylesheet of a build. */
export function codeHashes(record: BuildRecord): Record<string, string> {
  const root = `/${buildFolder(record.id)}`;
  const code = Object.entries(record.files).filter(([path]) => CODE.test(path));
  return Object.fromEntries(code.map(([path, file]) => [`${root}/${path}`, file.integrity]));
}

/** A remote's build as the page needs it: each route and slot with all files it takes to show it. */
export function pageBuild(record: RemoteRecord): PageBuild {
  const { description } = record;
  const at = (path: string) => `/${buildFolder(record.id)}/${path}`;
  const preload = (own: { js: string[]; css: string[] }) => ({
    js: unique([description.entry, ...description.module.js, ...own.js]).map(at),
    css: unique([...description.module.css, ...own.css]).map(at),
  });
  return {
    id: record.id,
    label: description.label,
    entry: at(description.entry),
    global: description.global,
    contract: description.contract,
    routes: description.routes.map(({ js, css, ...route }) => ({ ...route, preload: preload({ js, css }) })),
    slots: description.slots.map(({ js, css, name }) => ({ name, preload: preload({ js, css }) })),
  };
}

function pageHost(record: HostRecord): SetBody['host'] {
  const { description } = record;
  const at = (path: string) => `/${buildFolder(record.id)}/${path}`;
  return {
    id: record.id,
    entry: at(description.entry),
    contract: description.contract,
    federation: description.federation,
    css: description.css.map(at),
    template: at(description.template),
    templateIntegrity: record.files[description.template]?.integrity ?? '',
    serviceWorker: description.serviceWorker ? at(description.serviceWorker) : null,
  };
}

/** Who may publish `account` must not become the host by calling that package one. Throws refused. */
function assertNamedByKind(records: readonly BuildRecord[]): void {
  const misnamed = records.find((record) => isHost(record) !== (record.description.name === HOST_NAME));
  if (misnamed)
    throw refused(
      `${misnamed.id} is a ${misnamed.description.kind}: the host build, and no other, is named "${HOST_NAME}"`,
      'Set `kind` and `name` right in its liaozhai.json and publish it again.',
    );
}

/** The set of these builds: exactly one host, at most one build per name. Throws refused. */
export function makeSet(records: readonly BuildRecord[]): SetBody {
  assertNamedByKind(records);
  const [host, second] = records.filter(isHost);
  if (second) throw refused(`a set has one host build, and ${second.id} is a second one`, 'Name only one of them.');
  if (!host)
    throw refused('a set needs a host build', 'Publish the host and name it too: `activate host@… stories@… …`.');
  const remotes = records.filter(isRemote).sort((a, b) => (a.description.name < b.description.name ? -1 : 1));
  return {
    format: 1,
    host: pageHost(host),
    remotes: Object.fromEntries(remotes.map((record) => [record.description.name, pageBuild(record)])),
    hashes: Object.assign({}, codeHashes(host), ...remotes.map(codeHashes)),
  };
}

/** The first 160 bits of the SHA-256 over the canonical JSON, as hex. */
export const setHash = (body: SetBody): string => sha256Hex(canonicalJson(body)).slice(0, 40);

/** Reads a stored set and checks it against the hash it is stored under. Throws refused. */
export function parseSet(source: string, hash: string): SetBody {
  const parsed = v.safeParse(setBodySchema, parseJson(source, `set ${hash}`, 'Roll back to another state.'));
  if (!parsed.success) throw refused(`set ${hash} is damaged`, 'Roll back to another state.', issuesOf(parsed.issues));
  if (setHash(parsed.output) !== hash)
    throw refused(`set ${hash} was changed after it was made`, 'Roll back to another state.');
  return parsed.output;
}
