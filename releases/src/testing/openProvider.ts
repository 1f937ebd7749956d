import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import * as oidc from 'openid-client';

export interface Account {
  sub: string;
  name?: string;
  email?: string;
  groups?: string[];
}

const CLIENT = { id: 'console', secret: 'secret of the console' };
/** The command line's client. It has no secret, because anybody can read a program. */
const CLI = { id: 'release-cli', scope: 'openid profile groups offline_access' };
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
// encoded while it is generated, as in `newSigningKey`
const { privateKey: privatePem } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const KEYS = [createPrivateKey(privatePem).export({ format: 'jwk' })];

function configurationFor(
  origin: string,
  accounts: readonly Account[],
  { devices = true, codeSeconds = 600, subjectTypes = ['public'] }: Options,
): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${origin}/auth/callback`],
        post_logout_redirect_uris: [`${origin}/`],
      },
      {
        client_id: CLI.id,
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token', ...(devices ? [DEVICE] : [])],
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    ],
    jwks: { keys: KEYS as NonNullable<Configuration['jwks']>['keys'] },
    cookies: { keys: ['of a provider for tests'] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
    subjectTypes,
    pairwiseIdentifier: (_, sub, { clientId }) => `${sub} of ${clientId}`,
    scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      revocation: { enabled: true },
      deviceFlow: { enabled: devices },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 600,
      DeviceCode: codeSeconds,
      Grant: 600,
      IdToken: 3600,
      Interaction: 600,
      Session: 600,
    },
    findAccount: (_, sub) => {
      const account = accounts.find((each) => each.sub === sub);
      return account && { accountId: sub, claims: () => ({ ...account }) };
    },
    // as in a company, users need not consent to the console
    loadExistingGrant: async ({ oidc: ctx }) => {
      const grant = new ctx.provider.Grant({ clientId: ctx.client?.clientId, accountId: ctx.session?.accountId });
      grant.addOIDCScope('openid profile email groups offline_access');
      await grant.save();
      return grant;
    },
  };
}

interface Options {
  /** The device authorization grant. */
  devices?: boolean;
  /** Lifetime of a device code, in seconds. */
  codeSeconds?: number;
  /** `public`: a person has the same subject for every client. */
  subjectTypes?: ('public' | 'pairwise')[];
}

/** Cookie jar of a browser for one site. */
export function openJar() {
  const cookies = new Map<string, string>();
  return {
    cookies,
    /** Copies the cookies of another browser. */
    copy: (other: ReadonlyMap<string, string>) => {
      for (const [name, value] of other) cookies.set(name, value);
    },
    header: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    take: ({ headers }: Response) => {
      for (const line of headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const name = pair.slice(0, pair.indexOf('='));
        if (/expires=Thu, 01 Jan 1970|max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, pair.slice(name.length + 1));
      }
    },
  };
}

/**
 * Follows the provider's pages like a browser, signs `sub` in and submits every form unchanged. Ends at a redirect to another site or a
 * page without a form to submit. Returns the last address.
 */
export async function walk(issuer: string, from: string, sub: string): Promise<string> {
  const jar = openJar();
  let next: { url: string; form?: URLSearchParams } | null = { url: from };
  let address = from;
  while (next?.url.startsWith(issuer)) {
    address = next.url;
    const isLogin = /\/interaction\/[\w-]+$/.test(address);
    const response: Response = await fetch(isLogin ? `${address}/${sub}` : address, {
      method: next.form ? 'POST' : 'GET',
      body: next.form,
      headers: { cookie: jar.header() },
      redirect: 'manual',
    });
    jar.take(response);
    const location = response.headers.get('location');
    next = location ? { url: new URL(location, address).href } : formIn(await response.text());
    address = next?.url ?? address;
  }
  return address;
}

/** Returns the tokens for a command line at which `sub` signed in. */
export async function tokensFor(issuer: string, sub: string) {
  const client = await oidc.discovery(new URL(issuer), CLI.id, undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
  });
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(client, {
    redirect_uri: 'http://127.0.0.1/callback',
    scope: CLI.scope,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    prompt: 'consent',
  });
  const callback = new URL(await walk(issuer, address.href, sub));
  const tokens = await oidc.authorizationCodeGrant(client, callback, { pkceCodeVerifier: verifier });
  return { idToken: tokens.id_token ?? '', accessToken: tokens.access_token };
}

/** Returns action and hidden fields of a page's form; null without a form, or if it needs input. */
function formIn(page: string): { url: string; form: URLSearchParams } | null {
  const [, url] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, value]));
  return url && form.has('user_code') ? { url, form } : null;
}

/**
 * Opens a real OpenID provider on this machine, for a console at `origin`. Its login page is a list of links:
 * `/interaction/<uid>/<sub>` signs an account in, `/interaction/<uid>/nobody` declines.
 */
export async function openProvider(origin: string, accounts: readonly Account[], port = 0, options: Options = {}) {
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => undefined;
  const server = createServer((request, response) => void handle(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configurationFor(origin, accounts, options));
  // most providers set an interval; the default of five seconds is too long for a test
  provider.use(async (context, next) => {
    await next();
    if (context.path === '/device/auth' && context.status === 200) context.body.interval = 1;
  });
  const callback = provider.callback();
  const tokenFailures: (number | null)[] = [];
  handle = async (request, response) => {
    const failure = request.url === '/token' ? tokenFailures.shift() : undefined;
    if (failure === null) return void request.socket.destroy();
    if (failure !== undefined) {
      response.writeHead(failure, { 'content-type': 'application/json' }).end('{"error":"temporarily_unavailable"}');
      return;
    }
    const [, uid, sub] = /^\/interaction\/([\w-]+)(?:\/([\w-]+))?$/.exec(request.url ?? '') ?? [];
    if (!uid) return void callback(request, response);
    if (sub) {
      const declinedResult = { error: 'access_denied', error_description: 'declined' };
      const result = sub === 'nobody' ? declinedResult : { login: { accountId: sub }, consent: {} };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    }
    const links = [...accounts.map((account) => account.sub), 'nobody'].map(
      (name) => `<p><a href="/interaction/${uid}/${name}">${name}</a></p>`,
    );
    response.setHeader('content-type', 'text/html').end(links.join(''));
  };
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    issuer,
    client: CLIENT,
    cli: CLI,
    /** Statuses with which the next requests for tokens fail; null: the connection breaks. */
    tokenFailures,
    close,
  };
}

export type TestProvider = Awaited<ReturnType<typeof openProvider>>;
