import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@rstest/core';
import { Hono } from 'hono';
import * as v from 'valibot';
import { createApi } from '../console/server/api.ts';
import { ConsoleContext } from '../console/server/ConsoleContext.ts';
import { type SignInSettings, signInFrom, signInVariables } from '../console/server/provider.ts';
import { createSignIn } from '../console/server/signIn.ts';
import { createToken } from '../src/operations/tokens.ts';
import { type Account, openProvider, type TestProvider, walk } from '../src/testing/openProvider.ts';
import { openTestStore, type TestStore } from '../src/testing/openTestStore.ts';
import { bearerFor, clientFor } from './context.ts';
import { makeProgram } from './run.ts';
import { sessionFor, signIn } from './signIn.ts';

const accounts = [
  { sub: 'u-101', name: 'Li Hua', groups: ['managers'] },
  { sub: 'u-102', name: '王五', groups: ['stories', 'readers'] },
  { sub: 'u-103', name: 'Mallory', groups: ['staff'] },
];

/** Serves a console on the store over HTTP. */
async function serveConsole(at: TestStore, provider: TestProvider, cli: string | undefined) {
  const variables: Record<string, string | undefined> = {
    CONSOLE_OIDC_ISSUER: provider.issuer,
    CONSOLE_OIDC_CLIENT_ID: provider.client.id,
    CONSOLE_OIDC_CLIENT_SECRET: provider.client.secret,
    CONSOLE_OIDC_ROLES: 'managers=manager; stories=deployer:stories; readers=viewer',
    CONSOLE_OIDC_CLI_CLIENT_ID: cli,
    CONSOLE_OIDC_CLI_SCOPE: provider.cli.scope,
  };
  const settings = signInFrom(v.parse(v.object(signInVariables), variables)) as SignInSettings;
  const { store, key, writer } = at;
  const signingIn = createSignIn({ settings, store, key, origin: 'http://localhost', note: () => undefined });
  const options = {
    store,
    key,
    catalog: writer.catalog,
    channel: 'production',
    smokeFor: async () => null,
    signIn: signingIn,
  };
  const app = new Hono();
  app.route('/v1', createApi(new ConsoleContext(options)));
  app.route('/auth', signingIn.routes);
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => void server.close() };
}

let at: TestStore;
let provider: TestProvider;
let withoutCodes: TestProvider;
let consoles: Record<'usual' | 'withoutCodes' | 'tokensOnly', Awaited<ReturnType<typeof serveConsole>>>;
let home: string;

beforeAll(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'));
  provider = await openProvider('http://localhost', accounts);
  withoutCodes = await openProvider('http://localhost', accounts, 0, { devices: false });
  consoles = {
    usual: await serveConsole(at, provider, provider.cli.id),
    withoutCodes: await serveConsole(at, withoutCodes, provider.cli.id),
    tokensOnly: await serveConsole(at, provider, undefined),
  };
});
afterAll(async () => {
  for (const each of Object.values(consoles)) each.close();
  await provider.close();
  await withoutCodes.close();
  await at.remove();
});
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'release-login-'));
  Object.assign(process.env, { XDG_CONFIG_HOME: home, RELEASES_STORE: consoles.usual.origin });
  delete process.env.RELEASES_TOKEN;
});
afterEach(async () => {
  for (const name of ['XDG_CONFIG_HOME', 'RELEASES_STORE', 'RELEASES_TOKEN']) delete process.env[name];
  await rm(home, { recursive: true });
});

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Runs the command line in a child process; `onStderr` gets all standard error so far, and `limit` is a command of the shell. */
async function release(
  words: string[],
  onStderr: (err: string) => void = () => undefined,
  limit = 'true',
): Promise<Ended> {
  const program = [process.execPath, 'host/server/run.mjs', 'releases/cli/main.ts', ...words];
  const child = spawn('sh', ['-c', `${limit}; exec "$@"`, 'sh', ...program], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { code: 0, out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    ended.out += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    ended.err += piece;
    onStderr(ended.err);
  });
  const [code] = await once(child, 'close');
  return { ...ended, code };
}

/** Acts as the browser of `login` once it has printed an address. */
function openBrowser(sub: string, of: TestProvider = provider) {
  let walked: Promise<unknown> | null = null;
  const walkTo = async (address: string) => {
    const end = await walk(of.issuer, address, sub);
    if (end.startsWith('http://127.0.0.1')) expect(await (await fetch(end)).text()).toContain('close this window');
  };
  const told: string[] = [];
  const tell = (words: string) => {
    told.push(words);
    const [, address] = /(?:or open|on this machine:) (\S+)(?:\n|$)/.exec(words) ?? [];
    if (address) walked ??= walkTo(address);
  };
  return { tell, told, done: async () => walked };
}

interface Asked {
  browser?: boolean;
  at?: keyof typeof consoles;
}

/** Signs in as `pnpm release login` does, in this process. */
async function login(sub: string, { browser = false, at: which = 'usual' }: Asked = {}) {
  const person = openBrowser(sub, which === 'withoutCodes' ? withoutCodes : provider);
  try {
    return { kept: await signIn({ url: consoles[which].origin, browser, report: person.tell }), told: person.told };
  } finally {
    await person.done();
  }
}

const client = (store = consoles.usual.origin) =>
  clientFor(makeProgram().setOptionValue('store', store).setOptionValue('smoke', 'auto'));
const files = () => readdir(join(home, 'liaozhai')).catch(() => []);
const keptFile = async () => join(home, 'liaozhai', (await files())[0] ?? '');
const kept = async () => JSON.parse(await readFile(await keptFile(), 'utf8'));
const change = async (fields: object) =>
  writeFile(await keptFile(), JSON.stringify({ ...(await kept()), ...fields }), { mode: 0o600 });
const me = async (bearer: string) =>
  fetch(`${consoles.usual.origin}/v1/me`, { headers: { authorization: `Bearer ${bearer}` } });
const OVER = { expires: '2020-01-01T00:00:00.000Z' };

describe('sec.login: a person at the command line', () => {
  test('signs in by a code, acts under the own name, and signs out here, at the console and at the provider', async () => {
    const person = openBrowser('u-101');
    const signedIn = await release(['login'], person.tell);
    await person.done();
    expect([signedIn.code, signedIn.err]).toEqual([0, expect.stringMatching(/with the code [A-Z]{4}-[A-Z]{4}/)]);
    expect(signedIn.out).toContain(`Signed in to ${consoles.usual.origin} as Li Hua`);
    const { session, refreshToken } = await kept();
    for (const secret of [session, refreshToken]) {
      expect(secret).toMatch(/^[\w-]{43,}$/);
      expect(signedIn.out + signedIn.err).not.toContain(secret);
    }
    expect((await stat(await keptFile())).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, 'liaozhai'))).mode & 0o777).toBe(0o700);
    expect(await files()).toHaveLength(1);
    expect((await release(['whoami'])).out).toMatch(/^Li Hua \(u-101\): manager\nat http:\S+, by login, until /);

    const next = await at.remote('stories', '1.1.0');
    await (await client()).canary({ builds: [next], percent: 5 });
    expect((await release(['abort', '--why', 'too dark'])).code).toBe(0);
    const [entry] = await (await client()).log(1);
    expect(entry).toMatchObject({ verb: 'abort', who: 'Li Hua (u-101)', why: 'too dark' });

    const signedOut = await release(['logout']);
    expect([signedOut.code, signedOut.err]).toEqual([0, '']);
    expect(await files()).toEqual([]);
    const answer = await me(session);
    expect([answer.status, (await answer.json()).cure]).toEqual([401, expect.stringContaining('pnpm release login')]);
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: provider.cli.id,
      refresh_token: refreshToken,
    });
    expect((await fetch(`${provider.issuer}/token`, { method: 'POST', body })).status).toBe(400);
    const cure = expect.stringContaining(`Sign in: pnpm release login --store ${consoles.usual.origin}.`);
    await expect(client()).rejects.toMatchObject({ kind: 'usage', cure });
  });

  test('signs in by a browser on this machine if the provider has no codes, or on request', async () => {
    const first = await login('u-102', { at: 'withoutCodes' });
    expect([first.kept.person, first.told.join('\n')]).toEqual([
      '王五',
      expect.stringMatching(/^Sign in with a browser/),
    ]);
    const second = await login('u-101', { browser: true });
    expect([second.kept.person, second.told.join('\n')]).toEqual([
      'Li Hua',
      expect.stringMatching(/^Sign in with a browser/),
    ]);
    expect(await files()).toHaveLength(2);
    const deployer = await client(consoles.withoutCodes.origin);
    expect((await deployer.status()).seq).toBeGreaterThan(1);
    await expect(deployer.rollback({ name: 'chat' })).rejects.toThrow('your groups are for stories only');
  });

  test.each([
    ['declines', 'nobody', /declined/],
    ['has no group with a role', 'u-103', /none of their groups has access here/],
  ])('a user who %s sees why, and nothing is stored', async (_, sub, message) => {
    await expect(login(sub)).rejects.toThrow(message);
    await expect(login(sub, { browser: true })).rejects.toThrow(message);
    expect(await files()).toEqual([]);
  });

  test('an expired code is reported', async () => {
    const hasty = await openProvider('http://localhost', accounts, 0, { codeSeconds: 2 });
    const { origin, close } = await serveConsole(at, hasty, hasty.cli.id);
    const told: string[] = [];
    const request = { url: origin, browser: false, report: (line: string) => void told.push(line) };
    await expect(signIn(request)).rejects.toThrow('nobody signed in while the code held');
    expect(told).toContain('The code holds for 2 seconds; Ctrl+C gives up.');
    close();
    await hasty.close();
  });

  test('names the cure if the console signs nobody in, or is reached by plain http', async () => {
    await expect(login('u-101', { at: 'tokensOnly' })).rejects.toMatchObject({
      kind: 'refused',
      cure: expect.stringContaining('CONSOLE_OIDC_CLI_CLIENT_ID'),
    });
    const open = { url: 'http://console.example', browser: false, report: () => undefined };
    await expect(signIn(open)).rejects.toThrow('is not https');
  });
});

/** Environment of a machine whose clock is two hours ahead. */
const AHEAD = `export NODE_OPTIONS='--import=data:text/javascript,const%20now=Date.now;Date.now=()=>now()+7200000'`;

describe('sec.login: signing in', () => {
  test('goes on after a broken connection and a busy provider, because the code still holds', async () => {
    provider.tokenFailures.push(null, 429);
    const { kept: mine, told } = await login('u-101');
    expect([mine.person, provider.tokenFailures]).toEqual(['Li Hua', []]);
    expect(told.filter((line) => line.includes('does not answer'))).toHaveLength(2);
  });

  test('in a folder that cannot be written is refused before anybody confirms a code', async () => {
    await writeFile(join(home, 'liaozhai'), '');
    const { code, err } = await release(['login']);
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/^unreachable: \S+\/liaozhai failed: ENOTDIR.*\nCheck that the folder/),
    ]);
    expect(err).not.toContain('with the code');
  });

  test('on a machine whose clock is two hours ahead names the clock', async () => {
    const person = openBrowser('u-101');
    const { code, err } = await release(['login'], person.tell, AHEAD);
    await person.done();
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/does not hold by the clock here.*\nCorrect the clock of this/),
    ]);
  });
});

describe('sec.login: a sign-in', () => {
  test('survives a renewal that a wrong clock, a full disk, a busy provider or the console refuses', async () => {
    await login('u-101', { browser: true });
    await change(OVER);
    const withWrongClock = await release(['whoami'], undefined, AHEAD);
    expect([withWrongClock.code, withWrongClock.err]).toEqual([3, expect.stringContaining('Correct the clock')]);
    const onFullDisk = await release(['whoami'], undefined, 'ulimit -f 0');
    expect([onFullDisk.code, onFullDisk.err]).toEqual([3, expect.stringContaining('/liaozhai failed: EFBIG')]);
    provider.tokenFailures.push(503);
    await expect(client()).rejects.toMatchObject({ kind: 'unreachable', cure: 'Try again.' });
    const [{ groups }] = accounts as [Account];
    Object.assign(accounts[0] ?? {}, { groups: [] });
    await expect(client()).rejects.toThrow('none of their groups has access here');
    Object.assign(accounts[0] ?? {}, { groups });
    expect((await (await client()).status()).channel).toBe('production');
    expect(await files()).toHaveLength(1);
  });

  test('is renewed when it is over, once by commands that run at the same moment, and not without a refresh token', async () => {
    const { kept: before } = await login('u-101', { browser: true });
    await change(OVER);
    const url = consoles.usual.origin;
    const renewed = await Promise.all([sessionFor(url), sessionFor(url), sessionFor(url)]);
    const [first] = renewed;
    expect(renewed).toEqual([first, first, first]);
    expect(first?.session).not.toBe(before.session);
    expect(await kept()).toEqual(first);
    expect((await me(first?.session ?? '')).status).toBe(200);
    // renewed a second time, with the new refresh token
    await change(OVER);
    expect((await (await client()).status()).channel).toBe('production');
    const over = {
      kind: 'forbidden',
      message: expect.stringContaining('is over'),
      cure: `Sign in again: pnpm release login --store ${url}`,
    };
    await change({ ...OVER, refreshToken: 'of somebody else' });
    await expect(client()).rejects.toMatchObject(over);
    await change({ ...OVER, refreshToken: null });
    await expect(client()).rejects.toMatchObject(over);
    expect(await files()).toHaveLength(1);
  });

  test('gives way to a token in the environment', async () => {
    const { kept: mine } = await login('u-101', { browser: true });
    const { store, key } = at;
    const { token } = await createToken(store, key, { grant: 'viewer', label: 'nightly', by: 'test', days: 1 });
    expect(await bearerFor(consoles.usual.origin)).toBe(mine.session);
    process.env.RELEASES_TOKEN = token;
    expect(await bearerFor(consoles.usual.origin)).toBe(token);
    await expect((await client()).rollback({})).rejects.toThrow('the role viewer does not include `rollback`');
  });

  test('that others can read, or that is damaged, is not used', async () => {
    await login('u-101', { browser: true });
    await chmod(await keptFile(), 0o644);
    const refusal = (words: string) => ({
      message: expect.stringContaining(words),
      cure: expect.stringContaining('rm '),
    });
    await expect(client()).rejects.toMatchObject(refusal('can be read by others'));
    await chmod(await keptFile(), 0o600);
    await writeFile(await keptFile(), '{');
    await expect(client()).rejects.toMatchObject(refusal('is damaged'));
  });
});
