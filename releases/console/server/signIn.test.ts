import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { Hono } from 'hono';
import { generateKeyPair, SignJWT } from 'jose';
import * as v from 'valibot';
import { API_HEADER } from '../../src/errors.ts';
import { newSigningKey, sha256Hex, signedJson } from '../../src/model/signing.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { openJar, openProvider, type TestProvider, tokensFor, walk } from '../../src/testing/openProvider.ts';
import { openTestStore, type TestStore } from '../../src/testing/openTestStore.ts';
import { createApi } from './api.ts';
import { ConsoleContext } from './ConsoleContext.ts';
import { type SignInSettings, signInFrom, signInVariables } from './provider.ts';
import { createSignIn } from './signIn.ts';

const ORIGIN = 'https://console.example';
const ROLES = 'cn=release,ou=groups=manager; stories=deployer:stories; chat=deployer:chat; readers=viewer';
const accounts = [
  { sub: 'u-101', name: 'Li Hua', email: 'li@example.com', groups: ['staff', 'cn=release,ou=groups'] },
  { sub: 'u-102', name: '王五', groups: ['stories', 'chat', 'readers'] },
  { sub: 'u-103', name: 'Mallory\nauto-stop', groups: ['staff'] },
  { sub: 'u-104', name: 'Wang Fang', groups: ['cn=release,ou=groups'] },
];

const settingsOf = (environment: Record<string, string>) =>
  signInFrom(v.parse(v.object(signInVariables), environment)) as SignInSettings;

let at: TestStore;
let provider: TestProvider;
beforeAll(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'));
  provider = await openProvider(ORIGIN, accounts);
});
afterAll(async () => {
  await provider.close();
  await at.remove();
});

interface Changed {
  settings?: Partial<Record<string, string>>;
  now?: () => Date;
  on?: TestStore;
}

/** A console on the test's store, with a browser that visits it and the provider. */
function openConsole({ settings = {}, now, on = at }: Changed = {}) {
  const notes: string[] = [];
  const signIn = createSignIn({
    settings: settingsOf({
      CONSOLE_OIDC_ISSUER: provider.issuer,
      CONSOLE_OIDC_CLIENT_ID: provider.client.id,
      CONSOLE_OIDC_CLIENT_SECRET: provider.client.secret,
      CONSOLE_OIDC_SCOPE: 'openid profile email groups',
      CONSOLE_OIDC_ROLES: ROLES,
      ...settings,
    }),
    store: on.store,
    key: on.key,
    origin: ORIGIN,
    note: (line) => notes.push(line),
    now,
  });
  const { store, key, writer } = on;
  const options = { store, key, catalog: writer.catalog, channel: 'production', smokeFor: async () => null, signIn };
  const app = new Hono();
  app.route('/v1', createApi(new ConsoleContext(options)));
  app.route('/auth', signIn.routes);
  const jar = openJar();
  const ask = async (path: string, init: RequestInit = {}, own: Record<string, string> = { 'x-console': '1' }) => {
    const headers = { cookie: jar.header(), 'content-type': 'application/json', [API_HEADER]: '2', ...own };
    const answer = await app.request(new URL(path, ORIGIN).href, { ...init, headers });
    jar.take(answer);
    return answer;
  };
  const post = (path: string, body: unknown, own?: Record<string, string>) =>
    ask(path, { method: 'POST', body: JSON.stringify(body) }, own);

  /** Follows the redirects to the provider and through its sign-in. Returns the callback address. */
  async function toProvider(sub: string, path = '/auth/login'): Promise<string> {
    return walk(provider.issuer, (await ask(path, {}, {})).headers.get('location') ?? '', sub);
  }

  /** Signs a person in. Returns the last response. */
  const enter = async (sub: string): Promise<Response> => ask(await toProvider(sub), {}, {});
  return { app, jar, ask, post, toProvider, enter, notes };
}

const me = async (console: ReturnType<typeof openConsole>) => {
  const answer = await console.ask('/v1/me');
  return answer.ok ? await answer.json() : answer.status;
};

describe('sec.sign-in: a person', () => {
  test('signs in at the provider, acts under the own name, and signs out here and there', async () => {
    const console = openConsole();
    expect(await (await console.ask('/auth')).json()).toEqual({ offered: true, signedIn: false, cli: null });
    const entered = await console.enter('u-101');
    expect([entered.status, entered.headers.get('location')]).toEqual([302, '/']);
    const [cookie] = entered.headers.getSetCookie().filter((line) => line.includes('session='));
    expect(cookie).toMatch(
      /^__Host-console-session=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect([...console.jar.cookies.keys()]).toEqual(['__Host-console-session']);
    expect(await (await console.ask('/auth')).json()).toEqual({ offered: true, signedIn: true, cli: null });
    expect(await me(console)).toMatchObject({ role: 'manager', name: null, person: 'Li Hua' });

    const next = await at.remote('stories', '1.1.0');
    expect((await console.post('/v1/activate', { builds: [next], why: '新封面' })).status).toBe(200);
    const [entry] = await (await console.ask('/v1/log?limit=1')).json();
    expect(entry).toMatchObject({ verb: 'activate', who: 'Li Hua (u-101)', why: '新封面' });

    const { leave } = await (await console.post('/auth/logout', {})).json();
    const address = new URL(leave);
    expect(address.origin).toBe(provider.issuer);
    expect(address.searchParams.get('post_logout_redirect_uri')).toBe(`${ORIGIN}/`);
    expect((await fetch(address)).status).toBe(200);
    expect(console.jar.cookies.size).toBe(0);
    expect(await me(console)).toBe(401);
  });

  test('that signed out is out, even with the cookie; nothing of the session is left in the store', async () => {
    const console = openConsole();
    await console.enter('u-101');
    const kept = new Map(console.jar.cookies);
    await console.post('/auth/logout', {});
    console.jar.copy(kept);
    expect(await me(console)).toBe(401);
    expect(await at.store.children('sessions/')).toEqual([]);
  });

  test('in several groups may do what each of them gives, and no more', async () => {
    const console = openConsole();
    await console.enter('u-102');
    expect(await me(console)).toMatchObject({
      person: '王五',
      role: 'deployer',
      name: 'stories',
      more: [
        { role: 'deployer', name: 'chat' },
        { role: 'viewer', name: null },
      ],
    });
    const builds = [await at.remote('stories', '1.2.0'), await at.remote('chat', '1.2.0')];
    expect((await console.post('/v1/activate', { builds })).status).toBe(200);
    const host = await at.host('2.0.0');
    const refused = await console.post('/v1/activate', { builds: [host] });
    expect([refused.status, (await refused.json()).message]).toEqual([
      403,
      'your groups are for stories and chat only',
    ]);
    expect((await console.post('/v1/rollback', {})).status).toBe(403);
  });

  test('without a group that has a role gets no session, and sees why', async () => {
    const console = openConsole();
    const entered = await console.enter('u-103');
    expect(entered.headers.get('location')).toBe('/#sign-in=noAccess');
    expect(console.jar.cookies.size).toBe(0);
    expect(console.notes.at(-1)).toBe(
      'console: Mallory auto-stop (u-103) signed in, but no value of groups gives a role',
    );
    expect(await console.toProvider('u-101', '/auth/login?again')).toContain('code=');
  });

  test.each([
    ['channel=preview', '/?channel=preview', '#'],
    ['channel=preview&view=settings', '/?channel=preview#settings', '&'],
    ['view=settings', '/#settings', '&'],
    ['channel=//evil.example', '/', '#'],
    ['channel=https://evil.example/', '/', '#'],
    ['channel=a%0d%0aset-cookie:x=y', '/', '#'],
    ['channel=a%26sign-in%3Ddeclined%23token=x', '/', '#'],
    ['view=settings%26token%3Dx', '/', '#'],
  ])('who opened %s comes back to %s, and to nothing that is no name', async (page, to, joint) => {
    const console = openConsole();
    const entered = await console.ask(await console.toProvider('u-101', `/auth/login?${page}`), {}, {});
    expect(entered.headers.get('location')).toBe(to);
    const without = await console.ask(await console.toProvider('u-103', `/auth/login?${page}`), {}, {});
    expect(without.headers.get('location')).toBe(`${to}${joint}sign-in=noAccess`);
  });

  test('that the provider refuses sees why', async () => {
    const console = openConsole();
    expect((await console.enter('nobody')).headers.get('location')).toBe('/#sign-in=declined');
    expect(await me(console)).toBe(401);
  });
});

describe('sec.sign-in: a session', () => {
  test('is known to another console on the store and after a restart, until its time is over', async () => {
    let now = new Date();
    const console = openConsole({ now: () => now, settings: { CONSOLE_SESSION_HOURS: '2' } });
    await console.enter('u-101');
    const other = openConsole({ now: () => now });
    other.jar.copy(console.jar.cookies);
    expect(await me(other)).toMatchObject({ person: 'Li Hua' });
    now = new Date(now.getTime() + 2 * 3_600_000);
    expect([await me(console), await me(other)]).toEqual([401, 401]);
    const kept = (await at.store.children('sessions/')).length;
    await other.enter('u-102');
    expect(await at.store.children('sessions/')).toHaveLength(kept);
  });

  test('gives nothing any more once its group has no role', async () => {
    const console = openConsole();
    await console.enter('u-102');
    const after = openConsole({ settings: { CONSOLE_OIDC_ROLES: 'chat=publisher:chat' } });
    after.jar.copy(console.jar.cookies);
    expect(await me(after)).toMatchObject({ role: 'publisher', name: 'chat', more: [] });
    const none = openConsole({ settings: { CONSOLE_OIDC_ROLES: 'others=manager' } });
    none.jar.copy(console.jar.cookies);
    expect(await me(none)).toBe(401);
  });

  test.each([
    ['unsigned', (record: object) => JSON.stringify(record)],
    ['signed by another key', (record: object) => signedJson(record, newSigningKey())],
  ])('that somebody wrote into the store, %s, opens nothing', async (_, write) => {
    const console = openConsole();
    const secret = 'x'.repeat(43);
    const record = {
      id: sha256Hex(secret),
      issuer: new URL(provider.issuer).href,
      subject: 'u-101',
      person: 'Li Hua',
      values: ['cn=release,ou=groups'],
      at: new Date().toISOString(),
      expires: '2999-01-01T00:00:00.000Z',
      idToken: '',
    };
    await at.store.remove(`sessions/${record.id}.json`);
    await at.store.create(`sessions/${record.id}.json`, write(record));
    console.jar.cookies.set('__Host-console-session', secret);
    expect(await me(console)).toBe(401);
  });

  test('is of no use to a page of another site, nor to one that cannot send the header', async () => {
    const console = openConsole();
    await console.enter('u-101');
    const { seq } = await at.current();
    expect((await console.post('/v1/rollback', {}, {})).status).toBe(401);
    const foreign = { 'x-console': '1', origin: 'https://evil.example', host: 'console.example' };
    expect((await console.post('/v1/rollback', {}, foreign)).status).toBe(403);
    await console.post('/auth/logout', {}, {});
    const preflight = await console.ask('/v1/rollback', { method: 'OPTIONS' }, { origin: 'https://evil.example' });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    expect(await me(console)).toMatchObject({ person: 'Li Hua' });
    expect((await at.current()).seq).toBe(seq);
  });
});

describe('sec.sign-in: an attempt', () => {
  test.each([
    ['a wrong secret', { CONSOLE_OIDC_CLIENT_SECRET: 'wrong' }],
    ['a wrong secret in the body', { CONSOLE_OIDC_CLIENT_SECRET: 'wrong', CONSOLE_OIDC_CLIENT_AUTH: 'post' }],
  ])('with %s fails, and the log names the settings of the client', async (_, settings) => {
    const console = openConsole({ settings });
    expect((await console.enter('u-101')).headers.get('location')).toBe('/#sign-in=failed');
    expect(console.notes).toEqual([expect.stringMatching(/CONSOLE_OIDC_CLIENT_SECRET and CONSOLE_OIDC_CLIENT_AUTH/)]);
  });

  test('of one window leaves that of another window alone', async () => {
    const console = openConsole();
    const [first, second] = [await console.toProvider('u-101'), await console.toProvider('u-101')];
    for (const callback of [first, second]) {
      expect((await console.ask(callback, {}, {})).headers.get('location')).toBe('/');
      expect(await me(console)).toMatchObject({ person: 'Li Hua' });
    }
    expect([...console.jar.cookies.keys()]).toEqual(['__Host-console-session']);
    expect((await console.ask('/auth/callback?state=%3B%0A', {}, {})).headers.get('location')).toBe(
      '/#sign-in=expired',
    );
  });

  test('counts once, in the browser that began it', async () => {
    const console = openConsole();
    const callback = await console.toProvider('u-101');
    const other = openConsole();
    expect((await other.ask(callback, {}, {})).headers.get('location')).toBe('/#sign-in=expired');
    await other.ask('/auth/login', {}, {});
    expect((await other.ask(callback, {}, {})).headers.get('location')).toBe('/#sign-in=expired');
    const attempt = new Map(console.jar.cookies);
    expect((await console.ask(callback, {}, {})).headers.get('location')).toBe('/');
    console.jar.copy(attempt);
    expect((await console.ask(callback, {}, {})).headers.get('location')).toMatch(/^\/#sign-in=(declined|failed)$/);
    expect(await me(other)).toBe(401);
  });

  test('sees that the provider is away; tokens still work, and the log says why', async () => {
    const away = await openProvider(ORIGIN, []);
    await away.close();
    const console = openConsole({ settings: { CONSOLE_OIDC_ISSUER: away.issuer } });
    expect((await console.ask('/auth/login', {}, {})).headers.get('location')).toBe('/#sign-in=away');
    expect(console.notes.join('\n')).toMatch(
      new RegExp(`signing in at ${away.issuer}/ is not possible now, tokens still work: .*ECONNREFUSED`),
    );
    const { token } = await createToken(at.store, at.key, { grant: 'viewer', label: '', by: 'test', days: 1 });
    expect((await console.ask('/v1/status', {}, { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  test('of a provider that comes back works again', async () => {
    const first = await openProvider(ORIGIN, accounts);
    await first.close();
    const console = openConsole({ settings: { CONSOLE_OIDC_ISSUER: first.issuer } });
    expect((await console.ask('/auth/login', {}, {})).headers.get('location')).toBe('/#sign-in=away');
    const back = await openProvider(ORIGIN, accounts, Number(new URL(first.issuer).port));
    const { headers } = await console.ask('/auth/login', {}, {});
    expect(headers.get('location')).toContain(back.issuer);
    await back.close();
  });
});

describe('sec.login: the session of a command line', () => {
  const CLI = {
    CONSOLE_OIDC_CLI_CLIENT_ID: 'release-cli',
    CONSOLE_OIDC_CLI_SCOPE: 'openid profile groups offline_access',
  };
  const exchange = (console: ReturnType<typeof openConsole>, tokens: object) =>
    console.post('/auth/session', tokens, {});
  const bearerFor = async (console: ReturnType<typeof openConsole>, sub: string) => {
    const { session } = await (await exchange(console, await tokensFor(provider.issuer, sub))).json();
    return { authorization: `Bearer ${session}` };
  };
  const refusal = async (answer: Response) => [answer.status, (await answer.json()).message];

  test('says where to sign in, is that of a person, and ends when it is ended, or when the console turns it off', async () => {
    const console = openConsole({ settings: CLI });
    const { CONSOLE_OIDC_CLI_CLIENT_ID: clientId, CONSOLE_OIDC_CLI_SCOPE: scope } = CLI;
    const cli = { issuer: new URL(provider.issuer).href, clientId, scope };
    expect(await (await console.ask('/auth')).json()).toEqual({ offered: true, signedIn: false, cli });
    const bearer = await bearerFor(console, 'u-101');
    expect(await (await console.ask('/v1/me', {}, bearer)).json()).toMatchObject({ person: 'Li Hua', role: 'manager' });
    expect((await openConsole().ask('/v1/me', {}, bearer)).status).toBe(401);
    const changed = openConsole({ settings: { ...CLI, CONSOLE_OIDC_ROLES: 'others=manager' } });
    expect((await changed.ask('/v1/me', {}, bearer)).status).toBe(401);
    expect(await (await console.post('/auth/logout', {}, bearer)).json()).toEqual({ leave: null });
    expect((await console.ask('/v1/me', {}, bearer)).status).toBe(401);
  });

  test('is of the same person as a browser’s where two decide: neither approves what the other proposed', async () => {
    const own = await openTestStore();
    await own.activate(await own.host(), await own.remote('stories'));
    const console = openConsole({ settings: CLI, on: own });
    const bearer = await bearerFor(console, 'u-101');
    await console.enter('u-101');
    expect((await console.post('/v1/approval', { hours: 24 }, bearer)).status).toBe(200);
    const propose = async (version: string, headers?: Record<string, string>) => {
      const answer = await console.post('/v1/activate', { builds: [await own.remote('stories', version)] }, headers);
      expect(answer.status).toBe(202);
      return (await answer.json()).proposal.id as string;
    };
    const [fromCli, fromBrowser] = [await propose('1.1.0', bearer), await propose('1.2.0')];
    expect(await refusal(await console.post('/v1/approve', { id: fromCli }))).toEqual([
      403,
      expect.stringContaining('your own'),
    ]);
    expect(await refusal(await console.post('/v1/approve', { id: fromBrowser }, bearer))).toEqual([
      403,
      expect.stringContaining('your own'),
    ]);
    const second = await bearerFor(console, 'u-104');
    expect((await console.post('/v1/approve', { id: fromCli, why: 'looked' }, second)).status).toBe(200);
    const log = await (await console.ask('/v1/log?limit=2')).json();
    expect(JSON.stringify(log)).toMatch(/Wang Fang \(u-104\).*Li Hua \(u-101\)|Li Hua \(u-101\).*Wang Fang \(u-104\)/);
    await own.remove();
  });

  test('is begun by nothing but a fresh ID token of this provider for the command line', async () => {
    const console = openConsole({ settings: CLI });
    const good = await tokensFor(provider.issuer, 'u-101');
    const [header = '', payload = ''] = good.idToken.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const { privateKey } = await generateKeyPair('RS256');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const signed = (changed: object) =>
      new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    const unsigned = [Buffer.from('{"alg":"none"}').toString('base64url'), payload, ''].join('.');
    const secret = new TextEncoder().encode('of the command line, or its public key as text');
    const symmetric = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(secret);
    for (const idToken of [await signed({}), unsigned, symmetric, 'nonsense', `${good.idToken}x`, good.accessToken]) {
      const [status, message] = await refusal(await exchange(console, { ...good, idToken }));
      expect([status, message]).toEqual([403, expect.stringContaining('this ID token does not count here')]);
    }
    const ofConsole = openConsole({ settings: { ...CLI, CONSOLE_OIDC_CLI_CLIENT_ID: 'another-client' } });
    expect(await refusal(await exchange(ofConsole, good))).toEqual([403, expect.stringContaining('"aud"')]);
    const later = openConsole({ settings: CLI, now: () => new Date(Date.now() + 660_000) });
    expect(await refusal(await exchange(later, good))).toEqual([403, expect.stringContaining('"iat"')]);
    const other = await tokensFor(provider.issuer, 'u-104');
    expect((await exchange(console, { ...good, accessToken: other.accessToken })).status).not.toBe(200);
    expect((await exchange(console, { ...good, accessToken: 'nonsense' })).status).toBe(403);
    expect((await exchange(console, { idToken: good.idToken })).status).toBe(400);
    expect((await exchange(console, { ...good, idToken: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await exchange(openConsole(), good)).status).toBe(400);
    expect((await exchange(console, good)).status).toBe(200);
  });

  test('is not begun where the provider would make two of one person', async () => {
    const pairwise = await openProvider(ORIGIN, accounts, 0, { subjectTypes: ['pairwise'] });
    const settings = { ...CLI, CONSOLE_OIDC_ISSUER: pairwise.issuer };
    const apart = openConsole({ settings });
    const refused = await exchange(apart, { idToken: 'any', accessToken: 'any' });
    expect(await refusal(refused)).toEqual([422, expect.stringContaining('one person would be two')]);
    await expect.poll(() => apart.notes.join()).toContain('one person would be two');
    const same = openConsole({ settings: { ...settings, CONSOLE_OIDC_CLI_CLIENT_ID: pairwise.client.id } });
    expect((await exchange(same, { idToken: 'any', accessToken: 'any' })).status).toBe(403);
    await pairwise.close();
  });
});

describe('settings of signing in', () => {
  const whole = {
    CONSOLE_OIDC_ISSUER: 'https://id.example',
    CONSOLE_OIDC_CLIENT_ID: 'x',
    CONSOLE_OIDC_ROLES: 'a=viewer',
  };
  test('none is no sign-in', () => {
    expect(settingsOf({})).toBeNull();
    expect(settingsOf(whole).grants).toEqual(new Map([['a', { role: 'viewer', name: null }]]));
  });

  test.each([
    [{ ...whole, CONSOLE_OIDC_ISSUER: '' }, /url/i],
    [{ CONSOLE_OIDC_CLIENT_ID: 'x' }, /CONSOLE_OIDC_ISSUER is missing/],
    [{ CONSOLE_OIDC_CLI_CLIENT_ID: 'x' }, /CONSOLE_OIDC_ISSUER is missing/],
    [{ ...whole, CONSOLE_OIDC_CLI_SCOPE: 'profile' }, /openid/],
    [{ ...whole, CONSOLE_OIDC_ISSUER: 'http://id.example' }, /not https/],
    [{ CONSOLE_OIDC_ISSUER: 'https://id.example' }, /CONSOLE_OIDC_CLIENT_ID is missing/],
    [{ CONSOLE_OIDC_ISSUER: 'https://id.example', CONSOLE_OIDC_CLIENT_ID: 'x' }, /CONSOLE_OIDC_ROLES is missing/],
    [{ ...whole, CONSOLE_OIDC_ROLES: 'manager' }, /"manager" gives no role/],
    [{ ...whole, CONSOLE_OIDC_ROLES: 'a=boss' }, /"boss" is not a grant/],
    [{ ...whole, CONSOLE_OIDC_SCOPE: 'profile' }, /openid/],
    [{ ...whole, CONSOLE_ORIGIN: 'https://console.example/releases' }, /origin/],
    [{ ...whole, CONSOLE_SESSION_HOURS: '0' }, /> ?0|greater|>0/],
  ])('%j is refused with %s', (environment, message) => {
    expect(() => settingsOf(environment as Record<string, string>)).toThrow(message);
  });
});
