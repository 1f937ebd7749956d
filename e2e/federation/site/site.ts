import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runCommand } from '../../../releases/src/testing/runCommand.ts';
import { startProduct } from '../../product.ts';
import { buildEdition, type Edition } from './edition.ts';
import { type FaultyFront, startFaultyFront } from './faultyFront.ts';

/** What the commands used here answer with `--json`. */
interface Answer {
  id: string;
  query: string;
  /** of the state, where the command changes or shows it */
  seq?: number;
  stable: { set: string; builds: string[] };
}

/** A product of its own with a release store of its own, reached through a front that can break. */
export interface Site {
  front: FaultyFront;
  /** the store's folder */
  store: string;
  /** `pnpm release …` on this store, until the product serves what it did. Rejects with what the command said. */
  release(...words: string[]): Promise<Answer>;
  /** Builds and publishes an edition once. Returns its build id. */
  publish(edition: Edition): Promise<string>;
  activate(...builds: string[]): Promise<Answer>;
  /** Makes `build` live with `lastGood` as what pages fall back to. */
  succeed(lastGood: string, build: string): Promise<void>;
  /** What the product has complained about so far. */
  complaints(): string;
  stop(): Promise<void>;
}

/** `/builds/account/2.0.1-3f9c1a7b20de/` of `account@2.0.1+3f9c1a7b20de`. */
export const folderOf = (build: string) => `/builds/${build.replace('@', '/').replace('+', '-')}/`;

/** Finds a build's files, all or some of them. */
export const filesOf = (build: string, part = '') =>
  new RegExp(`${folderOf(build).replaceAll('.', '\\.')}.*${part.replaceAll('.', '\\.')}`);

/** `pnpm release …` on the store in that folder, without a browser check. Rejects with what the command said. */
export async function runRelease(store: string, words: readonly string[]): Promise<Answer> {
  const { code, out, err } = await runCommand(['--store', `file:${store}`, '--json', '--smoke', 'off', ...words]);
  if (code !== 0) throw new Error(`pnpm release ${words.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out) as Answer;
}

/** A server believes for half a second what it knows of the channel. */
async function serves(origin: string, seq: number) {
  const until = Date.now() + 30_000;
  let served: number;
  do {
    const page = await (await fetch(`${origin}/explore`)).text();
    served = Number(/"seq":(\d+)/.exec(page)?.[1]);
    if (served >= seq) return;
    await setTimeout(100);
  } while (Date.now() < until);
  throw new Error(`the product still serves state ${served} half a minute after state ${seq} was made`);
}

/** `env` is the product's, beside a store of its own. */
export async function startSite(env: Record<string, string> = {}): Promise<Site> {
  const store = mkdtempSync(join(tmpdir(), 'liaozhai-store-'));
  const own = { RELEASES_STORE: `file:${store}`, RATE_LIMIT_REGISTER: '1000', TRUST_PROXY: 'true' };
  const product = await startProduct({ ...own, ...env });
  const front = await startFaultyFront(new URL(product.origin));
  const published = new Map<string, Promise<string>>();
  let succession = '';
  const release = async (...words: string[]) => {
    if (words[0] !== 'publish' && words[0] !== 'override') succession = '';
    const answer = await runRelease(store, words);
    if (answer.seq !== undefined) await serves(product.origin, answer.seq);
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
      const id = published.get(key) ?? publishAs(edition, `2.0.${published.size}`);
      published.set(key, id);
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
