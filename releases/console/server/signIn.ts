import { nameSchema } from '@liaozhai/shared/contract';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as oidc from 'openid-client';
import * as v from 'valibot';
import { forbidden, messageOf, ReleaseError, STATUSES, usage } from '../../src/errors.ts';
import type { SigningKey } from '../../src/model/signing.ts';
import {
  bearerOf,
  type Caller,
  type Session,
  Sessions,
  secretOfBearer,
  strongestFirst,
} from '../../src/operations/tokens.ts';
import type { Store } from '../../src/store/store.ts';
import {
  type Attempt,
  type Claims,
  cut,
  Provider,
  personOf,
  reasonOf,
  type SignInSettings,
  valuesOf,
} from './provider.ts';

// People sign in at an OpenID provider; programs have tokens. A session of the console is a signed record in the store: every
// console on it knows it, and no restart ends it. A browser signs in here, with authorization code and PKCE, and keeps the
// session's key in a cookie. The command line signs in at the provider, exchanges what it got for a session, and sends its key as a
// bearer token.

const attemptSchema = v.object({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  channel: v.fallback(v.optional(nameSchema), undefined),
});

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

const tokensSchema = v.strictObject({ idToken: v.string(), accessToken: v.string() });
const LONGEST_TOKENS = 64 * 1024;
const LONGEST_SUBJECT = 64;
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
export const noSignIn = (): Hono =>
  new Hono().get('/', (context) => context.json({ offered: false, signedIn: false, cli: null }));

/** Makes signing in ready. The provider may be away: tokens open the console all the same. */
export function createSignIn({ settings, store, key, origin, note, now = () => new Date() }: SignInOptions): SignIn {
  const sessions = new Sessions(store, key);
  const provider = new Provider(settings);
  const secure = origin.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const names = {
    session: `${prefix}console-session`,
    /** One for each window that is at the provider. */
    attempt: (state = '') => `${prefix}console-sign-in-${state}`,
  };
  const cookie = { path: '/', httpOnly: true, secure } as const;
  const lifetime = settings.sessionHours * 3_600_000;
  const noted = (cause: unknown): null => {
    note(`console: ${messageOf(cause)}`);
    return null;
  };
  // checked here, so that a wrong setting shows at the start and not at the first sign-in
  provider
    .configuration()
    .then((found) => provider.requireSameSubjects(found))
    .catch(noted);

  /**
   * A cookie alone opens nothing: only the console's own page can send the header, since a page of another origin would have to ask
   * for leave (CORS) that nobody gives.
   */
  function secretOf(context: Context): string | undefined {
    const authorization = context.req.header('authorization');
    if (authorization !== undefined) return settings.cli ? secretOfBearer(authorization) : undefined;
    return context.req.header(HEADER) === undefined ? undefined : getCookie(context, names.session);
  }

  async function sessionOf(context: Context): Promise<Session | null> {
    const session = await sessions.find(secretOf(context), now());
    return session?.issuer === settings.issuer.href ? session : null;
  }

  async function callerOf(context: Context): Promise<Caller | null> {
    const session = await sessionOf(context);
    const grants = (session?.values ?? []).flatMap((value) => settings.grants.get(value) ?? []);
    const [first, ...more] = strongestFirst(grants);
    if (!session || !first) return null;
    return { ...first, more, id: cut(session.subject, LONGEST_SUBJECT), label: session.person };
  }

  /** Begins a session for the person the provider named. Returns its secret; null for a person without a role. */
  async function begin(claims: Claims, idToken: string): Promise<{ secret: string | null; person: string }> {
    const values = valuesOf(claims, settings);
    const person = personOf(claims, settings);
    const subject = String(claims.sub);
    if (values.length === 0) {
      note(`console: ${person} (${subject}) signed in, but no value of ${settings.claim} gives a role`);
      return { secret: null, person };
    }
    const at = now();
    const expires = new Date(at.getTime() + lifetime).toISOString();
    const issuer = settings.issuer.href;
    const secret = await sessions.begin({ issuer, subject, person, values, at: at.toISOString(), expires, idToken });
    await sessions.sweep(at).catch(noted);
    return { secret, person };
  }

  /** Where a browser comes back to: the name of a channel is all it may choose, never an address. */
  const pageOf = (channel?: string): string => (channel === undefined ? '/' : `/?channel=${channel}`);

  const backWith = (context: Context, failure: SignInFailure, channel?: string) =>
    context.redirect(`${pageOf(channel)}#sign-in=${failure}`);

  /** Tells the console's log why it failed; the page gets the kind. */
  function failed(context: Context, cause: unknown, channel?: string): Response {
    const declined = cause instanceof oidc.AuthorizationResponseError;
    note(`console: signing in failed: ${declined ? cause.error : reasonOf(cause)}`);
    return backWith(context, declined ? 'declined' : 'failed', channel);
  }

  const routes = new Hono();
  routes.use('*', async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
  });
  routes.onError((cause, context) => {
    if (!(cause instanceof ReleaseError)) throw cause;
    const { message, cure, details, kind } = cause;
    if (kind === 'unreachable') noted(cause);
    return context.json({ message, cure, details }, STATUSES[kind]);
  });
  routes.get('/', async (context) => {
    const cli = settings.cli && { issuer: settings.issuer.href, ...settings.cli };
    return context.json({ offered: true, signedIn: (await callerOf(context)) !== null, cli });
  });

  routes.get('/login', async (context) => {
    const named = v.safeParse(nameSchema, context.req.query('channel'));
    const channel = named.success ? named.output : undefined;
    const configuration = await provider.configuration().catch(noted);
    if (!configuration) return backWith(context, 'away', channel);
    const attempt: Attempt = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      channel,
    };
    const state = Buffer.from(JSON.stringify(attempt)).toString('base64url');
    // Lax: the provider's page sends the browser back
    setCookie(context, names.attempt(attempt.state), state, { ...cookie, sameSite: 'Lax', maxAge: ATTEMPT_SECONDS });
    const address = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: `${origin}/auth/callback`,
      scope: settings.scope,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      // a person without access may want to sign in as somebody else
      ...(context.req.query('again') === undefined ? {} : { prompt: 'login' }),
    });
    return context.redirect(address.href);
  });

  routes.get('/callback', async (context) => {
    const name = names.attempt(context.req.query('state'));
    const attempt = parseAttempt(getCookie(context, name) ?? '');
    if (!attempt || name !== names.attempt(attempt.state)) return backWith(context, 'expired');
    deleteCookie(context, name, cookie);
    const { channel } = attempt;
    const callback = new URL(`${origin}/auth/callback${new URL(context.req.url).search}`);
    try {
      const { claims, idToken } = await provider.redeem(callback, attempt);
      const { secret } = await begin(claims, idToken);
      if (secret === null) return backWith(context, 'noAccess', channel);
      await sessions.end(getCookie(context, names.session));
      setCookie(context, names.session, secret, { ...cookie, sameSite: 'Strict', maxAge: Math.floor(lifetime / 1000) });
    } catch (cause) {
      return failed(context, cause, channel);
    }
    return context.redirect(pageOf(channel));
  });

  const tooLong = (context: Context) =>
    context.json({ message: 'these tokens are too long', cure: '', details: [] }, 413);

  routes.post('/session', bodyLimit({ maxSize: LONGEST_TOKENS, onError: tooLong }), async (context) => {
    if (!settings.cli) throw usage('the command line cannot sign in here', 'CONSOLE_OIDC_CLI_CLIENT_ID is not set.');
    const sent = v.safeParse(tokensSchema, await context.req.json().catch(() => null));
    if (!sent.success) throw usage('the body is wrong', 'See "HTTP API" in releases/README.md.');
    const { secret, person } = await begin(await provider.identify(sent.output, now()), '');
    if (secret === null)
      throw forbidden(
        `${person} has signed in, but none of their groups has access here`,
        'Ask whoever runs the console: CONSOLE_OIDC_ROLES says which groups have.',
      );
    return context.json({ session: bearerOf(secret), person, seconds: Math.floor(lifetime / 1000) });
  });

  routes.post('/logout', async (context) => {
    const session = await sessionOf(context);
    if (!session) return context.json({ leave: null });
    await sessions.end(secretOf(context));
    deleteCookie(context, names.session, cookie);
    if (session.idToken === '') return context.json({ leave: null });
    return context.json({ leave: await provider.endSession(session.idToken, `${origin}/`).catch(noted) });
  });

  return { callerOf, routes };
}
