import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export interface Account {
  sub: string;
  name?: string;
  email?: string;
  groups?: string[];
}

const CLIENT = { id: 'console', secret: 'secret of the console' };
const KEYS = [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })];

function configurationFor(origin: string, accounts: readonly Account[]): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${origin}/auth/callback`],
        post_logout_redirect_uris: [`${origin}/`],
      },
    ],
    jwks: { keys: KEYS as NonNullable<Configuration['jwks']>['keys'] },
    cookies: { keys: ['of a provider for tests'] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_, sub) => {
      const account = accounts.find((known) => known.sub === sub);
      return account && { accountId: sub, claims: () => ({ ...account }) };
    },
    // as in a company: nobody is asked whether the console may know who they are
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.id, accountId: oidc.session?.accountId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  };
}

/**
 * A real OpenID provider on this machine, for a console reached at `origin`. Its login page is a list of links, one for each account;
 * `/interaction/<uid>/<sub>` signs that one in, `/interaction/<uid>/nobody` declines.
 */
export async function openProvider(origin: string, accounts: readonly Account[], port = 0) {
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => undefined;
  const server = createServer((request, response) => void handle(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configurationFor(origin, accounts));
  const callback = provider.callback();
  handle = async (request, response) => {
    const [, uid, sub] = /^\/interaction\/([\w-]+)(?:\/([\w-]+))?$/.exec(request.url ?? '') ?? [];
    if (!uid) return void callback(request, response);
    if (sub) {
      const declined = { error: 'access_denied', error_description: 'declined' };
      const result = sub === 'nobody' ? declined : { login: { accountId: sub } };
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
  return { issuer, client: CLIENT, close };
}

export type TestProvider = Awaited<ReturnType<typeof openProvider>>;
