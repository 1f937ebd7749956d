import { emptySlots, slotProblem } from '@liaozhai/shared/contract';
import semver from 'semver';
import * as v from 'valibot';
import { buildFileHeaders, storedProblems } from '../builds/files.ts';
import { type BuildRecord, buildFolder, codeHashes, isHost, isRemote, type RemoteRecord } from '../model/build.ts';
import { parseOrNull } from '../model/documents.ts';
import { type Check, say } from '../sentences.ts';
import { inlineContents, misplacedMarks } from '../serve/renderPage.ts';
import type { Store } from '../store/store.ts';
import { attributeTo, FIT_RULES } from './fit.ts';
import type { GateCheck } from './gate.ts';
import { sharingNotes } from './sharedLibraries.ts';

const isBuild = (_: BuildRecord): _ is BuildRecord => true;

/** A check of each build that the change adds, on its own. */
const checkEach = <Checked extends BuildRecord>(
  name: Check,
  isMeant: (record: BuildRecord) => record is Checked,
  find: (record: Checked, store: Store) => string[] | Promise<string[]>,
): GateCheck => ({
  name,
  run: async ({ store, changed }) => {
    const problems = changed
      .filter(isMeant)
      .map(async (record) => (await find(record, store)).map((problem) => attributeTo(record.id, problem)));
    return (await Promise.all(problems)).flat();
  },
});

/** Checks that every stored file of the new builds, and each compressed form, is what was published. */
const storedFiles: GateCheck = {
  name: 'stored files',
  run: async ({ store, changed }) => (await Promise.all(changed.map((record) => storedProblems(store, record)))).flat(),
};

const EXPECTED = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

interface NamedFile {
  path: string;
  kind: keyof typeof EXPECTED;
}

function codeOf({ description }: BuildRecord): NamedFile[] {
  const named = (kind: NamedFile['kind'], paths: readonly string[]): NamedFile[] =>
    paths.map((path) => ({ path, kind }));
  const ownFiles = [...named('js', [description.entry]), ...named('css', description.css)];
  if (description.kind === 'host')
    return [...ownFiles, ...named('js', description.serviceWorker ? [description.serviceWorker] : [])];
  const parts = [description.module, ...description.routes, ...description.slots];
  return [...ownFiles, ...parts.flatMap(({ js, css }) => [...named('js', js), ...named('css', css)])];
}

function typeProblems({ path, kind }: NamedFile): string[] {
  const { 'content-type': type = '' } = buildFileHeaders(path);
  return type === EXPECTED[kind] ? [] : [say('servedAs', { file: path, type, expected: EXPECTED[kind], kind })];
}

/** Checks that scripts and stylesheets have the media type that pages need. The other headers are the same for every file. */
const servedHeaders = checkEach('served headers', isBuild, (record) => codeOf(record).flatMap(typeProblems));

/** Checks that a remote exposes what the host loads, under the names in its description. */
const exposes = checkEach('exposes', isRemote, async ({ id, description }, store) => {
  const problems: string[] = [];
  const { label, exposes, module, entry, entryType, chunkGlobal, routes, slots } = description;
  // an ES module is identified by its address and sets no global
  const global = entryType ? undefined : description.global;
  if (!exposes.includes('./remote')) problems.push(say('exposesNothing'));
  if (module.js.length === 0) problems.push(say('moduleUnnamed'));
  if (!/[^\s\p{C}]/u.test(label)) problems.push(say('labelBlank'));
  if (routes.length + slots.length === 0) problems.push(say('nothingToOpen'));
  const source = (await store.read(`${buildFolder(id)}/${entry}`))?.toString('utf8') ?? '';
  const words = new Set(source.match(/[\w$]+/g));
  for (const [field, name] of Object.entries({ global, chunkGlobal }))
    if (name !== undefined && !words.has(name)) problems.push(say('globalMissing', { file: entry, field, name }));
  return problems;
});

const KIB = 1024;

/** Size limits for phones on slow networks, in KiB, compressed with brotli. */
const BUDGET = {
  remoteEntryKib: 40,
  /** Uncompressed, because a phone has to parse repetitive code in full. */
  entryUnpackedKib: 512,
  routeKib: 220,
  hostEntryKib: 180,
  hostPageKib: 40,
  hashesKib: 8,
  codeKib: 1024,
} as const;

/** Limits costs for visitors who never open the build: its hashes in every page, and all its code in a guest's worker. */
async function wholeBuildProblems(record: BuildRecord, size: (path: string) => Promise<number>): Promise<string[]> {
  const hashes = codeHashes(record);
  const paths = Object.keys(hashes).map((path) => path.slice(buildFolder(record.id).length + 2));
  const hashesKib = JSON.stringify(hashes).length / KIB;
  const codeKib = (await Promise.all(paths.map(size))).reduce((sum, bytes) => sum + bytes, 0) / KIB;
  return [
    ...(hashesKib > BUDGET.hashesKib
      ? [say('hashesTooLarge', { count: paths.length, kib: hashesKib.toFixed(1), limit: BUDGET.hashesKib })]
      : []),
    ...(codeKib > BUDGET.codeKib ? [say('codeTooLarge', { kib: codeKib.toFixed(0), limit: BUDGET.codeKib })] : []),
  ];
}

function loadsOf({ description }: BuildRecord) {
  if (description.kind === 'host')
    return [
      { part: say('hostScript'), paths: [description.entry, ...description.css], limitKib: BUDGET.hostEntryKib },
      { part: say('pageTemplate'), paths: [description.template], limitKib: BUDGET.hostPageKib },
    ];
  const { entry, module } = description;
  const parts = [...description.routes, ...description.slots];
  return [
    { part: say('entry', { file: entry }), paths: [entry], limitKib: BUDGET.remoteEntryKib },
    ...parts.map((part) => ({
      part: say('partNeeds', { name: part.name }),
      paths: [...new Set([entry, ...module.js, ...module.css, ...part.js, ...part.css])],
      limitKib: BUDGET.routeKib,
    })),
  ];
}

function unpackedProblems({ description, files }: BuildRecord): string[] {
  const kib = (files[description.entry]?.size ?? 0) / KIB;
  const limit = BUDGET.entryUnpackedKib;
  if (description.kind === 'host' || kib <= limit) return [];
  return [say('entryTooLarge', { file: description.entry, kib: kib.toFixed(0), limit })];
}

/** Checks the size budgets of entry, routes, page and the whole build. */
const budget = checkEach('size budget', isBuild, async (record, store) => {
  const size = async (path: string) =>
    (await store.read(`${buildFolder(record.id)}/${path}.br`))?.length ?? record.files[path]?.size ?? 0;
  const lines = loadsOf(record).map(async ({ part, paths, limitKib }) => {
    const kib = (await Promise.all(paths.map(size))).reduce((sum, bytes) => sum + bytes, 0) / KIB;
    return kib > limitKib ? [say('partTooLarge', { part, kib: kib.toFixed(1), limit: limitKib })] : [];
  });
  const problems = [...(await Promise.all(lines)).flat(), ...unpackedProblems(record)];
  return [...problems, ...(await wholeBuildProblems(record, size))];
});

function templateProblems(file: string, template: string): string[] {
  const problems = misplacedMarks(template).map((name) => say('templateMark', { file, mark: `<!--lz:${name}-->` }));
  if (!/^\s*<!doctype html>/i.test(template)) problems.push(say('templateDoctype', { file }));
  const scripts = inlineContents(template, 'script').length;
  if (scripts < 1 || scripts > 2) problems.push(say('templateScripts', { file, count: scripts }));
  if (/<script\b[^>]*\bsrc\s*=/i.test(template)) problems.push(say('templateSource', { file }));
  const markup = template.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, '');
  if (/\son[a-z]+\s*=\s*["']/i.test(markup)) problems.push(say('templateHandlers', { file }));
  if (/\sstyle\s*=\s*["']/i.test(markup)) problems.push(say('templateStyles', { file }));
  return problems;
}

/** Checks that the host's page template can be filled and complies with the content security policy. */
const hostPage = checkEach('host page', isHost, async ({ id, description: { template: file } }, store) => {
  const template = await store.read(`${buildFolder(id)}/${file}`);
  return template ? templateProblems(file, template.toString('utf8')) : [say('templateMissing', { file })];
});

/** Checks that builds fit each other. Reports only misfits that this change adds. */
const fitChecks = FIT_RULES.map(
  ({ check, find }): GateCheck => ({
    name: check,
    run: async (subject) => {
      const { host, neighbours, knownMisfits: known, changed } = subject;
      // of two builds with one claim, the last is reported
      const remotes = subject.remotes.toSorted((a, b) => Number(changed.includes(a)) - Number(changed.includes(b)));
      return find({ host, remotes, neighbours })
        .filter(({ key }) => !known.has(key))
        .map(({ problem }) => problem);
    },
  }),
);

const CORE_MARKER = '_FEDERATION_RUNTIME_CORE';
/** First version of federation whose builds can use the host's core. */
const FIRST_CORE_VERSION = '0.24.0';

/** Matches a bundler runtime that stores a module's error or removes the failed module. */
const STRICT_ERROR_HANDLING =
  /catch\s*\((\w+)\)\s*\{[^}]*\.error\s*=\s*\1\b|finally\s*\{\s*(?:if\s*\()?\w+\s*(?:&&|\))\s*delete\b/;
const EMPTY_AFTER_FAILURE =
  'one that failed to load is empty the next time; set output.strictModuleErrorHandling: true';
const importsSchema = v.object({ remotes: v.array(v.object({ alias: v.string() })) });

/** Returns names of the remotes from which a build imports modules, from federation's manifest. */
async function readImportedRemotes(store: Store, { id }: RemoteRecord): Promise<string[]> {
  const manifest = parseOrNull(importsSchema, await store.read(`${buildFolder(id)}/mf-manifest.json`));
  return manifest?.remotes.map(({ alias }) => alias) ?? [];
}

/** Checks versions of federation. They may differ, but an entry without its own core needs a compatible core in the host. */
const federation: GateCheck = {
  name: 'federation',
  run: async ({ store, host, changed }, note) => {
    const hostVersion = host.description.federation;
    const problems: string[] = [];
    for (const remote of changed.filter(isRemote)) {
      const { id, description } = remote;
      const ownVersion = description.federation;
      const entry = await store.read(`${buildFolder(id)}/${description.entry}`);
      const imports = await readImportedRemotes(store, remote);
      if (imports.length > 0 && !description.entryType && !STRICT_ERROR_HANDLING.test(entry?.toString('utf8') ?? ''))
        note(`${id} imports modules of ${imports.join(', ')}: ${EMPTY_AFTER_FAILURE}`);
      if (!entry?.includes(CORE_MARKER)) continue;
      if (semver.major(ownVersion) > semver.major(hostVersion) || semver.lt(ownVersion, FIRST_CORE_VERSION))
        problems.push(attributeTo(id, say('coreTooNew', { own: ownVersion, host: hostVersion })));
      else if (semver.gt(ownVersion, hostVersion))
        note(
          `${id} is built with federation ${ownVersion} and takes the host's core of ${hostVersion}: the browser check decides`,
        );
    }
    return problems;
  },
};

/** Reports what is shared and the cost of a second copy. Problems of sharing are found by the fit rules. */
const sharedLibraries: GateCheck = {
  name: 'shared libraries',
  run: async (subject, note) => {
    for (const line of await sharingNotes(subject)) note(line);
    return [];
  },
};

/** Reports unknown slots, slots filled twice, and slots of the product that stay empty. */
const slots: GateCheck = {
  name: 'slots',
  run: async ({ remotes, changed }, note) => {
    for (const { id, description } of changed.filter(isRemote))
      for (const [at, { name }] of description.slots.entries()) {
        const problem = slotProblem(name, description.routes);
        if (problem) note(`${id}: ${problem}`);
        if (description.slots.findIndex((slot) => slot.name === name) < at)
          note(`${id}: fills "${name}" twice, and pages show the first: draw both in one part`);
      }
    const usedSlots = remotes.flatMap(({ description }) => description.slots.map(({ name }) => name));
    const unusedSlots = emptySlots(usedSlots);
    if (unusedSlots.length > 0) note(`no build of the set fills ${unusedSlots.map((name) => `"${name}"`).join(', ')}`);
    return [];
  },
};

/** All checks that need no browser. */
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
