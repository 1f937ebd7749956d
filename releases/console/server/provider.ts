import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import * as v from 'valibot';
import { forbidden, reasonOf, refused, unreachable, usage } from '../../src/errors.ts';
import { truncate } from '../../src/model/action.ts';
import { isLoopback } from '../../src/operations/override.ts';
import { type Grant, parseGrant } from '../../src/operations/tokens.ts';
import { say } from '../../src/sentences.ts';

// Settings of the OpenID provider, requests to it, and the mapping of its claims to roles and names.

const optionalText = v.optional(v.pipe(v.string(), v.nonEmpty()));

const scope = v.pipe(v.string(), v.regex(/(?:^| )openid(?: |$)/, 'must have openid in it'));

export const signInVariables = {
  /** Public origin of the console, to which the provider redirects. */
  CONSOLE_ORIGIN: v.optional(
    v.pipe(
      v.string(),
      v.url(),
      v.check(
        (url) => new URL(url).origin === url.replace(/\/$/, ''),
        'must be an origin such as https://console.example',
      ),
    ),
  ),
  CONSOLE_OIDC_ISSUER: v.optional(v.pipe(v.string(), v.url())),
  CONSOLE_OIDC_CLIENT_ID: optionalText,
  CONSOLE_OIDC_CLIENT_SECRET: optionalText,
  CONSOLE_OIDC_CLIENT_AUTH: v.optional(v.picklist(['basic', 'post']), 'basic'),
  CONSOLE_OIDC_SCOPE: v.optional(scope, 'openid profile email'),
  CONSOLE_OIDC_CLAIM: v.optional(v.pipe(v.string(), v.nonEmpty()), 'groups'),
  CONSOLE_OIDC_ROLES: optionalText,
  /** Client id of the command line: a public client, because its users could read a secret. */
  CONSOLE_OIDC_CLI_CLIENT_ID: optionalText,
  CONSOLE_OIDC_CLI_SCOPE: v.optional(scope),
  CONSOLE_OIDC_NAME: v.optional(v.pipe(v.string(), v.nonEmpty()), 'name'),
  CONSOLE_SESSION_HOURS: v.optional(v.pipe(v.string(), v.toNumber(), v.gtValue(0), v.maxValue(168)), '8'),
};

type Variables = v.InferOutput<v.ObjectSchema<typeof signInVariables, undefined>>;

/** How people sign in at an OpenID provider, and which grants they get. */
export type SignInSettings = NonNullable<ReturnType<typeof signInFrom>>;

/** Parses `release-managers=manager; team-stories=deployer:stories`. Values may contain `=` and `,`. Throws usage. */
function parseRoles(roles: string): Map<string, Grant> {
  const pairs = roles.split(';').map((pair) => pair.trim());
  return new Map(
    pairs.filter(Boolean).map((pair): [string, Grant] => {
      const at = pair.lastIndexOf('=');
      if (at < 1) throw usage(`CONSOLE_OIDC_ROLES: "${pair}" gives no role`, 'Use <value of the claim>=<grant>; … .');
      return [pair.slice(0, at).trim(), parseGrant(pair.slice(at + 1).trim())];
    }),
  );
}

/** Returns the sign-in settings, or null if no provider is configured. Throws usage for an inconsistent configuration. */
export function signInFrom(variables: Variables) {
  const { CONSOLE_OIDC_ISSUER: issuerUrl, CONSOLE_OIDC_CLIENT_ID: clientId, CONSOLE_OIDC_ROLES: roles } = variables;
  const cli = variables.CONSOLE_OIDC_CLI_CLIENT_ID;
  if (!issuerUrl) {
    if (!clientId && !roles && !cli) return null;
    throw usage('CONSOLE_OIDC_ISSUER is missing', "Set it to the provider's issuer, or leave CONSOLE_OIDC_* out.");
  }
  const issuer = new URL(issuerUrl);
  if (issuer.protocol !== 'https:' && !isLoopback(issuer.origin))
    throw usage(`CONSOLE_OIDC_ISSUER ${issuerUrl} is not https`, 'Plain http is for a provider on this machine only.');
  if (!clientId) throw usage('CONSOLE_OIDC_CLIENT_ID is missing', 'Register the console as a client of the provider.');
  if (!roles)
    throw usage(
      'CONSOLE_OIDC_ROLES is missing: nobody who signs in would have access',
      'Say which value of the claim gives which grant: release-managers=manager; team-stories=deployer:stories',
    );
  return {
    issuer,
    clientId,
    // null for a public client, which only PKCE protects
    clientSecret: variables.CONSOLE_OIDC_CLIENT_SECRET ?? null,
    clientAuth: variables.CONSOLE_OIDC_CLIENT_AUTH,
    scope: variables.CONSOLE_OIDC_SCOPE,
    // its values are mapped to roles by `grants`
    claim: variables.CONSOLE_OIDC_CLAIM,
    grants: parseRoles(roles),
    // names a person in the log
    nameClaim: variables.CONSOLE_OIDC_NAME,
    sessionHours: variables.CONSOLE_SESSION_HOURS,
    // how people sign in at the command line; null if they cannot
    cli: cli ? { clientId: cli, scope: variables.CONSOLE_OIDC_CLI_SCOPE ?? variables.CONSOLE_OIDC_SCOPE } : null,
  };
}

export type Claims = Readonly<Record<string, unknown>>;

/** Reads a claim by name or by path, such as `realm_access.roles`. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  const step = (value: unknown, key: string) =>
    value instanceof Object && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  return path.split('.').reduce<unknown>(step, claims);
}

/** Returns the values of the claim that give a role. An email address counts only if the provider has verified it. */
export function valuesOf(claims: Claims, { claim, grants }: SignInSettings): string[] {
  if (claim === 'email' && claims.email_verified !== true) return [];
  const claimValue = claimAt(claims, claim);
  const values = Array.isArray(claimValue) ? claimValue : [claimValue];
  return values.filter((value) => typeof value === 'string').filter((value) => grants.has(value));
}

const MAX_NAME_LENGTH = 50;

/** Name of a person in the log, on one line. */
export function personOf(claims: Claims, { nameClaim }: SignInSettings): string {
  const names = [claimAt(claims, nameClaim), claims.name, claims.preferred_username, claims.email];
  const name = names.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  return truncate(typeof name === 'string' ? name.replace(/\p{C}+/gu, ' ').trim() : '', MAX_NAME_LENGTH);
}

const PROVIDER_TIMEOUT_SECONDS = 10;
const CLOCK_TOLERANCE_SECONDS = 30;
/** Maximum age of an ID token, in seconds: an older one, which may be stolen, opens no session. */
const MAX_TOKEN_AGE_SECONDS = 600;
/** Accepted signature algorithms. HMAC is missing because a holder of the client secret could sign with it. */
const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** True for a fault of the token itself. Other errors may pass on a retry. */
const isTokenError = (cause: unknown): cause is errors.JOSEError =>
  cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout) && cause.code !== 'ERR_JOSE_GENERIC';

const WRONG_CLIENT =
  'the provider does not accept this client: check CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_CLIENT_SECRET and CONSOLE_OIDC_CLIENT_AUTH';

/** True if the provider refuses the client itself, which the library reports only as an HTTP error. */
const isClientError = (cause: unknown): boolean =>
  cause instanceof oidc.WWWAuthenticateChallengeError ||
  (cause instanceof oidc.ResponseBodyError && ['invalid_client', 'unauthorized_client'].includes(cause.error));

/** The provider, discovered on first use. A failed discovery is repeated on the next use. */
export class Provider {
  readonly #settings: SignInSettings;
  #configuration: Promise<oidc.Configuration> | null = null;
  #keys: JWTVerifyGetKey | null = null;

  constructor(settings: SignInSettings) {
    this.#settings = settings;
  }

  /** Throws unreachable. */
  configuration(): Promise<oidc.Configuration> {
    this.#configuration ??= this.#discover().catch((cause: unknown) => {
      this.#configuration = null;
      const { href } = this.#settings.issuer;
      throw unreachable(
        `signing in at ${href} is not possible now, tokens still work: ${reasonOf(cause)}`,
        'Check CONSOLE_OIDC_ISSUER and the way there.',
      );
    });
    return this.#configuration;
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret, clientAuth } = this.#settings;
    const withSecret = clientAuth === 'post' ? oidc.ClientSecretPost : oidc.ClientSecretBasic;
    const auth = clientSecret === null ? oidc.None() : withSecret(clientSecret);
    return oidc.discovery(issuer, clientId, { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS }, auth, {
      timeout: PROVIDER_TIMEOUT_SECONDS,
      // the settings allow plain HTTP only for a provider on this machine
      execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
    });
  }

  /** Returns the address at which the provider ends its session; null if it offers none. */
  async endSession(idToken: string, returnTo: string): Promise<string | null> {
    const configuration = await this.configuration();
    if (!configuration.serverMetadata().end_session_endpoint) return null;
    return oidc.buildEndSessionUrl(configuration, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }).href;
  }

  /** Redeems the authorization code of a callback. Returns the claims of the ID token and the userinfo endpoint. */
  async redeem(callback: URL, { state, nonce, verifier }: Record<'state' | 'nonce' | 'verifier', string>) {
    const configuration = await this.configuration();
    const tokens = await oidc
      .authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      .catch((cause: unknown) => {
        throw isClientError(cause) ? new Error(WRONG_CLIENT, { cause }) : cause;
      });
    const claims = await this.#withUserInfo(configuration, { ...tokens.claims() }, tokens.access_token);
    return { claims, idToken: tokens.id_token ?? '' };
  }

  /**
   * Verifies the tokens that the command line got from the provider. Throws forbidden for an ID token of another issuer or
   * client, or one that is too old; refused for pairwise subjects, and unreachable.
   */
  async identify({ idToken, accessToken }: Record<'idToken' | 'accessToken', string>, now: Date): Promise<Claims> {
    const configuration = await this.configuration();
    this.requireSameSubjects(configuration);
    const claims = await this.#verifyIdToken(configuration, idToken, now);
    return this.#withUserInfo(configuration, claims, accessToken).catch((cause: unknown) => {
      if (cause instanceof oidc.WWWAuthenticateChallengeError)
        throw forbidden('the provider does not know this access token', say('signInOverCure'));
      throw unreachable(`the provider does not tell who this is: ${reasonOf(cause)}`, 'Try again.');
    });
  }

  /** Throws refused for pairwise subjects of two clients. One person would be two subjects, who could approve each other's changes. */
  requireSameSubjects(configuration: oidc.Configuration): void {
    const { clientId, cli } = this.#settings;
    const kinds = configuration.serverMetadata().subject_types_supported ?? ['public'];
    if (cli && cli.clientId !== clientId && !kinds.includes('public'))
      throw refused(
        'the provider gives each client subjects of its own, so that one person would be two',
        'Set CONSOLE_OIDC_CLI_CLIENT_ID to the same client as CONSOLE_OIDC_CLIENT_ID.',
      );
  }

  async #verifyIdToken(configuration: oidc.Configuration, idToken: string, currentDate: Date): Promise<JWTPayload> {
    const { issuer, jwks_uri = '' } = configuration.serverMetadata();
    const audience = this.#settings.cli?.clientId ?? '';
    try {
      this.#keys ??= createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: PROVIDER_TIMEOUT_SECONDS * 1000 });
      const { payload } = await jwtVerify(idToken, this.#keys, {
        issuer,
        audience,
        currentDate,
        algorithms: SIGNATURE_ALGORITHMS,
        requiredClaims: ['sub', 'exp', 'iat'],
        maxTokenAge: MAX_TOKEN_AGE_SECONDS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      const [party, ...others] = [payload.azp ?? payload.aud].flat();
      if (party === audience && others.length === 0) return payload;
    } catch (cause) {
      if (isTokenError(cause))
        throw forbidden(`this ID token does not count here: ${cause.message}`, say('signInOverCure'));
      throw unreachable(`the keys of the provider cannot be read: ${reasonOf(cause)}`, 'Try again.');
    }
    throw forbidden('this ID token was made for another client', say('signInOverCure'));
  }

  /** Adds the claims of the userinfo endpoint if the ID token lacks a required one. */
  async #withUserInfo(configuration: oidc.Configuration, claims: Claims, accessToken: string): Promise<Claims> {
    const { claim, nameClaim } = this.#settings;
    const isComplete = [claim, nameClaim].every((path) => claimAt(claims, path) !== undefined);
    if (isComplete || !configuration.serverMetadata().userinfo_endpoint) return claims;
    return { ...(await oidc.fetchUserInfo(configuration, accessToken, String(claims.sub))), ...claims };
  }
}
