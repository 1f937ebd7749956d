import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type * as Oidc from 'openid-client';
import * as v from 'valibot';
import { forbidden, hasCode, messageOf, ReleaseError, reasonOf, refused, unreachable, usage } from '../src/errors.ts';
import { isLoopback } from '../src/operations/override.ts';
import { consoleSender } from '../src/releaseClient.ts';
import { guardFolder, makeFolder } from '../src/store/fileStore.ts';

// A person signs in at the console's provider and exchanges the provider's tokens for a session of the console. The session key
// is stored in the person's configuration folder, one file per console. A refresh token next to it starts the next session.

const storedSignInSchema = v.object({
  origin: v.string(),
  issuer: v.string(),
  clientId: v.string(),
  person: v.string(),
  session: v.string(),
  /** When the session ends, by this machine's clock. */
  expires: v.string(),
  refreshToken: v.nullable(v.string()),
});
export type StoredSignIn = v.InferOutput<typeof storedSignInSchema>;

const offerSchema = v.object({
  cli: v.optional(v.nullable(v.object({ issuer: v.string(), clientId: v.string(), scope: v.string() })), null),
});
const nextTokenSchema = v.object({ refresh_token: v.string() });
const sessionSchema = v.object({ session: v.string(), person: v.string(), seconds: v.number() });

const environment = process.env;
const CLOCK_TOLERANCE_MS = 30_000;
const REQUEST_SECONDS = 30;
const SIGN_IN_MS = 600_000;
const LOCK_POLL_MS = 100;
const MAX_LOCK_AGE_MS = 60_000;
const MAX_POLL_SECONDS = 30;
/** Room for the tokens of any provider. */
const RESERVED_BYTES = 32_768;

const cureFor = (origin: string): string => `Sign in again: pnpm release login --store ${origin}`;

function fileFor(origin: string): string {
  const { XDG_CONFIG_HOME: configHome = '' } = environment;
  const folder = isAbsolute(configHome) ? configHome : join(homedir(), '.config');
  return join(folder, 'liaozhai', `${origin.replace(/[^\w.-]+/g, '-')}.json`);
}

/** Reports faults of the configuration folder. */
const guard = <Result>(origin: string, work: () => Promise<Result>) => guardFolder(dirname(fileFor(origin)), work);

/**
 * Loads the stored sign-in for a console, or null. Throws usage for a file that is damaged or that others can read, unreachable for
 * one that cannot be read.
 */
export function loadSignIn(url: string): Promise<StoredSignIn | null> {
  const { origin } = new URL(url);
  return guard(origin, () => readSignIn(origin));
}

async function readSignIn(origin: string): Promise<StoredSignIn | null> {
  const file = fileFor(origin);
  try {
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw usage(`${file} can be read by others`, `Sign in again after: rm ${file}`);
    const parsed = v.safeParse(storedSignInSchema, JSON.parse(await readFile(file, 'utf8')));
    if (parsed.success && parsed.output.origin === origin) return parsed.output;
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return null;
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw usage(`${file} is damaged`, `Sign in again after: rm ${file}`);
}

/** Runs `work` with a file that reserves the room of a sign-in on the disk. Others can never read it. */
async function withRoom<Result>(origin: string, work: (reserved: string) => Promise<Result>): Promise<Result> {
  const reserved = `${fileFor(origin)}.${process.pid}`;
  const remove = () => guard(origin, () => rm(reserved, { force: true }));
  await remove();
  try {
    await guard(origin, async () => {
      await makeFolder(dirname(reserved));
      await writeFile(reserved, ' '.repeat(RESERVED_BYTES), { mode: 0o600, flag: 'wx' });
      await chmod(dirname(reserved), 0o700);
    });
    return await work(reserved);
  } finally {
    await remove();
  }
}

/** Replaces the file atomically. */
const storeSignIn = (record: StoredSignIn, reserved: string): Promise<void> =>
  guard(record.origin, async () => {
    const text = `${JSON.stringify(record, null, 2)}\n`;
    await writeFile(reserved, text, { flag: 'r+' });
    await truncate(reserved, Buffer.byteLength(text));
    await rename(reserved, fileFor(record.origin));
  });

type Library = typeof Oidc;

/** A console and its provider. */
type Target = Pick<StoredSignIn, 'origin' | 'issuer' | 'clientId'>;

/** Discovers the provider. Throws usage for plain HTTP over a network, unreachable, forbidden. */
async function discover(target: Target): Promise<{ oidc: Library; provider: Oidc.Configuration }> {
  const { issuer, clientId } = target;
  requirePrivate(issuer);
  // imported here, because a caller with a token does not need it
  const oidc = await import('openid-client');
  const provider = await oidc
    .discovery(new URL(issuer), clientId, undefined, oidc.None(), {
      timeout: REQUEST_SECONDS,
      // `requirePrivate` allows plain HTTP only on this machine
      execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
    })
    .catch((cause: unknown) => {
      throw toReleaseError(oidc, cause, target);
    });
  return { oidc, provider };
}

/** Rejects an address at which others could read secrets in transit. Throws usage. */
function requirePrivate(url: string): void {
  if (new URL(url).protocol === 'https:' || isLoopback(url)) return;
  throw usage(`${url} is not https`, 'Plain http is for this machine only.');
}

type Tokens = Awaited<ReturnType<Library['refreshTokenGrant']>>;

/** Status of the response in an error of the provider; undefined without one. */
function statusOf(cause: unknown): unknown {
  if (typeof cause !== 'object' || cause === null) return undefined;
  return 'status' in cause ? cause.status : 'cause' in cause ? statusOf(cause.cause) : undefined;
}

/** True for a failure that may pass: no response, one of a gateway, or a provider that is too busy. */
function isTransient(oidc: Library, cause: unknown): boolean {
  if (cause instanceof oidc.ResponseBodyError && cause.error === 'temporarily_unavailable') return true;
  const status = statusOf(cause);
  if (status === undefined) return cause instanceof TypeError || hasCode(cause, 'OAUTH_TIMEOUT');
  return status === 429 || Number(status) >= 500;
}

/** Translates an error of the provider to one with a cure. */
function toReleaseError(oidc: Library, cause: unknown, { origin, issuer }: Target): ReleaseError {
  if (cause instanceof ReleaseError) return cause;
  if (isTransient(oidc, cause))
    return unreachable(`the provider ${issuer} does not answer: ${reasonOf(cause)}`, 'Try again.');
  if (cause instanceof oidc.AuthorizationResponseError || cause instanceof oidc.ResponseBodyError) {
    const { error, error_description: description = '' } = cause;
    if (error === 'access_denied') return forbidden('the provider says that this was declined', cureFor(origin));
    if (error === 'expired_token') return refused('nobody signed in while the code held', 'Run login again.');
    return forbidden(`the provider refuses: ${[error, description].filter(Boolean).join(', ')}`, cureFor(origin));
  }
  if (hasCode(cause, 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'))
    return forbidden(
      `the provider's ID token does not hold by the clock here, ${new Date().toISOString()}: ${reasonOf(cause)}`,
      `Correct the clock of this machine, or have that of the provider corrected. ${cureFor(origin)}`,
    );
  return forbidden(
    `the provider's answer does not count here: ${reasonOf(cause)}`,
    'Ask the operator of the console: CONSOLE_OIDC_ISSUER and CONSOLE_OIDC_CLI_CLIENT_ID must be those of the provider.',
  );
}

interface SignInContext {
  oidc: Library;
  provider: Oidc.Configuration;
  scope: string;
  report: (line: string) => void;
}

/** Signs in with a code that is confirmed in a browser on any device (RFC 8628). */
async function signInByDevice({ oidc, provider, scope, report }: SignInContext): Promise<Tokens> {
  const authorization = await oidc.initiateDeviceAuthorization(provider, { scope });
  report(`Sign in at ${authorization.verification_uri} with the code ${authorization.user_code}`);
  if (authorization.verification_uri_complete) report(`or open ${authorization.verification_uri_complete}`);
  const { expires_in: seconds } = authorization;
  const span = seconds < 120 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`;
  report(`The code holds for ${span}; Ctrl+C gives up.`);
  const signal = AbortSignal.timeout(seconds * 1000);
  for (let interval = authorization.interval ?? 5; ; interval = Math.min(MAX_POLL_SECONDS, 2 * interval)) {
    try {
      return await oidc.pollDeviceAuthorizationGrant(provider, { ...authorization, interval }, undefined, { signal });
    } catch (cause) {
      if (signal.aborted) throw refused('nobody signed in while the code held', 'Run login again.');
      if (!isTransient(oidc, cause)) throw cause;
      report(`The provider does not answer: ${reasonOf(cause)}. It is asked again while the code holds.`);
    }
  }
}

/** Signs in with a browser on this machine, which is redirected to a temporary local port (RFC 8252). */
async function signInByBrowser({ oidc, provider, scope, report }: SignInContext): Promise<Tokens> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  const callbackRequest = new Promise<URL>((resolve) => {
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '', redirectUri);
      const isCallback = url.pathname === '/callback' && url.searchParams.get('state') === state;
      response.writeHead(isCallback ? 200 : 404, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
      const body = isCallback ? 'You can close this window; the terminal says whether it worked.\n' : '';
      response.end(body, () => isCallback && resolve(url));
    });
  });
  const address = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    // OpenID Connect requires it for a refresh token
    ...(scope.split(' ').includes('offline_access') ? { prompt: 'consent' } : {}),
  });
  report(`Sign in with a browser on this machine: ${address.href}`);
  openBrowser(address.href);
  const timeoutSignal = AbortSignal.timeout(SIGN_IN_MS);
  try {
    const timeout = once(timeoutSignal, 'abort').then(() => {
      throw refused('nobody signed in within 10 minutes', 'Run login again.');
    });
    const callback = await Promise.race([callbackRequest, timeout]);
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    return await oidc.authorizationCodeGrant(provider, callback, checks);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Opens a browser if the terminal is interactive. The address is printed as well, so failures are ignored. */
function openBrowser(address: string): void {
  if (!process.stderr.isTTY) return;
  const openers: Partial<Record<NodeJS.Platform, string[]>> = {
    darwin: ['open'],
    win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  };
  const [program = '', ...words] = openers[process.platform] ?? ['xdg-open'];
  const opener = spawn(program, [...words, address], { stdio: 'ignore', detached: true });
  opener.on('error', () => undefined);
  opener.unref();
}

/** Parses a response. Throws unreachable if it is not from a console. */
function parseAnswer<Output>(schema: v.GenericSchema<unknown, Output>, answer: unknown, origin: string): Output {
  const parsed = v.safeParse(schema, answer);
  if (parsed.success) return parsed.output;
  throw unreachable(`${origin} does not answer as a console`, 'Check --store.');
}

/** Exchanges the provider's tokens for a session, and stores it. Throws forbidden for a person without access. */
async function startSession(
  tokens: Tokens,
  target: Target & Pick<StoredSignIn, 'refreshToken'>,
): Promise<StoredSignIn> {
  if (!tokens.id_token) throw forbidden('the provider does not say again who you are', cureFor(target.origin));
  const body = { idToken: tokens.id_token, accessToken: tokens.access_token };
  const answer = await consoleSender({ origin: target.origin, token: null })('POST', '/auth/session', body);
  const { session, person, seconds } = parseAnswer(sessionSchema, answer, target.origin);
  const expires = new Date(Date.now() + seconds * 1000).toISOString();
  const storedSignIn = {
    ...target,
    person,
    session,
    expires,
    refreshToken: tokens.refresh_token ?? target.refreshToken,
  };
  await withRoom(target.origin, (reserved) => storeSignIn(storedSignIn, reserved));
  return storedSignIn;
}

export interface SignInRequest {
  url: string;
  /** Signs in with a browser here, even if the provider supports device codes. */
  browser: boolean;
  report: (line: string) => void;
}

/** Signs a person in at the provider of the console at `url`. Throws refused if that console does not support it. */
export async function signIn({ url, browser, report }: SignInRequest): Promise<StoredSignIn> {
  const { origin } = new URL(url);
  requirePrivate(origin);
  const { cli } = parseAnswer(offerSchema, await consoleSender({ origin, token: null })('GET', '/auth'), origin);
  if (!cli)
    throw refused(
      `${origin} signs nobody in at the command line`,
      'Have CONSOLE_OIDC_CLI_CLIENT_ID set there, or use a token: RELEASES_TOKEN.',
    );
  // before somebody confirms a code in vain
  await withRoom(origin, async () => undefined);
  const { scope, ...client } = cli;
  const target = { origin, ...client };
  const { oidc, provider } = await discover(target);
  const offersCodes = provider.serverMetadata().device_authorization_endpoint !== undefined;
  const obtainTokens = offersCodes && !browser ? signInByDevice : signInByBrowser;
  const tokens = await obtainTokens({ oidc, provider, scope, report }).catch((cause: unknown) => {
    throw toReleaseError(oidc, cause, target);
  });
  return startSession(tokens, { ...target, refreshToken: null });
}

/** Starts the next session with the refresh token. Throws forbidden if the token is missing or the provider refuses it. */
async function renewSession(formerSignIn: StoredSignIn): Promise<StoredSignIn> {
  const { origin, refreshToken } = formerSignIn;
  if (refreshToken === null) throw forbidden(`your sign-in at ${origin} is over`, cureFor(origin));
  const { oidc, provider } = await discover(formerSignIn);
  const tokens = await withRoom(origin, async (reserved) => {
    // the provider takes this refresh token only once: the next one is stored before its answer is judged
    provider[oidc.customFetch] = async (url, options) => {
      const response = await fetch(url, options as RequestInit);
      const answer = v.safeParse(
        nextTokenSchema,
        await response
          .clone()
          .json()
          .catch(() => null),
      );
      if (response.ok && answer.success)
        await storeSignIn({ ...formerSignIn, refreshToken: answer.output.refresh_token }, reserved);
      return response;
    };
    return oidc.refreshTokenGrant(provider, refreshToken).catch((cause: unknown) => {
      if (cause instanceof oidc.ResponseBodyError && cause.error === 'invalid_grant')
        throw forbidden(`your sign-in at ${origin} is over: the provider says ${cause.error}`, cureFor(origin));
      throw toReleaseError(oidc, cause, formerSignIn);
    });
  });
  return startSession(tokens, formerSignIn);
}

/** Runs one command at a time. A refresh token used twice looks stolen, and the provider would revoke all its tokens. */
async function withLock<Result>(origin: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${fileFor(origin)}.lock`;
  while (!(await guard(origin, () => acquireLock(lock)))) await setTimeout(LOCK_POLL_MS);
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** Takes the lock; returns whether that worked. Removes a lock whose holder was killed. */
async function acquireLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause;
    const lockedAt = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - lockedAt > MAX_LOCK_AGE_MS) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

const isExpired = ({ expires }: StoredSignIn): boolean => Date.parse(expires) - CLOCK_TOLERANCE_MS <= Date.now();

/** Session of the person signed in at a console, renewed if it has expired; null for a guest. Throws forbidden, unreachable. */
export async function sessionFor(url: string): Promise<StoredSignIn | null> {
  const storedSignIn = await loadSignIn(url);
  if (!storedSignIn || !isExpired(storedSignIn)) return storedSignIn;
  return withLock(storedSignIn.origin, async () => {
    const current = await loadSignIn(url);
    return current && isExpired(current) ? renewSession(current) : current;
  });
}

/** Ends the session, revokes the refresh token and removes the stored file. Returns the problems. */
export async function signOut(signedIn: StoredSignIn): Promise<string[]> {
  const { origin, session, refreshToken } = signedIn;
  const problems: string[] = [];
  const attempt = (work: Promise<unknown>) => work.catch((cause: unknown) => void problems.push(messageOf(cause)));
  await guard(origin, () => rm(fileFor(origin), { force: true }));
  await attempt(consoleSender({ origin, token: session })('POST', '/auth/logout', {}));
  if (refreshToken !== null) await attempt(revoke(signedIn, refreshToken));
  return problems;
}

async function revoke(target: Target, refreshToken: string): Promise<void> {
  const { oidc, provider } = await discover(target);
  if (provider.serverMetadata().revocation_endpoint === undefined) return;
  await oidc.tokenRevocation(provider, refreshToken, { token_type_hint: 'refresh_token' });
}
