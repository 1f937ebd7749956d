import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { hostRoutePaths, reservedSegments } from '@liaozhai/shared/contract';
import semver from 'semver';
import { buildFileHeaders, isCompressed } from '../builds/publish.ts';
import { type BuildRecord, buildFolder, isRemote, type RemoteRecord } from '../model/build.ts';
import { sha384Integrity } from '../model/signing.ts';
import { inlineContents, misplaced } from '../serve/renderPage.ts';
import type { Store } from '../store/store.ts';
import type { GateCheck, GateSubject } from './gate.ts';

const isChanged = (subject: GateSubject, record: BuildRecord): boolean =>
  subject.changed.some(({ id }) => id === record.id);

const FORMS = [
  { suffix: '', unpack: async (body: Buffer) => body },
  { suffix: '.br', unpack: promisify(brotliDecompress) },
  { suffix: '.gz', unpack: promisify(gunzip) },
] as const;

type Form = (typeof FORMS)[number];

async function formProblem(
  store: Store,
  key: string,
  integrity: string,
  { suffix, unpack }: Form,
): Promise<string | null> {
  const body = await store.read(`${key}${suffix}`);
  if (!body) return `${key}${suffix} is missing`;
  const plain = await unpack(body).catch(() => null);
  return plain && sha384Integrity(plain) === integrity ? null : `${key}${suffix} is not what was published`;
}

async function storedProblems(store: Store, record: BuildRecord): Promise<string[]> {
  const problems: string[] = [];
  for (const [path, file] of Object.entries(record.files)) {
    const forms = isCompressed(path) ? FORMS : FORMS.slice(0, 1);
    for (const form of forms) {
      const problem = await formProblem(store, `${buildFolder(record.id)}/${path}`, file.integrity, form);
      if (problem) problems.push(`${record.id}: ${problem}; publish it again as a new version`);
    }
  }
  return problems;
}

/** Every stored file of the new builds, in each of its compressed forms, is what was published. */
const storedFiles: GateCheck = {
  name: 'stored files',
  run: async ({ store, changed }) => (await Promise.all(changed.map((record) => storedProblems(store, record)))).flat(),
};

const EXPECTED = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

interface Named {
  path: string;
  kind: keyof typeof EXPECTED;
}

function codeOf({ description }: BuildRecord): Named[] {
  const named = (kind: Named['kind'], paths: readonly string[]): Named[] => paths.map((path) => ({ path, kind }));
  const own = [...named('js', [description.entry]), ...named('css', description.css)];
  if (description.kind === 'host')
    return [...own, ...named('js', description.serviceWorker ? [description.serviceWorker] : [])];
  const parts = [description.module, ...description.routes, ...description.slots];
  return [...own, ...parts.flatMap(({ js, css }) => [...named('js', js), ...named('css', css)])];
}

function headerProblems({ path, kind }: Named): string[] {
  const headers = buildFileHeaders(path);
  const problems: string[] = [];
  if (headers['content-type'] !== EXPECTED[kind])
    problems.push(
      `${path} would be served as ${headers['content-type']}, not ${EXPECTED[kind]}: rename it to end in .${kind}`,
    );
  if (headers['access-control-allow-origin'] !== '*') problems.push(`${path} would be served without CORS`);
  if (!headers['cache-control']?.includes('immutable')) problems.push(`${path} would be served without a long life`);
  return problems;
}

/** Scripts and stylesheets are served with the media type, CORS and cache headers that a page accepts. */
const servedHeaders: GateCheck = {
  name: 'served headers',
  run: async ({ changed }) =>
    changed.flatMap((record) =>
      codeOf(record).flatMap((named) => headerProblems(named).map((line) => `${record.id}: ${line}`)),
    ),
};

function sharingProblems(remote: RemoteRecord, provided: Readonly<Record<string, string>>): string[] {
  const { provides, requires } = remote.description.shared;
  const needs = Object.entries(requires).flatMap(([library, range]) => {
    const version = provided[library];
    if (!version)
      return [`needs ${library} ${range}, which the host does not share: bundle it, or release a host that shares it`];
    if (semver.satisfies(version, range)) return [];
    return [`needs ${library} ${range}, the host shares ${version}: widen the range, or release a host that has it`];
  });
  const own = Object.keys(provides).filter((library) => library in provided);
  const brings = own.map(
    (library) => `brings its own ${library} beside the host's single one: set import: false for it`,
  );
  return [...needs, ...brings].map((line) => `${remote.id}: ${line}`);
}

/** Share negotiation of the whole set: each singleton comes from the host and satisfies everyone. */
const sharing: GateCheck = {
  name: 'sharing',
  run: async ({ host, remotes }) =>
    remotes.flatMap((remote) => sharingProblems(remote, host.description.shared.provides)),
};

/** Every remote can run on this host's `shared/runtime`. */
const contract: GateCheck = {
  name: 'contract',
  run: async ({ host, remotes }) =>
    remotes
      .filter(({ description }) => !semver.satisfies(host.description.contract, description.contract))
      .map(
        ({ id, description }) =>
          `${id}: needs shared/runtime ${description.contract}, the host has ${host.description.contract}: release the host first`,
      ),
};

async function exposeProblems({ store }: GateSubject, { id, description }: RemoteRecord): Promise<string[]> {
  const problems: string[] = [];
  const { exposes, module, entry, global, chunkGlobal, routes, slots } = description;
  if (!exposes.includes('./remote')) problems.push('exposes no "./remote": expose src/remote.ts under that name');
  if (module.js.length === 0) problems.push('names no script of its exposed module in module.js');
  if (routes.length + slots.length === 0) problems.push('has neither a route nor a slot, so nobody could open it');
  const source = (await store.read(`${buildFolder(id)}/${entry}`))?.toString('utf8') ?? '';
  for (const [field, name] of Object.entries({ global, chunkGlobal }))
    if (!source.includes(name))
      problems.push(`its ${entry} does not contain the ${field} "${name}" that its description names`);
  return problems.map((line) => `${id}: ${line}`);
}

/** A remote exposes what the host loads, under the names it says. */
const exposes: GateCheck = {
  name: 'exposes',
  run: async (subject) => {
    const changed = subject.remotes.filter((remote) => isChanged(subject, remote));
    return (await Promise.all(changed.map((remote) => exposeProblems(subject, remote)))).flat();
  },
};

interface Claim {
  id: string;
  what: string;
  key: string;
}

const MOST_OPTIONAL = 3;
const segments = (path: string): string[] => path.split('/').slice(1);
const isOptional = (part: string): boolean => part.endsWith('?');

/** `/story/:id` and `/story/:storyId` are the same place; `/story/:id?` is two places. */
const shapes = (path: string): string[] =>
  segments(path)
    .reduce<string[]>(
      (forms, part) => [
        ...(isOptional(part) ? forms : []),
        ...forms.map((form) => `${form}/${part.startsWith(':') ? ':' : part}`),
      ],
      [''],
    )
    .map((form) => form || '/');

const RESERVED: readonly string[] = reservedSegments;

/** Why no page may lie at a path, whoever claims it. */
function pathProblem(path: string): string | null {
  const parts = segments(path);
  const [first = ''] = parts;
  if (first === '*') return 'would catch every address: name the paths';
  if (RESERVED.includes(first) || first.startsWith('_')) return 'belongs to the server: choose another';
  if (parts.some((part) => part.includes('.'))) return 'looks like a file to web servers: leave out the dot';
  if (parts.filter(isOptional).length > MOST_OPTIONAL) return `has more than ${MOST_OPTIONAL} optional parts: split it`;
  return null;
}

const claimsOf = ({ id, description }: RemoteRecord): Claim[] => [
  ...description.routes.flatMap(({ path }) =>
    [...new Set(shapes(path))].map((shape) => ({ id, what: `route ${path}`, key: `route ${shape}` })),
  ),
  ...description.routes.map(({ name }) => ({ id, what: `route name "${name}"`, key: `name ${name}` })),
  ...description.slots.map(({ name }) => ({ id, what: `slot "${name}"`, key: `slot ${name}` })),
];

const unfit = ({ id, description }: RemoteRecord): string[] =>
  description.routes.flatMap(({ path }) => {
    const problem = pathProblem(path);
    return problem ? [`${id}: route ${path} ${problem}`] : [];
  });

/** No route, route name or slot is claimed twice, and none of the host's or the server's. */
const routes: GateCheck = {
  name: 'routes',
  run: async ({ remotes }) => {
    const owners = new Map(
      Object.values(hostRoutePaths)
        .flatMap(shapes)
        .map((path) => [`route ${path}`, 'the host']),
    );
    const problems = remotes.flatMap(unfit);
    if (problems.length > 0) return problems;
    for (const { id, what, key } of remotes.flatMap(claimsOf)) {
      const owner = owners.get(key);
      if (owner) problems.push(`${id}: ${what} belongs to ${owner} already: choose another`);
      owners.set(key, owner ?? id);
    }
    return problems;
  },
};

const globalsOf = ({ description }: RemoteRecord): string[] => [description.global, description.chunkGlobal];

function others(remote: RemoteRecord, records: readonly BuildRecord[]): RemoteRecord[] {
  return records.filter(isRemote).filter(({ id }) => id !== remote.id);
}

const contentOf = (id: string): string => id.slice(id.lastIndexOf('+'));

const clash = (id: string, rival: string): string =>
  contentOf(id) === contentOf(rival)
    ? `has the very files of ${rival}, only its version is another: keep that one, or publish what you changed`
    : `shares a global with ${rival}: derive global and chunkGlobal from the hash of the sources`;

/** No two builds that can meet share a container or chunk global, or one would run the other's chunks. */
const globals: GateCheck = {
  name: 'globals',
  run: async ({ remotes, neighbours }) =>
    remotes.flatMap((remote) => {
      const mine = globalsOf(remote);
      if (mine[0] === mine[1])
        return [`${remote.id}: container and chunks share the global ${mine[0]}: give each its own`];
      const rivals = others(remote, [...remotes, ...neighbours]).filter((rival) =>
        globalsOf(rival).some((name) => mine.includes(name)),
      );
      return [...new Set(rivals.map(({ id }) => id))].map((id) => `${remote.id}: ${clash(remote.id, id)}`);
    }),
};

const KIB = 1024;

/** Brotli sizes that a phone on a slow line can bear. */
const BUDGET = { remoteEntryKib: 40, routeKib: 220, hostEntryKib: 180, hostPageKib: 40 } as const;

interface Load {
  what: string;
  paths: string[];
  limitKib: number;
}

function loadsOf({ description }: BuildRecord): Load[] {
  if (description.kind === 'host')
    return [
      { what: 'the host script', paths: [description.entry, ...description.css], limitKib: BUDGET.hostEntryKib },
      { what: 'the page template', paths: [description.template], limitKib: BUDGET.hostPageKib },
    ];
  const { entry, module } = description;
  const parts = [...description.routes, ...description.slots];
  return [
    { what: `the entry ${entry}`, paths: [entry], limitKib: BUDGET.remoteEntryKib },
    ...parts.map((part) => ({
      what: `everything "${part.name}" needs`,
      paths: [...new Set([entry, ...module.js, ...module.css, ...part.js, ...part.css])],
      limitKib: BUDGET.routeKib,
    })),
  ];
}

async function budgetProblems(store: Store, record: BuildRecord): Promise<string[]> {
  const size = async (path: string) =>
    (await store.read(`${buildFolder(record.id)}/${path}.br`))?.length ?? record.files[path]?.size ?? 0;
  const lines = loadsOf(record).map(async ({ what, paths, limitKib }) => {
    const kib = (await Promise.all(paths.map(size))).reduce((sum, bytes) => sum + bytes, 0) / KIB;
    return kib > limitKib
      ? [`${record.id}: ${what} weighs ${kib.toFixed(1)} KiB br, the budget is ${limitKib}: load parts of it lazily`]
      : [];
  });
  return (await Promise.all(lines)).flat();
}

/** Entry, routes and page stay within their size budgets. */
const budget: GateCheck = {
  name: 'size budget',
  run: async ({ store, changed }) => (await Promise.all(changed.map((record) => budgetProblems(store, record)))).flat(),
};

function templateProblems(template: string): string[] {
  const problems = misplaced(template).map((name) => `must hold <!--lz:${name}--> exactly once`);
  if (!/^\s*<!doctype html>/i.test(template)) problems.push('must begin with <!doctype html>');
  const scripts = inlineContents(template, 'script').length;
  if (scripts < 1 || scripts > 2)
    problems.push(`must hold the loader and, at most, the appearance as inline scripts, not ${scripts}`);
  if (/<script\b[^>]*\bsrc\s*=/i.test(template))
    problems.push('must not name a script by address: the loader appends the host');
  const markup = template.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, '');
  if (/\son[a-z]+\s*=\s*["']/i.test(markup))
    problems.push('must not hold inline event handlers: the policy forbids them');
  if (/\sstyle\s*=\s*["']/i.test(markup)) problems.push('must not hold style attributes: the policy forbids them');
  return problems;
}

/** The host's page template can be filled, and keeps to the content security policy. */
const hostPage: GateCheck = {
  name: 'host page',
  run: async (subject) => {
    const { store, host } = subject;
    if (!isChanged(subject, host)) return [];
    const template = await store.read(`${buildFolder(host.id)}/${host.description.template}`);
    const problems = template ? templateProblems(template.toString('utf8')) : ['is missing from the store'];
    return problems.map((line) => `${host.id}: ${host.description.template} ${line}`);
  },
};

/** Everything that can be judged without opening a browser. */
export const STATIC_CHECKS: readonly GateCheck[] = [
  storedFiles,
  servedHeaders,
  sharing,
  contract,
  exposes,
  routes,
  globals,
  budget,
  hostPage,
];
