import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as oidc from 'openid-client';
import * as v from 'valibot';
import { messageOf, ReleaseError, unreachable, usage } from '../../src/errors.ts';
import type { SigningKey } from '../../src/model/signing.ts';
import {
  type Caller,
  type Grant,
  parseGrant,
  type Session,
  Sessions,
  strongestFirst,
} from '../../src/operations/tokens.ts';
import type { Store } from '../../src/store/store.ts';

// People sign in at an OpenID provider beside the tokens of programs: authorization code with PKCE, then a session of the console's
// own, whose cookie is the key to a signed record in the store. Every console on the store knows it, and a restart ends nobody's.

const text = v.optional(v.pipe(v.string(), v.nonEmpty()));

/** The environment variables of signing in. */
export const signInVariables = {
  /** Where people reach the console: the provider sends them back there. */
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
  CONSOLE_OIDC_CLIENT_ID: text,
  CONSOLE_OIDC_CLIENT_SECRET: text,
  CONSOLE_OIDC_CLIENT_AUTH: v.optional(v.picklist(['basic', 'post']), 'basic'),
  CONSOLE_OIDC_SCOPE: v.optional(
    v.pipe(v.string(), v.regex(/(?:^| )openid(?: |$)/, 'must have openid in it')),
    'openid profile email',
  ),
  CONSOLE_OIDC_CLAIM: v.optional(v.pipe(v.string(), v.nonEmpty()), 'groups'),
  CONSOLE_OIDC_ROLES: text,
  CONSOLE_OIDC_NAME: v.optional(v.pipe(v.string(), v.nonEmpty()), 'name'),
  CONSOLE_SESSION_HOURS: v.optional(v.pipe(v.string(), v.toNumber(), v.gtValue(0), v.maxValue(168)), '8'),
};

type Variables = v.InferOutput<v.ObjectSchema<typeof signInVariables, undefined>>;

/** How people sign in at an OpenID provider, and what they may then. */
export interface SignInSettings {
  issuer: URL;
  clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  clientSecret: string | null;
  clientAuth: 'basic' | 'post';
  scope: string;
  /** The claim whose values `grants` is about. */
  claim: string;
  grants: ReadonlyMap<string, Grant>;
  /** The claim that names a person in the log. */
  nameClaim: string;
  sessionHours: number;
}

/** `release-managers=manager; team-stories=deployer:stories`. Values may hold `=` and `,`, as names of directories do. Throws usage. */
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

const isLoopback = ({ hostname }: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** The settings of signing in; null where no provider is named. Throws usage where they do not go together. */
export function signInFrom(variables: Variables): SignInSettings | null {
  const { CONSOLE_OIDC_ISSUER: named, CONSOLE_OIDC_CLIENT_ID: clientId, CONSOLE_OIDC_ROLES: roles } = variables;
  if (!named) {
    if (!clientId && !roles) return null;
    throw usage('CONSOLE_OIDC_ISSUER is missing', "Set it to the provider's issuer, or leave CONSOLE_OIDC_* out.");
  }
  const issuer = new URL(named);
  if (issuer.protocol !== 'https:' && !isLoopback(issuer))
    throw usage(`CONSOLE_OIDC_ISSUER ${named} is not https`, 'Plain http is for a provider on this machine only.');
  if (!clientId) throw usage('CONSOLE_OIDC_CLIENT_ID is missing', 'Register the console as a client of the provider.');
  if (!roles)
    throw usage(
      'CONSOLE_OIDC_ROLES is missing: nobody who signs in would have access',
      'Say which value of the claim gives which grant: release-managers=manager; team-stories=deployer:stories',
    );
  return {
    issuer,
    clientId,
    clientSecret: variables.CONSOLE_OIDC_CLIENT_SECRET ?? null,
    clientAuth: variables.CONSOLE_OIDC_CLIENT_AUTH,
    scope: variables.CONSOLE_OIDC_SCOPE,
    claim: variables.CONSOLE_OIDC_CLAIM,
    grants: parseRoles(roles),
    nameClaim: variables.CONSOLE_OIDC_NAME,
    sessionHours: variables.CONSOLE_SESSION_HOURS,
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** A claim by its name, or by the way to it: `realm_access.roles`. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  const step = (value: unknown, key: string) =>
    value instanceof Object && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  return path.split('.').reduce<unknown>(step, claims);
}

/** The values of the claim that give a role. An address counts only where the provider has verified it. */
function valuesOf(claims: Claims, { claim, grants }: SignInSettings): string[] {
  if (claim === 'email' && claims.email_verified !== true) return [];
  const found = claimAt(claims, claim);
  const values = Array.isArray(found) ? found : [found];
  return values.filter((value) => typeof value === 'string').filter((value) => grants.has(value));
}

const LONGEST_NAME = 50;
const LONGEST_SUBJECT = 64;
const cut = (words: string, length: number): string =>
  words.length <= length ? words : `${words.slice(0, length - 1)}…`;

/** What a person is called in the log, on one line. */
function personOf(claims: Claims, { nameClaim }: SignInSettings): string {
  const names = [claimAt(claims, nameClaim), claims.name, claims.preferred_username, claims.email];
  const name = names.find((found) => typeof found === 'string' && found.trim() !== '');
  return cut(typeof name === 'string' ? name.replace(/\p{C}+/gu, ' ').trim() : '', LONGEST_NAME);
}

/** What failed, and why: fetch says that in its cause, some of which have a code only. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const told = cause.message || ('code' in cause ? String(cause.code) : cause.name);
  return cause.cause instanceof Error ? `${told} (${reasonOf(cause.cause)})` : told;
}

const PROVIDER_SECONDS = 10;
const CLOCK_SECONDS = 30;

/** The provider, found when it is first needed; one that is away is asked again the next time. */
class Provider {
  readonly #settings: SignInSettings;
  #found: Promise<oidc.Configuration> | null = null;

  constructor(settings: SignInSettings) {
    this.#settings = settings;
  }

  /** Throws unreachable. */
  configuration(): Promise<oidc.Configuration> {
    this.#found ??= this.#discover().catch((cause: unknown) => {
      this.#found = null;
      const { href } = this.#settings.issuer;
      throw unreachable(
        `signing in at ${href} is not possible now, tokens still work: ${reasonOf(cause)}`,
        'Check CONSOLE_OIDC_ISSUER and the way there.',
      );
    });
    return this.#found;
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret, clientAuth } = this.#settings;
    const withSecret = clientAuth === 'post' ? oidc.ClientSecretPost : oidc.ClientSecretBasic;
    const auth = clientSecret === null ? oidc.None() : withSecret(clientSecret);
    return oidc.discovery(issuer, clientId, { [oidc.clockTolerance]: CLOCK_SECONDS }, auth, {
      timeout: PROVIDER_SECONDS,
      // settings allow plain http for a provider on this machine only
      execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
    });
  }

  /** Where to send a browser so that the provider ends its session as well; null where it offers none. */
  async endSession(idToken: string, returnTo: string): Promise<string | null> {
    const found = await this.configuration();
    if (!found.serverMetadata().end_session_endpoint) return null;
    return oidc.buildEndSessionUrl(found, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }).href;
  }

  /** Redeems the code of a callback. Returns who signed in and the ID token. */
  async redeem(callback: URL, { state, nonce, verifier }: Attempt): Promise<{ claims: Claims; idToken: string }> {
    const found = await this.configuration();
    const tokens = await oidc.authorizationCodeGrant(found, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims: Claims = { ...tokens.claims() };
    const { claim, nameClaim } = this.#settings;
    const isWhole = [claim, nameClaim].every((path) => claimAt(claims, path) !== undefined);
    const idToken = tokens.id_token ?? '';
    if (isWhole || !found.serverMetadata().userinfo_endpoint) return { claims, idToken };
    const more = await oidc.fetchUserInfo(found, tokens.access_token, String(claims.sub));
    return { claims: { ...more, ...claims }, idToken };
  }
}

const attemptSchema = v.object({ state: v.string(), nonce: v.string(), verifier: v.string() });
type Attempt = v.InferOutput<typeof attemptSchema>;

function parseAttempt(cookie: string): Attempt | null {
  try {
    const parsed = v.safeParse(attemptSchema, JSON.parse(Buffer.from(cookie, 'base64url').toString()));
    return parsed.success ? parsed.output : null;
  } catch (cause) {
    if (cause instanceof SyntaxError) return null;
    throw cause;
  }
}

/** Why signing in did not work; the page has the words, and finds the kind in the fragment of its address. */
export type SignInFailure = 'away' | 'declined' | 'noAccess' | 'expired' | 'failed';

const ATTEMPT_SECONDS = 600;
const HEADER = 'x-console';

export interface SignInOptions {
  settings: SignInSettings;
  store: Store;
  key: SigningKey;
  /** Where people reach the console. */
  origin: string;
  note: (line: string) => void;
  now?: () => Date;
}

/** Signing in at a provider: who a request's session belongs to, and the routes below `/auth`. */
export interface SignIn {
  /** Null without a session that counts. */
  callerOf(context: Context): Promise<Caller | null>;
  routes: Hono;
}

/** What `/auth` answers where people cannot sign in at a provider. */
export const noSignIn = (): Hono => new Hono().get('/', (context) => context.json({ offered: false, signedIn: false }));

/** Makes signing in ready. The provider may be away: tokens open the console all the same. */
export function createSignIn({ settings, store, key, origin, note, now = () => new Date() }: SignInOptions): SignIn {
  const sessions = new Sessions(store, key);
  const provider = new Provider(settings);
  const secure = origin.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const names = { session: `${prefix}console-session`, attempt: `${prefix}console-sign-in` };
  const cookie = { path: '/', httpOnly: true, secure } as const;
  const lifetime = settings.sessionHours * 3_600_000;
  const noted = (cause: unknown): null => {
    note(`console: ${messageOf(cause)}`);
    return null;
  };
  // here already, so that a wrong setting is told at the start and not to the first who signs in
  provider.configuration().catch(noted);

  /**
   * A cookie alone opens nothing: only the console's own page can send the header, since a page of another origin would have to ask
   * for leave (CORS) that nobody gives.
   */
  async function sessionOf(context: Context): Promise<Session | null> {
    if (context.req.header(HEADER) === undefined) return null;
    const session = await sessions.find(getCookie(context, names.session), now());
    return session?.issuer === settings.issuer.href ? session : null;
  }

  async function callerOf(context: Context): Promise<Caller | null> {
    const session = await sessionOf(context);
    const grants = (session?.values ?? []).flatMap((value) => settings.grants.get(value) ?? []);
    const [first, ...more] = strongestFirst(grants);
    if (!session || !first) return null;
    return { ...first, more, id: cut(session.subject, LONGEST_SUBJECT), label: session.person };
  }

  const backWith = (context: Context, failure: SignInFailure) => context.redirect(`/#sign-in=${failure}`);

  /** Tells the console's log why it failed; the page gets the kind. */
  function failed(context: Context, cause: unknown): Response {
    const declined = cause instanceof oidc.AuthorizationResponseError;
    note(`console: signing in failed: ${declined ? cause.error : reasonOf(cause)}`);
    return backWith(context, declined ? 'declined' : 'failed');
  }

  const routes = new Hono();
  routes.use('*', async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
  });
  routes.onError((cause, context) => {
    if (!(cause instanceof ReleaseError)) throw cause;
    const { message, cure, details } = cause;
    return context.json({ message, cure, details }, 503);
  });
  routes.get('/', async (context) => context.json({ offered: true, signedIn: (await callerOf(context)) !== null }));

  routes.get('/login', async (context) => {
    const found = await provider.configuration().catch(noted);
    if (!found) return backWith(context, 'away');
    const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
    const kept = Buffer.from(JSON.stringify(attempt)).toString('base64url');
    // Lax: the provider's page sends the browser back
    setCookie(context, names.attempt, kept, { ...cookie, sameSite: 'Lax', maxAge: ATTEMPT_SECONDS });
    const address = oidc.buildAuthorizationUrl(found, {
      redirect_uri: `${origin}/auth/callback`,
      scope: settings.scope,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      // whoever signed in without having access may want to be somebody else
      ...(context.req.query('again') === undefined ? {} : { prompt: 'login' }),
    });
    return context.redirect(address.href);
  });

  routes.get('/callback', async (context) => {
    const attempt = parseAttempt(getCookie(context, names.attempt) ?? '');
    deleteCookie(context, names.attempt, cookie);
    if (!attempt || context.req.query('state') !== attempt.state) return backWith(context, 'expired');
    const callback = new URL(`${origin}/auth/callback${new URL(context.req.url).search}`);
    try {
      const { claims, idToken } = await provider.redeem(callback, attempt);
      const values = valuesOf(claims, settings);
      const person = personOf(claims, settings);
      const subject = String(claims.sub);
      if (values.length === 0) {
        note(`console: ${person} (${subject}) signed in, but no value of ${settings.claim} gives a role`);
        return backWith(context, 'noAccess');
      }
      await sessions.end(getCookie(context, names.session));
      const at = now();
      const expires = new Date(at.getTime() + lifetime).toISOString();
      const issuer = settings.issuer.href;
      const session = { issuer, subject, person, values, at: at.toISOString(), expires, idToken };
      const secret = await sessions.begin(session);
      setCookie(context, names.session, secret, { ...cookie, sameSite: 'Strict', maxAge: Math.floor(lifetime / 1000) });
    } catch (cause) {
      return failed(context, cause);
    }
    await sessions.sweep(now()).catch(noted);
    return context.redirect('/');
  });

  routes.post('/logout', async (context) => {
    const session = await sessionOf(context);
    if (!session) return context.json({ leave: null });
    await sessions.end(getCookie(context, names.session));
    deleteCookie(context, names.session, cookie);
    return context.json({ leave: await provider.endSession(session.idToken, `${origin}/`).catch(noted) });
  });

  return { callerOf, routes };
}
