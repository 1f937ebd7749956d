import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { Catalog } from '../src/builds/catalog.ts';
import type { Writer } from '../src/channel/changeChannel.ts';
import { messageOf, ReleaseError, usage } from '../src/errors.ts';
import type { GateCheck } from '../src/gate/gate.ts';
import { chooseSmoke, type SmokeMode } from '../src/gate/smoke.ts';
import type { Provenance } from '../src/model/build.ts';
import { httpClient, localClient, type ReleaseClient } from '../src/releaseClient.ts';
import { DEFAULT_STORE, type OpenedStore, openStore, requireKey, requirePublicKey } from '../src/store/store.ts';
import { originOf } from './provenance.ts';

/** What every verb understands. */
export interface SharedOptions {
  store?: string;
  channel: string;
  json?: boolean;
  smoke: SmokeMode;
}

const environment = process.env;

export const storeUrl = (options: SharedOptions): string =>
  options.store ?? environment.RELEASES_STORE ?? DEFAULT_STORE;
const isRemote = (url: string): boolean => /^https?:\/\//.test(url);

/** Goes to standard error, so that --json keeps standard output to itself. */
export const note = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function provenanceHere(): Promise<() => Provenance> {
  const origin = await originOf('.', environment);
  return () => ({ ...origin, at: new Date().toISOString(), publisher: whoami() });
}

export const whoami = (): string => environment.RELEASES_WHO ?? userInfo().username;

const smokeFor = ({ smoke: mode, channel, ...options }: SharedOptions): Promise<GateCheck | null> =>
  chooseSmoke({ mode, store: storeUrl({ smoke: mode, channel, ...options }), channel, environment, note });

/** The store itself. Throws usage for a console's address. */
export async function localStore(options: SharedOptions): Promise<OpenedStore & { writer: Writer }> {
  const opened = await openStore(storeUrl(options));
  await requirePublicKey(opened.store);
  const key = await requireKey(opened);
  const { store } = opened;
  const writer = {
    store,
    catalog: new Catalog(store),
    key,
    channel: options.channel,
    who: whoami(),
    now: () => new Date(),
  };
  return { ...opened, writer };
}

/** Works on the store or through a console, as --store says. `judging` verbs bring the browser check along. */
export async function clientFor(options: SharedOptions, judging = false): Promise<ReleaseClient> {
  const url = storeUrl(options);
  const provenance = await provenanceHere();
  if (!isRemote(url)) {
    const { writer } = await localStore(options);
    return localClient(writer, { smoke: judging ? await smokeFor(options) : null, provenance });
  }
  if (judging && options.smoke !== 'auto')
    throw usage(
      'a console has its own browser check',
      'Leave --smoke and RELEASES_SMOKE out here: those of the console decide.',
    );
  const token = environment.RELEASES_TOKEN;
  if (!token) throw usage('a console needs RELEASES_TOKEN', 'Ask for a token made with `pnpm release token create`.');
  return httpClient({ origin: url, token, channel: options.channel, provenance });
}

/** A whole number of at least one. Throws usage. */
export function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`"${text}" is not a whole number`, 'Use 1, 2, 3 …');
}

/** Hours of `30m`, `2h` or `3d`. Throws usage. */
export function hours(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const factor = { m: 1 / 60, h: 1, d: 24 }[unit];
  if (amount && factor) return Number(amount) * factor;
  throw usage(`"${text}" is not a span of time`, 'Use e.g. 30m, 2h or 3d.');
}

export const options = <Own>(command: Command): SharedOptions & Own => command.optsWithGlobals();

export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  pnpm release ${line}`).join('\n')}\n`;

const EXIT_CODES = { refused: 1, conflict: 1, usage: 2, unreachable: 3, forbidden: 3 } as const;

/** Prints a result: one JSON document, or lines for a person. */
export function print(json: boolean | undefined, value: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''));
}

/** Says what went wrong and what cures it. Returns the exit code. */
export function printFailure(json: boolean, cause: unknown): number {
  if (!(cause instanceof ReleaseError)) {
    if (json) print(true, { error: { kind: 'internal', message: messageOf(cause) } }, []);
    note(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
    return 1;
  }
  const { kind, message, cure, details } = cause;
  if (json) print(true, { error: { kind, message, cure, details } }, []);
  note(`${kind}: ${message}`);
  for (const detail of details) note(`  - ${detail}`);
  if (cure) note(cure);
  return EXIT_CODES[kind];
}

/** Columns wide enough for their longest cell; East Asian characters count double. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const width = (text: string) => [...text].reduce((sum, sign) => sum + (sign.charCodeAt(0) > 0x2e7f ? 2 : 1), 0);
  const widths = rows.reduce<number[]>(
    (found, row) => row.map((cell, at) => Math.max(found[at] ?? 0, width(cell))),
    [],
  );
  const pad = (cell: string, at: number) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - width(cell)));
  return rows.map((row) => row.map(pad).join('  ').trimEnd());
}

/** `2026-11-03 21:04` in this machine's time zone. */
export function localTime(instant: string): string {
  const at = new Date(instant);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export const bytes = (size: number): string => (size < 10_240 ? `${size} B` : `${(size / 1024).toFixed(0)} KiB`);
