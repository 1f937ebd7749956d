import { nameSchema } from '@liaozhai/shared/contract';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as oidc from 'openid-client';
import * as v from 'valibot';
import { forbidden, messageOf, ReleaseError, reasonOf, STATUSES, usage } from '../../src/errors.ts';
import { truncate } from '../../src/model/action.ts';
import { jsonOrNull } from '../../src/model/documents.ts';
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
import { type Claims, Provider, personOf, type SignInSettings, valuesOf } from './provider.ts';

// People sign in at an OpenID provider; programs have tokens. A session of the console is a signed record in the store, so that
// every console on the store accepts it and it survives restarts. A browser signs in here with authorization code and PKCE, and
// stores the session's key in a cookie. The command line signs in at the provider, exchanges its tokens for a session, and sends
// the session's key as a bearer token.

const name = v.fallback(v.optional(nameSchema), undefined);
/** Page to return to. A request can choose only names, never an address, so that it cannot redirect elsewhere. */
const pageSchema = v.object({ channel: name, view: name });

type Page = v.InferOutput<typeof pageSchema>;

/** Stored in a cookie while the browser is at the provider. */
const attemptSchema = v.object({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  ...pageSchema.entries,
});

type Attempt = v.InferOutput<typeof attemptSchema>;

function parseAttempt(cookie: string): Attempt | null {
  const parsed = v.safeParse(attemptSchema, jsonOrNull(Buffer.from(cookie, 'base64url').toString()));
  return parsed.success ? parsed.output : null;
}

/** Why sign-in failed. The page reads the kind from the fragment of its address and has the text. */
type SignInFailure = 'away' | 'declined' | 'noAccess' | 'expired' | 'failed';

const tokensSchema = v.strictObject({ idToken: v.string(), accessToken: v.string() });
const MAX_TOKENS_BYTES = 64 * 1024;
const MAX_SUBJECT_LENGTH = 64;
const ATTEMPT_SECONDS = 600;
const PAGE_HEADER = 'x-console';

interface SignInOptions {
  settings: SignInSettings;
  store: Store;
  key: SigningKey;
  /** Public origin of the console. */
  origin: string;
  note: (line: string) => void;
  now?: () => Date;
}

/** Routes below `/auth` without a provider. */
export const noSignIn = (): Hono =>
  new Hono().get('/', (context) => context.json({ offered: false, signedIn: false, cli: null }));

/** Creates the sign-in at a provider. If it is unreachable, tokens still work. */
export function createSignIn({ settings, store, key, origin, note, now = () => new Date() }: SignInOptions) {
  const sessions = new Sessions(store, key);
  const provider = new Provider(settings);
  const secure = origin.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const names = {
    session: `${prefix}console-session`,
    /** One cookie for each window with a sign-in under way. */
    attempt: (state = '') => `${prefix}console-sign-in-${state}`,
  };
  const cookie = { path: '/', httpOnly: true, secure } as const;
  const lifetimeMs = settings.sessionHours * 3_600_000;
  const logProblem = (cause: unknown): null => {
    note(`console: ${messageOf(cause)}`);
    return null;
  };
  // requested here, so that a wrong setting is reported at startup and not at the first sign-in
  provider
    .configuration()
    .then((configuration) => provider.requireSameSubjects(configuration))
    .catch(logProblem);

  /**
   * Returns the secret of the session. A cookie counts only with the custom header: a page of another origin would need CORS
   * permission to send it, which is never given.
   */
  function secretOf(context: Context): string | undefined {
    const authorization = context.req.header('authorization');
    if (authorization !== undefined) return settings.cli ? secretOfBearer(authorization) : undefined;
    return context.req.header(PAGE_HEADER) === undefined ? undefined : getCookie(context, names.session);
  }

  async function sessionOf(context: Context): Promise<Session | null> {
    const session = await sessions.find(secretOf(context), now());
    return session?.issuer === settings.issuer.href ? session : null;
  }

  /** Returns the owner of the request's session; null without a valid one. */
  async function callerOf(context: Context): Promise<Caller | null> {
    const session = await sessionOf(context);
    const grants = (session?.values ?? []).flatMap((value) => settings.grants.get(value) ?? []);
    const [first, ...more] = strongestFirst(grants);
    if (!session || !first) return null;
    return { ...first, more, id: truncate(session.subject, MAX_SUBJECT_LENGTH), label: session.person };
  }

  /** Creates a session for the person in the claims. Returns its secret; null for a person without a role. */
  async function startSession(claims: Claims, idToken: string): Promise<{ secret: string | null; person: string }> {
    const values = valuesOf(claims, settings);
    const person = personOf(claims, settings);
    const subject = String(claims.sub);
    if (values.length === 0) {
      note(`console: ${person} (${subject}) signed in, but no value of ${settings.claim} gives a role`);
      return { secret: null, person };
    }
    const at = now();
    const expires = new Date(at.getTime() + lifetimeMs).toISOString();
    const issuer = settings.issuer.href;
    const secret = await sessions.begin({ issuer, subject, person, values, at: at.toISOString(), expires, idToken });
    await sessions.sweep(at).catch(logProblem);
    return { secret, person };
  }

  function redirectToPage(context: Context, { channel, view }: Page, failure?: SignInFailure) {
    const fragment = [view, failure && `sign-in=${failure}`].filter(Boolean).join('&');
    return context.redirect(`/${channel ? `?channel=${channel}` : ''}${fragment && `#${fragment}`}`);
  }

  /** Logs why sign-in failed; the page gets only the kind. */
  function reportFailure(context: Context, cause: unknown, page: Page): Response {
    const isDeclined = cause instanceof oidc.AuthorizationResponseError;
    note(`console: signing in failed: ${isDeclined ? cause.error : reasonOf(cause)}`);
    return redirectToPage(context, page, isDeclined ? 'declined' : 'failed');
  }

  const routes = new Hono();
  routes.use('*', async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
  });
  routes.onError((cause, context) => {
    if (!(cause instanceof ReleaseError)) throw cause;
    const { message, cure, details, kind } = cause;
    if (kind === 'unreachable') logProblem(cause);
    return context.json({ message, cure, details }, STATUSES[kind]);
  });
  routes.get('/', async (context) => {
    const cli = settings.cli && { issuer: settings.issuer.href, ...settings.cli };
    return context.json({ offered: true, signedIn: (await callerOf(context)) !== null, cli });
  });

  routes.get('/login', async (context) => {
    const page = v.parse(pageSchema, context.req.query());
    const configuration = await provider.configuration().catch(logProblem);
    if (!configuration) return redirectToPage(context, page, 'away');
    const attempt: Attempt = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      ...page,
    };
    const state = Buffer.from(JSON.stringify(attempt)).toString('base64url');
    // Lax, because the callback is a navigation from the provider's site
    setCookie(context, names.attempt(attempt.state), state, { ...cookie, sameSite: 'Lax', maxAge: ATTEMPT_SECONDS });
    const address = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: `${origin}/auth/callback`,
      scope: settings.scope,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      // a person without access may want to use another account
      ...(context.req.query('again') === undefined ? {} : { prompt: 'login' }),
    });
    return context.redirect(address.href);
  });

  routes.get('/callback', async (context) => {
    const name = names.attempt(context.req.query('state'));
    const attempt = parseAttempt(getCookie(context, name) ?? '');
    if (!attempt || name !== names.attempt(attempt.state)) return redirectToPage(context, {}, 'expired');
    deleteCookie(context, name, cookie);
    const callback = new URL(`${origin}/auth/callback${new URL(context.req.url).search}`);
    try {
      const { claims, idToken } = await provider.redeem(callback, attempt);
      const { secret } = await startSession(claims, idToken);
      if (secret === null) return redirectToPage(context, attempt, 'noAccess');
      await sessions.end(getCookie(context, names.session));
      setCookie(context, names.session, secret, {
        ...cookie,
        sameSite: 'Strict',
        maxAge: Math.floor(lifetimeMs / 1000),
      });
    } catch (cause) {
      return reportFailure(context, cause, attempt);
    }
    return redirectToPage(context, attempt);
  });

  const denyLongTokens = (context: Context) =>
    context.json({ message: 'these tokens are too long', cure: '', details: [] }, 413);

  routes.post('/session', bodyLimit({ maxSize: MAX_TOKENS_BYTES, onError: denyLongTokens }), async (context) => {
    if (!settings.cli) throw usage('the command line cannot sign in here', 'CONSOLE_OIDC_CLI_CLIENT_ID is not set.');
    const parsedTokens = v.safeParse(tokensSchema, await context.req.json().catch(() => null));
    if (!parsedTokens.success) throw usage('the body is wrong', 'See "HTTP API" in releases/README.md.');
    const { secret, person } = await startSession(await provider.identify(parsedTokens.output, now()), '');
    if (secret === null)
      throw forbidden(
        `${person} has signed in, but none of their groups has access here`,
        'Ask the operator of the console: CONSOLE_OIDC_ROLES says which groups have.',
      );
    return context.json({ session: bearerOf(secret), person, seconds: Math.floor(lifetimeMs / 1000) });
  });

  routes.post('/logout', async (context) => {
    const session = await sessionOf(context);
    if (!session) return context.json({ leave: null });
    await sessions.end(secretOf(context));
    deleteCookie(context, names.session, cookie);
    if (session.idToken === '') return context.json({ leave: null });
    return context.json({ leave: await provider.endSession(session.idToken, `${origin}/`).catch(logProblem) });
  });

  return {
    callerOf,
    /** Routes below `/auth`. */
    routes,
  };
}

export type SignIn = ReturnType<typeof createSignIn>;
