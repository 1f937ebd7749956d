import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { Catalog } from '../src/builds/catalog.ts';
import type { Writer } from '../src/channel/changeChannel.ts';
import { usage } from '../src/errors.ts';
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
