import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runCommand } from '../../../releases/src/testing/runCommand.ts';
import { startProduct } from '../../product.ts';
import { buildEdition, type Edition } from './edition.ts';
import { type FaultyFront, startFaultyFront } from './faultyFront.ts';

/** Output of the commands used here, with `--json`. */
interface Answer {
  id: string;
  query: string;
  /** the channel's state, if the command changes or shows it */
  seq?: number;
  stable: { set: string; builds: string[] };
}

/** A separate product with its own release store, behind a proxy that can fail. */
export interface Site {
  front: FaultyFront;
  /** the store's folder */
  store: string;
  /** Runs `pnpm release …` on this store, and waits until the product serves the result. Rejects with the command's output. */
  release(...words: string[]): Promise<Answer>;
  /** Builds and publishes an edition once. Returns its build id. */
  publish(edition: Edition): Promise<string>;
  activate(...builds: string[]): Promise<Answer>;
  /** Activates `build` with `lastGood` as the fallback. */
  succeed(lastGood: string, build: string): Promise<void>;
  /** Everything the product has written to standard error so far. */
  complaints(): string;
  stop(): Promise<void>;
}

/** `/builds/account/2.0.1-3f9c1a7b20de/` for `account@2.0.1+3f9c1a7b20de`. */
export const folderOf = (build: string) => `/builds/${build.replace('@', '/').replace('+', '-')}/`;

/** Matches a build's files, or those whose path contains `part`. */
export const filesOf = (build: string, part = '') =>
  new RegExp(`${folderOf(build).replaceAll('.', '\\.')}.*${part.replaceAll('.', '\\.')}`);

/** Runs `pnpm release …` on the store in that folder, without a browser check. Rejects with the command's output. */
export async function runRelease(store: string, words: readonly string[]): Promise<Answer> {
  const { code, out, err } = await runCommand(['--store', `file:${store}`, '--json', '--smoke', 'off', ...words]);
  if (code !== 0) throw new Error(`pnpm release ${words.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out) as Answer;
}

/** Waits until the product serves the state: a server caches the channel for half a second. */
async function waitUntilServed(origin: string, seq: number) {
  const deadline = Date.now() + 30_000;
  let servedSeq: number;
  do {
    const page = await (await fetch(`${origin}/explore`)).text();
    servedSeq = Number(/"seq":(\d+)/.exec(page)?.[1]);
    if (servedSeq >= seq) return;
    await setTimeout(100);
  } while (Date.now() < deadline);
  throw new Error(`the product still serves state ${servedSeq} half a minute after state ${seq} was made`);
}

/** Starts a site. `env` is added to the product's environment. */
export async function startSite(env: Record<string, string> = {}): Promise<Site> {
  const store = mkdtempSync(join(tmpdir(), 'liaozhai-store-'));
  const defaults = { RELEASES_STORE: `file:${store}`, RATE_LIMIT_REGISTER: '1000', TRUST_PROXY: 'true' };
  const product = await startProduct({ ...defaults, ...env });
  const front = await startFaultyFront(new URL(product.origin));
  const publishedIds = new Map<string, Promise<string>>();
  let succession = '';
  const release = async (...words: string[]) => {
    if (words[0] !== 'publish' && words[0] !== 'override') succession = '';
    const answer = await runRelease(store, words);
    if (answer.seq !== undefined) await waitUntilServed(product.origin, answer.seq);
    return answer;
  };
  const activate = (...builds: string[]) => release('activate', ...builds);

  const publishAs = async (edition: Edition, version: string) => {
    const { id } = await release('publish', await buildEdition(edition), '--version', version);
    return id;
  };
  return {
    front,
    store,
    release,
    complaints: product.complaints,
    publish: (edition) => {
      const key = JSON.stringify(edition);
      const id = publishedIds.get(key) ?? publishAs(edition, `2.0.${publishedIds.size}`);
      publishedIds.set(key, id);
      return id;
    },
    activate,
    succeed: async (lastGood, build) => {
      if (succession === `${lastGood} ${build}`) return;
      await activate(lastGood);
      await activate(build);
      succession = `${lastGood} ${build}`;
    },
    stop: async () => {
      await front.close();
      await product.stop();
      rmSync(store, { recursive: true, force: true });
    },
  };
}
