import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { clean } from '@liaozhai/shared/contract';
import { type Command, Option } from 'commander';
import { Catalog } from '../src/builds/catalog.ts';
import type { Writer } from '../src/channel/writer.ts';
import { messageOf, ReleaseError, usage } from '../src/errors.ts';
import type { GateCheck } from '../src/gate/gate.ts';
import { chooseSmoke, type SmokeMode } from '../src/gate/smoke.ts';
import type { Provenance } from '../src/model/build.ts';
import type { SigningKey } from '../src/model/signing.ts';
import { sitesFrom } from '../src/operations/override.ts';
import { httpClient, localClient, type ReleaseClient } from '../src/releaseClient.ts';
import { openStore, requireKey, requirePublicKey, type Store, storeFrom } from '../src/store/store.ts';
import { sessionFor } from './signIn.ts';

export interface SharedOptions {
  store?: string;
  channel: string;
  json?: boolean;
  smoke: SmokeMode;
}

const environment = process.env;

/** Options of every verb, as given to this one. The verb's own are an argument of its action. */
export const options = (command: Command): SharedOptions => command.optsWithGlobals();

export const storeUrl = (command: Command): string => options(command).store ?? storeFrom(environment);
export const isRemote = (url: string): boolean => /^https?:\/\//.test(url);

/** One line without control and direction characters, because others wrote parts of it and may not forge further lines. */
const plain = (text: string): string => clean(text.replace(/[\r\n\u2028\u2029]+/g, ' '));

/** Prints a line to standard error, so that `--json` has standard output to itself. */
export const note = (line: string): void => {
  process.stderr.write(`${plain(line)}\n`);
};

/** Origin of a build: the repository of its output folder, not that of the working directory. */
const provenanceOf = async (folder: string): Promise<Provenance> => ({
  ...(await originOf(folder, environment)),
  at: new Date().toISOString(),
  publisher: whoami(),
});

/** The author in the audit. Throws usage for an account without a name, as in containers with a user of their own. */
export function whoami(): string {
  try {
    return environment.RELEASES_WHO ?? userInfo().username;
  } catch {
    throw usage('the account of this machine has no name', 'Say with RELEASES_WHO who you are: the audit keeps it.');
  }
}

export function smokeFor(command: Command): Promise<GateCheck | null> {
  const { smoke: mode, channel } = options(command);
  return chooseSmoke({ mode, store: storeUrl(command), channel, environment, note });
}

export const writerTo = (store: Store, key: SigningKey, channel: string): Writer => ({
  store,
  catalog: new Catalog(store),
  key,
  channel,
  who: whoami(),
  now: () => new Date(),
});

/** Opens the store directly. Throws usage for a console's address. */
export async function localStore(command: Command, channel = options(command).channel): Promise<Writer> {
  const openedStore = await openStore(storeUrl(command));
  await requirePublicKey(openedStore.store);
  return writerTo(openedStore.store, await requireKey(openedStore), channel);
}

/** Returns a client for the store or the console of `--store`. Verbs with `withSmoke` include the browser check. */
export async function clientFor(command: Command, withSmoke = false): Promise<ReleaseClient> {
  const url = storeUrl(command);
  const { channel, smoke } = options(command);
  const provenance = provenanceOf;
  if (!isRemote(url)) {
    const writer = await localStore(command);
    const site = sitesFrom(environment.RELEASES_SITE)(channel);
    return localClient(writer, { smoke: withSmoke ? await smokeFor(command) : null, provenance, site });
  }
  if (withSmoke && smoke !== 'auto')
    throw usage(
      'a console has its own browser check',
      'Leave --smoke and RELEASES_SMOKE out here: those of the console decide.',
    );
  return httpClient({ origin: url, token: await bearerFor(url), channel, provenance });
}

/** Bearer token for a console: `RELEASES_TOKEN`, else the session of the signed-in person. Throws usage if both are missing. */
export async function bearerFor(url: string): Promise<string> {
  const token = environment.RELEASES_TOKEN?.trim();
  // an invalid character would make fetch fail with a misleading network error
  if (token && !/^[\w-]+$/.test(token))
    throw usage(
      'RELEASES_TOKEN is no token',
      'Set it to the line that `token create` printed, lz_…, and nothing else.',
    );
  const bearer = token || (await sessionFor(url))?.session;
  if (bearer) return bearer;
  throw usage(
    'a console wants to know who you are',
    `Sign in: pnpm release login --store ${new URL(url).origin}. A program needs RELEASES_TOKEN, made with \`pnpm release token create\`.`,
  );
}

/** Parses a whole number of at least one. Throws usage. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`"${text}" is not a whole number`, 'Use 1, 2, 3 …');
}

/** Parses `30m`, `2h` or `3d` to hours. Throws usage. */
function parseHours(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const factor = { m: 1 / 60, h: 1, d: 24 }[unit];
  if (amount && factor) return Number(amount) * factor;
  throw usage(`"${text}" is not a span of time`, 'Use e.g. 30m, 2h or 3d.');
}

/** An option for a span of time, whose help prints the default as it is typed. */
export const spanOption = (flags: string, description: string, span: string): Option =>
  new Option(flags, description).argParser(parseHours).default(parseHours(span), span);

export const addVerb = (parent: Command, usage: string, description: string): Command =>
  parent.command(usage).description(description);

export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  pnpm release ${line}`).join('\n')}\n`;

const EXIT_CODES = { refused: 1, conflict: 1, usage: 2, unreachable: 3, forbidden: 3 } as const;

/** Prints a result: one JSON document, or lines for a person. */
export const print = (command: Command, value: unknown, lines: readonly string[]): void =>
  options(command).json ? printJson(value) : printLines(lines);

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

export const printLines = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${plain(inLocalTime(line))}\n`).join(''));

/** Prints a list as a table, or what to say without an item. */
export const printList = <Item>(
  command: Command,
  items: readonly Item[],
  cellsOf: (item: Item) => string[],
  nothing: string,
): void => print(command, items, items.length > 0 ? table(items.map(cellsOf)) : [nothing]);

export function printFailure(json: boolean, cause: unknown): number {
  if (!(cause instanceof ReleaseError)) {
    if (json) printJson({ error: { kind: 'internal', message: messageOf(cause) } });
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    for (const line of text.split('\n')) note(line);
    return 1;
  }
  const { kind, message, cure, details } = cause;
  if (json) printJson({ error: { kind, message, cure, details } });
  for (const line of [`${kind}: ${message}`, ...details.map((detail) => `  - ${detail}`), cure].filter(Boolean))
    note(inLocalTime(line));
  return EXIT_CODES[kind];
}

/** Pads columns to their longest cell; East Asian characters count double. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const width = (text: string) => [...text].reduce((sum, sign) => sum + (sign.charCodeAt(0) > 0x2e7f ? 2 : 1), 0);
  const widths = rows.reduce<number[]>(
    (maxima, row) => row.map((cell, at) => Math.max(maxima[at] ?? 0, width(cell))),
    [],
  );
  const pad = (cell: string, at: number) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - width(cell)));
  return rows.map((row) => row.map(pad).join('  ').trimEnd());
}

/** `2026-11-03 21:04 UTC+8` in this machine's time zone. */
export function localTime(instant: string): string {
  const at = new Date(instant);
  const pad = (value: number) => String(value).padStart(2, '0');
  const offsetMinutes = -at.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
  const offset =
    offsetMinutes === 0 ? '' : `${offsetMinutes < 0 ? '-' : '+'}${hours}${minutes ? `:${pad(minutes)}` : ''}`;
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())} UTC${offset}`;
}

/** Replaces UTC instants by local times. */
const inLocalTime = (line: string): string =>
  line.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (instant) => localTime(instant));

export const formatBytes = (size: number): string => (size < 10_240 ? `${size} B` : `${(size / 1024).toFixed(0)} KiB`);

/** Origin of a build. Every field may be missing, depending on the machine. */
type SourceOrigin = Pick<Provenance, 'commit' | 'author' | 'change' | 'run'>;

type Environment = Record<string, string | undefined>;

const joinIfComplete = (...parts: (string | undefined)[]): string | undefined =>
  parts.every(Boolean) ? parts.join('') : undefined;

/** Page of a git remote, such as `https://gitee.com/team/gifts`; undefined if there is no page. */
export function pageOf(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https?:\/\/(?:[^@/]+@)?|(?:ssh:\/\/)?git@)([\w.-]+)(?::\d+)?[:/](.+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return joinIfComplete('https://', host, '/', path);
}

/** A known pipeline: the variable that it sets, and the origin by its variables. `repository` is the page of the git remote. */
const PIPELINES: Record<string, (variables: Environment, repository?: string) => SourceOrigin> = {
  GITHUB_ACTIONS(variables) {
    const repository = joinIfComplete(variables.GITHUB_SERVER_URL, '/', variables.GITHUB_REPOSITORY);
    const [, pull] = /^refs\/pull\/(\d+)\//.exec(variables.GITHUB_REF ?? '') ?? [];
    return {
      commit: variables.GITHUB_SHA ?? null,
      author: variables.GITHUB_ACTOR,
      change:
        joinIfComplete(repository, '/pull/', pull) ?? joinIfComplete(repository, '/commit/', variables.GITHUB_SHA),
      run: joinIfComplete(repository, '/actions/runs/', variables.GITHUB_RUN_ID),
    };
  },
  GITLAB_CI: (variables) => ({
    commit: variables.CI_COMMIT_SHA ?? null,
    author: variables.CI_COMMIT_AUTHOR?.replace(/ *<[^>]*>$/, '') ?? variables.GITLAB_USER_NAME,
    change:
      joinIfComplete(variables.CI_MERGE_REQUEST_PROJECT_URL, '/-/merge_requests/', variables.CI_MERGE_REQUEST_IID) ??
      joinIfComplete(variables.CI_PROJECT_URL, '/-/commit/', variables.CI_COMMIT_SHA),
    run: variables.CI_JOB_URL ?? variables.CI_PIPELINE_URL,
  }),
  /** Gitee Go provides no URLs. That of the change is built from the repository's; runs have none. */
  GITEE_PIPELINE_NAME(variables, repository) {
    const commit = variables.GITEE_SOURCE_COMMIT || variables.GITEE_COMMIT;
    return {
      commit: commit ?? null,
      author: variables.GITEE_PIPELINE_TRIGGER_USER,
      change:
        joinIfComplete(repository, '/pulls/', variables.GITEE_PULL_ID) ??
        joinIfComplete(repository, '/commit/', commit),
    };
  },
  JENKINS_URL: (variables, repository) => ({
    commit: variables.GIT_COMMIT ?? null,
    author: variables.CHANGE_AUTHOR_DISPLAY_NAME ?? variables.CHANGE_AUTHOR ?? variables.GIT_AUTHOR_NAME,
    change: variables.CHANGE_URL ?? joinIfComplete(repository, '/commit/', variables.GIT_COMMIT),
    run: variables.BUILD_URL,
  }),
};

/** Origin of a build from a pipeline's environment variables; null outside known pipelines. */
export function originInPipeline(variables: Environment, remote = ''): SourceOrigin | null {
  const [, describe] = Object.entries(PIPELINES).find(([name]) => variables[name]) ?? [];
  return describe?.(variables, pageOf(remote)) ?? null;
}

/** Output of git; empty without a repository or without git. */
const git = (folder: string, ...words: string[]): Promise<string> =>
  promisify(execFile)('git', ['-C', folder, ...words]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );

/** Origin of what is built in a folder. The commit ends in `-dirty` if files differ from it. */
export async function originOf(folder: string, environment: Environment): Promise<SourceOrigin> {
  const head = await git(folder, 'rev-parse', '--short=12', 'HEAD');
  const origin = originInPipeline(environment, await git(folder, 'remote', 'get-url', 'origin'));
  // pipelines leave caches and reports next to the sources
  const untracked = `--untracked-files=${origin ? 'no' : 'normal'}`;
  const changedFiles = head === '' ? '' : await git(folder, 'status', '--porcelain', untracked);
  const author = origin ? origin.author : head && (await git(folder, 'log', '-1', '--format=%an'));
  const commit = origin?.commit?.slice(0, 12) || head;
  return { ...origin, author: author || undefined, commit: commit ? `${commit}${changedFiles ? '-dirty' : ''}` : null };
}
