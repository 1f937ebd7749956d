import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { Catalog } from '../src/channel/catalog.ts';
import type { Writer } from '../src/channel/changeChannel.ts';
import { httpClient } from '../src/client/httpClient.ts';
import { localClient } from '../src/client/localClient.ts';
import type { ReleaseClient } from '../src/client/ReleaseClient.ts';
import { usage } from '../src/errors.ts';
import { chooseSmoke, type SmokeMode } from '../src/gate/chooseSmoke.ts';
import type { GateCheck } from '../src/gate/gateCheck.ts';
import type { Provenance } from '../src/model/build.ts';
import { requirePublicKey } from '../src/operations/init.ts';
import { DEFAULT_STORE, type OpenedStore, openStore, requireKey } from '../src/store/openStore.ts';

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
