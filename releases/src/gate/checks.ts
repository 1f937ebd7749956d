import { emptySlots, slotProblem } from '@liaozhai/shared/contract';
import semver from 'semver';
import { buildFileHeaders } from '../builds/publish.ts';
import { storedProblems } from '../builds/storedFiles.ts';
import { type BuildRecord, buildFolder, codeHashes, type RemoteRecord } from '../model/build.ts';
import { inlineContents, misplaced } from '../serve/renderPage.ts';
import type { Store } from '../store/store.ts';
import { FIT_RULES } from './fit.ts';
import type { GateCheck, GateSubject } from './gate.ts';
import { sharingNotes } from './sharedLibraries.ts';

const isChanged = (subject: GateSubject, record: BuildRecord): boolean =>
  subject.changed.some(({ id }) => id === record.id);

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

async function exposeProblems({ store }: GateSubject, { id, description }: RemoteRecord): Promise<string[]> {
  const problems: string[] = [];
  const { exposes, module, entry, entryType, chunkGlobal, routes, slots } = description;
  // an ES module is known by its address, and sets no global
  const global = entryType ? undefined : description.global;
  if (!exposes.includes('./remote')) problems.push('exposes no "./remote": expose src/remote.ts under that name');
  if (module.js.length === 0) problems.push('names no script of its exposed module in module.js');
  if (routes.length + slots.length === 0) problems.push('has neither a route nor a slot, so nobody could open it');
  const source = (await store.read(`${buildFolder(id)}/${entry}`))?.toString('utf8') ?? '';
  const words = new Set(source.match(/[\w$]+/g));
  for (const [field, name] of Object.entries({ global, chunkGlobal }))
    if (name !== undefined && !words.has(name))
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

const KIB = 1024;

/** Brotli sizes that a phone on a slow line can bear. */
const BUDGET = {
  remoteEntryKib: 40,
  /** Repetitive code compresses well, and a phone still has to parse all of it. */
  entryUnpackedKib: 512,
  routeKib: 220,
  hostEntryKib: 180,
  hostPageKib: 40,
  hashesKib: 8,
  codeKib: 1024,
} as const;

/** What a build costs readers who never open it: a hash of each file in every page, and all its code in a guest's worker. */
async function wholeProblems(record: BuildRecord, size: (path: string) => Promise<number>): Promise<string[]> {
  const hashes = codeHashes(record);
  const paths = Object.keys(hashes).map((path) => path.slice(buildFolder(record.id).length + 2));
  const hashesKib = JSON.stringify(hashes).length / KIB;
  const codeKib = (await Promise.all(paths.map(size))).reduce((sum, bytes) => sum + bytes, 0) / KIB;
  return [
    ...(hashesKib > BUDGET.hashesKib
      ? [
          `${record.id}: its ${paths.length} scripts and stylesheets put ${hashesKib.toFixed(1)} KiB of hashes into every page, the budget is ${BUDGET.hashesKib}: merge small chunks`,
        ]
      : []),
    ...(codeKib > BUDGET.codeKib
      ? [
          `${record.id}: its code weighs ${codeKib.toFixed(0)} KiB br in all, the budget is ${BUDGET.codeKib}: leave out libraries, or split the remote`,
        ]
      : []),
  ];
}

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

function unpackedProblems({ id, description, files }: BuildRecord): string[] {
  const kib = (files[description.entry]?.size ?? 0) / KIB;
  const limit = BUDGET.entryUnpackedKib;
  if (description.kind === 'host' || kib <= limit) return [];
  const { entry } = description;
  return [
    `${id}: the entry ${entry} has ${kib.toFixed(0)} KiB to parse, the budget is ${limit}: load parts of it lazily`,
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
  return [...(await Promise.all(lines)).flat(), ...unpackedProblems(record), ...(await wholeProblems(record, size))];
}

/** Entry, routes, page and the build as a whole stay within their size budgets. */
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

/** Builds that run together fit, as far as this change is what keeps them from it. */
const fitChecks = FIT_RULES.map(
  ({ check, find }): GateCheck => ({
    name: check,
    run: async ({ host, remotes, neighbours, known }) =>
      find({ host, remotes, neighbours })
        .filter(({ key }) => !known.has(key))
        .map(({ problem }) => problem),
  }),
);

const CORE = '_FEDERATION_RUNTIME_CORE';
/** The first federation whose builds can take the host's core. */
const FIRST_OF_CORE = '0.24.0';

/** Versions of federation may differ. An entry that takes the host's core needs one of its own major version. */
const federation: GateCheck = {
  name: 'federation',
  run: async (subject, note) => {
    const ofHost = subject.host.description.federation;
    const problems: string[] = [];
    for (const { id, description } of subject.remotes.filter((remote) => isChanged(subject, remote))) {
      const own = description.federation;
      const entry = await subject.store.read(`${buildFolder(id)}/${description.entry}`);
      if (!entry?.includes(CORE)) continue;
      if (semver.major(own) > semver.major(ofHost) || semver.lt(own, FIRST_OF_CORE))
        problems.push(
          `${id}: an entry of federation ${own} cannot take the host's core of ${ofHost}: build it without experiments.externalRuntime, or with another version`,
        );
      else if (semver.gt(own, ofHost))
        note(`${id} is built with federation ${own} and takes the host's core of ${ofHost}: the browser check decides`);
    }
    return problems;
  },
};

/** Problems of sharing are those of fitting together; this reports what is shared and what a second copy costs. */
const sharedLibraries: GateCheck = {
  name: 'shared libraries',
  run: async (subject, note) => {
    for (const line of await sharingNotes(subject)) note(line);
    return [];
  },
};

/** Names of slots that no page has, and slots of the product that stay empty. */
const slots: GateCheck = {
  name: 'slots',
  run: async ({ remotes, changed }, note) => {
    for (const { id, description } of remotes.filter((remote) => changed.includes(remote)))
      for (const { name } of description.slots) {
        const problem = slotProblem(name, description.routes);
        if (problem) note(`${id}: ${problem}`);
      }
    const filled = remotes.flatMap(({ description }) => description.slots.map(({ name }) => name));
    const empty = emptySlots(filled);
    if (empty.length > 0) note(`no build of the set fills ${empty.map((name) => `"${name}"`).join(', ')}`);
    return [];
  },
};

/** Everything that can be judged without opening a browser. */
export const STATIC_CHECKS: readonly GateCheck[] = [
  storedFiles,
  servedHeaders,
  ...fitChecks,
  exposes,
  slots,
  federation,
  sharedLibraries,
  budget,
  hostPage,
];
