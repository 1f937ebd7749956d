import { homedir, tmpdir } from 'node:os';
import { RateLimit } from '@liaozhai/http/rate-limit';
import { isSameHost } from '@liaozhai/http/source';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { LIMITS } from '../../src/builds/package.ts';
import { isSourceMap } from '../../src/builds/sourceMaps.ts';
import {
  API_HEADER,
  API_LEVEL,
  apiLevelOf,
  forbidden,
  ReleaseError,
  refused,
  STATUSES,
  usage,
} from '../../src/errors.ts';
import { readSharing } from '../../src/gate/sharedLibraries.ts';
import { idOfFolder, nameOf } from '../../src/model/build.ts';
import type { ChannelDocument } from '../../src/model/channel.ts';
import { stateBefore } from '../../src/operations/goingBack.ts';
import {
  actorOf,
  authenticate,
  CANDIDATE_VERBS,
  type Caller,
  grantsOf,
  type PermissionRequest,
  refusal,
  secretOfBearer,
} from '../../src/operations/tokens.ts';
import type { Changes, ReleaseClient } from '../../src/releaseClient.ts';
import { type Body, parseBody, VERBS, type Verb, wishOf } from '../../src/requests.ts';
import { say } from '../../src/sentences.ts';
import type { Store } from '../../src/store/store.ts';
import type { ConsoleContext } from './ConsoleContext.ts';
import { Uploads } from './Uploads.ts';

type Env = { Variables: { token: Caller } };

const REQUESTS_PER_MINUTE = 1200;
const REFUSED_PER_MINUTE = 30;
const MAX_LOG_ENTRIES = 500;
const MAX_REQUEST_BYTES = 64 * 1024;

/** The audit log names the token, or the person's id at the provider, because names and labels may be shared. */
const whoOf = ({ id, role, name, label, person = label }: Caller): string =>
  `${person.slice(0, 80) || (name ? `${role}:${name}` : role)} (${id})`;

const channelOf = (context: Context, console: ConsoleContext): string =>
  context.req.query('channel') ?? console.options.channel;

const addressOf = (context: Context): string =>
  context.env && 'incoming' in context.env ? (context.env.incoming?.socket?.remoteAddress ?? '') : '';

const deny = (context: Context, status: 401 | 403 | 404 | 413 | 415 | 429, message: string, cure = '') =>
  context.json({ message, cure, details: [] }, status);

const PLACEHOLDER = 'the store';

/** Matches the folder and a path below it, up to punctuation that continues the sentence. */
const pathsBelow = (folder: string): RegExp =>
  new RegExp(`(?:file:(?://)?)?${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:/[^\\s'",;:)]*)?(?![\\w-])`, 'g');

/** Removes local paths from text sent over HTTP: callers need not know the folders of this machine. */
export function withoutFolders(text: string, { label }: Pick<Store, 'label'>): string {
  const storeFolder = label.startsWith('file:') ? label.slice('file:'.length) : '';
  const folders = [storeFolder, process.cwd(), tmpdir(), homedir()].filter((folder) => folder.length > 1);
  const textWithoutLabel = text.replaceAll(label, PLACEHOLDER);
  return folders.reduce((shown, folder) => shown.replace(pathsBelow(folder), PLACEHOLDER), textWithoutLabel);
}

function refusalBody({ message, cure, details, reason }: ReleaseError, { options: { store } }: ConsoleContext) {
  const hide = (text: string) => withoutFolders(text, store);
  return { message: hide(message), cure: hide(cure), details: details.map(hide), reason };
}

const limitBody = (maxSize: number, cure: string) =>
  bodyLimit({
    maxSize,
    onError: (context) => deny(context, 413, say('tooLarge', { kib: maxSize / 1024 }), cure),
  });

/**
 * Authenticates a bearer token, a session token or a session cookie, after refusing requests of other origins. Failed attempts
 * are limited by address. That limit never blocks a valid token, because behind a proxy all callers share one address.
 */
function guard(app: Hono<Env>, console: ConsoleContext): void {
  const requests = new RateLimit();
  const refusals = new RateLimit();
  const { publicOrigin } = console.options;
  app.use('*', async (context, next) => {
    const origin = context.req.header('origin');
    if (origin && origin !== publicOrigin && !isSameHost(origin, { host: context.req.header('host') ?? '' }))
      return deny(context, 403, say('otherOrigin'));
    const authorization = context.req.header('authorization');
    const [, bearerToken = ''] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? [];
    const { store, key, signIn } = console.options;
    const person = await signIn?.callerOf(context);
    const token = person ?? (await authenticate(store, key.publicKey, bearerToken, new Date()));
    if (token === 'unknown' || token === 'unsigned') {
      if (refusals.take(addressOf(context), REFUSED_PER_MINUTE) > 0)
        return deny(context, 429, say('manyTokens'), say('waitCure'));
      if (token === 'unsigned')
        return deny(context, 401, say('documentUnsigned', { what: say('theToken') }), say('theTokenCure'));
      if (secretOfBearer(authorization) !== undefined)
        return deny(context, 401, say('signInOver'), say('signInOverCure'));
      return deny(context, 401, say('noToken'), say('noTokenCure'));
    }
    if (requests.take(token.id, REQUESTS_PER_MINUTE) > 0)
      return deny(context, 429, say('manyRequests'), say('waitCure'));
    context.set('token', token);
    return next();
  });
}

/** Requests that a client answers alone. */
const READERS: Record<string, (client: ReleaseClient, query: Record<string, string>) => Promise<object>> = {
  status: (client) => client.status(),
  builds: (client, { name }) => client.builds(name),
  types: (client, { of = '' }) => client.types(of),
  log: (client, { limit: text = '50' }) => {
    const limit = Number(text);
    if (!Number.isInteger(limit) || limit < 1) throw usage(say('wrongLimit'));
    return client.log(Math.min(limit, MAX_LOG_ENTRIES));
  },
  diff: (client, { a = '', b = '' }) => client.diff(a, b),
  compare: (client, { a = '', b = '' }) => client.compare(a, b),
  previews: (client) => client.previews(),
  health: (client) => client.health(),
};

function addReadRoutes(app: Hono<Env>, console: ConsoleContext): void {
  const client = (context: Context<Env>): Promise<ReleaseClient> =>
    console.client(channelOf(context, console), whoOf(context.get('token')), { actor: actorOf(context.get('token')) });
  for (const [path, read] of Object.entries(READERS))
    app.get(`/${path}`, async (context) => context.json(await read(await client(context), context.req.query())));
  app.get('/names', async (context) => context.json(await console.names(channelOf(context, console))));
  app.get('/before', async (context) => {
    const channel = channelOf(context, console);
    const name = context.req.query('name');
    const current = await console.current(channel);
    // answered with 200: the page asks for every name, and browsers log each failed request
    return stateBefore(console.writer(channel, ''), current, { name }).then(
      ({ state }) => context.json({ seq: state.seq }),
      (cause: unknown) => {
        if (!(cause instanceof ReleaseError && cause.kind === 'refused')) throw cause;
        return context.json({ refused: refusalBody(cause, console) });
      },
    );
  });
  app.get('/sharing', async (context) => {
    const channel = channelOf(context, console);
    return context.json(await readSharing(console.writer(channel, ''), await console.current(channel)));
  });
  app.get('/kill', async (context) => {
    const { build = '', before } = context.req.query();
    const current = await console.current(channelOf(context, console));
    // the effect is shown only to callers who may carry it out
    if (before === 'kill') permit(context.get('token'), before, { build }, current);
    if (before === 'withdraw') permit(context.get('token'), before, { name: nameOf(build) }, current);
    return context.json(await (await client(context)).killEffect(build));
  });
  app.get('/channels', async (context) =>
    context.json({ channels: await console.channels(), shown: console.options.channel }),
  );
  app.get('/me', (context) => {
    const { id, role, name, label, person = label, more } = context.get('token');
    return context.json({ id, role, name, label: person, ...(more ? { person, more } : {}) });
  });
}

/** Verbs that run the gate. Ways back never wait for a browser, which may be unavailable in an incident. */
const GATED_VERBS: readonly Verb[] = ['check', 'activate', 'canary', 'promote', 'schedule', 'approve'];

/** Advice for a caller without permission. */
const PERMISSION_CURES: { [Name in Verb]?: string } = {
  approval: say('askManagerCure'),
  approve: say('askOtherCure'),
  reject: say('askRejectCure'),
};

/** Fills in the remote of a token that is bound to one, if the request names none. */
function withBoundRemote<Name extends Verb>(verb: Name, caller: Caller, body: Body<Name>): Body<Name> {
  const name = grantsOf(caller).length === 1 ? caller.name : null;
  const isUnnamed = !('name' in body && body.name) && !('builds' in body && body.builds?.length);
  return name !== null && isUnnamed && CANDIDATE_VERBS.includes(verb) ? { ...body, name } : body;
}

/** Throws forbidden if the caller's grants do not cover the change. */
function permit<Name extends Verb>(caller: Caller, verb: Name, body: Body<Name>, current: ChannelDocument): void {
  const reason = refusal(caller, wishOf(verb, body), current);
  if (reason) throw forbidden(reason, PERMISSION_CURES[verb]);
}

function addChangeRoute<Name extends Verb>(app: Hono<Env>, console: ConsoleContext, verb: Name): void {
  app.post(`/${verb}`, limitBody(MAX_REQUEST_BYTES, say('tooLargeCure')), async (context) => {
    if (!context.req.header('content-type')?.startsWith('application/json'))
      return deny(context, 415, say('noJson'), say('noJsonCure'));
    const token = context.get('token');
    const body = withBoundRemote(verb, token, parseBody(verb, await context.req.json().catch(() => null)));
    const channel = channelOf(context, console);
    // once at the start, and again for each state that the change is tried on
    const permitOn = (current: ChannelDocument) => permit(token, verb, body, current);
    permitOn(await console.current(channel));
    const runsGate = GATED_VERBS.includes(verb);
    const options = { withSmoke: runsGate, permit: permitOn, actor: actorOf(token) };
    const act = async () => {
      const changes: Changes = await console.client(channel, whoOf(token), options);
      return changes[verb](body);
    };
    const { counters } = console.options;
    const result = await (runsGate ? console.runInTurn(whoOf(token), act) : act()).catch((cause: unknown) => {
      counters?.changes.inc({ verb, result: cause instanceof ReleaseError ? cause.kind : 'failed' });
      throw cause;
    });
    const isProposed = result instanceof Object && 'proposal' in result;
    counters?.changes.inc({ verb, result: isProposed ? 'proposed' : 'done' });
    // an older client would read any 2xx as the finished change
    if (isProposed && apiLevelOf(context.req.raw.headers) < 2)
      throw refused(say('proposedOnly', { channel }), say('proposedOnlyCure'));
    return context.json(result, isProposed ? 202 : 200);
  });
}

function addUploads(app: Hono<Env>, console: ConsoleContext): void {
  const uploads = new Uploads(console.options.store, console.quota);
  app.put(
    '/builds/:name/:folder/:path{.+}',
    limitBody(LIMITS.fileBytes, 'Split this file and publish again.'),
    async (context) => {
      const { name, folder, path } = context.req.param();
      const token = context.get('token');
      const wish: PermissionRequest = { verb: 'publish', names: [name] };
      const reason = refusal(token, wish, await console.current(console.options.channel));
      if (reason) return deny(context, 403, reason);
      const id = idOfFolder(name, folder);
      if (!id) throw usage(`${name}/${folder} is not a build folder`, 'It is <version>-<hash> of the build id.');
      const body = Buffer.from(await context.req.arrayBuffer());
      const announcedLength = context.req.header('content-length');
      if (announcedLength !== undefined && Number(announcedLength) !== body.length)
        throw usage(`${path} was cut off on the way`, 'Send it again.');
      if (isSourceMap(path)) {
        await uploads.map(id, path, body);
        return context.json({ stored: path });
      }
      if (path === 'build.json') return context.json(await uploads.finish(id, body.toString('utf8'), whoOf(token)));
      await uploads.file(id, path, body);
      return context.json({ stored: path });
    },
  );
}

/** `/v1`: the verbs of the command line, for callers with a token or a session. */
export function createApi(console: ConsoleContext): Hono<Env> {
  const app = new Hono<Env>();
  app.use('*', async (context, next) => {
    await next();
    context.header(API_HEADER, String(API_LEVEL));
  });
  guard(app, console);
  addReadRoutes(app, console);
  for (const verb of VERBS) addChangeRoute(app, console, verb);
  addUploads(app, console);
  // not `notFound`, which Hono ignores in a mounted app
  app.all('*', (context) => deny(context, 404, say('noEndpoint'), say('noEndpointCure')));
  app.onError((cause, context) => {
    if (!(cause instanceof ReleaseError)) throw cause;
    return context.json(refusalBody(cause, console), STATUSES[cause.kind]);
  });
  return app;
}
