import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { Catalog } from '../src/channel/catalog.ts';
import type { Writer } from '../src/channel/changeChannel.ts';
import { httpClient } from '../src/client/httpClient.ts';
import { localClient } from '../src/client/localClient.ts';
import type { ReleaseClient } from '../src/client/ReleaseClient.ts';
import { refused, usage } from '../src/errors.ts';
import { findChromium } from '../src/gate/findChromium.ts';
import type { GateCheck } from '../src/gate/gateCheck.ts';
import { serveByCommand } from '../src/gate/serveCommand.ts';
import { serveInProcess } from '../src/gate/serveSet.ts';
import { smoke } from '../src/gate/smoke.ts';
import type { Provenance } from '../src/model/build.ts';
import { requirePublicKey } from '../src/operations/init.ts';
import { DEFAULT_STORE, type OpenedStore, openStore, requireKey } from '../src/store/openStore.ts';

/** What every verb understands. */
export interface SharedOptions {
  store?: string;
  channel: string;
  json?: boolean;
  smoke: 'auto' | 'required' | 'off';
}

const environment = process.env;

export const storeUrl = (options: SharedOptions): string =>
  options.store ?? environment.RELEASES_STORE ?? DEFAULT_STORE;
const isRemote = (url: string): boolean => /^https?:\/\//.test(url);

/** Goes to standard error, so that --json keeps standard output to itself. */
export const note = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function commitHere(): Promise<string | null> {
  try {
    return (await promisify(execFile)('git', ['rev-parse', '--short=12', 'HEAD'])).stdout.trim() || null;
  } catch {
    return null;
  }
}

async function provenanceHere(): Promise<() => Provenance> {
  const commit = await commitHere();
  return () => ({ commit, at: new Date().toISOString(), publisher: whoami() });
}

export const whoami = (): string => environment.RELEASES_WHO ?? userInfo().username;

/** The browser check as asked for; without a browser it is left out aloud, or refused where it is required. */
export function smokeFor(options: SharedOptions): GateCheck | null {
  if (options.smoke === 'off') return null;
  const chromium = findChromium();
  if (!chromium && options.smoke === 'required')
    throw refused('there is no Chromium for the headless smoke', 'Install one, or name it with CHROMIUM_PATH.');
  if (!chromium) {
    note('No Chromium found: the headless smoke is left out. Name one with CHROMIUM_PATH to have it.');
    return null;
  }
  const command = environment.RELEASES_SERVE;
  const store = storeUrl(options);
  const serve = command
    ? serveByCommand(command, { ...environment, RELEASES_STORE: store, RELEASES_CHANNEL: options.channel })
    : serveInProcess({ store, channel: options.channel });
  return smoke(serve, chromium);
}

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
    return localClient(writer, { smoke: judging ? smokeFor(options) : null, provenance });
  }
  const token = environment.RELEASES_TOKEN;
  if (!token) throw usage('a console needs RELEASES_TOKEN', 'Ask for a token made with `pnpm release token create`.');
  return httpClient({ origin: url, token, channel: options.channel, provenance });
}
