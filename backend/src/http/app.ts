import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { authRoutes, emailRoutes, passwordResetRoutes } from '../auth/authRoutes.ts';
import { findIdentity, sessionRoutes } from '../auth/sessions.ts';
import { chatRoutes, conversationRoutes } from '../chat/chatRoutes.ts';
import { presentProgress } from '../chat/progress.ts';
import { mediaRoutes } from '../content/pictures.ts';
import { shareImageRoutes } from '../content/shareImages.ts';
import { query } from '../db/database.ts';
import { storageFaultOf } from '../db/storageFault.ts';
import { orderRoutes, paymentRoutes } from '../payments/orders.ts';
import { presentPrices } from '../prices.ts';
import { broadcastRoutes } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { favoriteRoutes, storyRoutes } from '../stories.ts';
import { ticketRoutes } from '../support.ts';
import { withinRequest } from '../telemetry.ts';
import { accountDeletionRoutes } from '../users/accountDeletion.ts';
import { accountEmailRoutes } from '../users/accountEmail.ts';
import { inviteRoutes } from '../users/invites.ts';
import { minorRoutes, userRoutes } from '../users/userRoutes.ts';
import { checkInRoutes, transactionRoutes } from '../wallet.ts';
import { wechatRoutes } from '../wechat.ts';
import { csrfGuard, sessionToken, sessionTokens, setCsrfCookie } from './cookies.ts';
import type { AppEnv, Http } from './http.ts';
import { HttpError, tooLarge } from './http.ts';
import { receiveBody } from './input.ts';
import { sourceOf } from './origin.ts';

/** `pnpm openapi` writes it. */
const openApi = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');

/** Another program's write ends soon; a full disk takes longer. */
const retrySeconds = { busy: 2, other: 10 };

/** Every HTTP call of the contract. */
export function createApp(services: Services): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.route('/', healthRoutes(services));
  app.use(requestLog(services));
  app.use(async (c, next) => {
    c.set('source', sourceOf(c.env.incoming, services.env.BACKEND_TRUST_PROXY === 'true'));
    c.header('X-Content-Type-Options', 'nosniff');
    await next();
  });
  app.get('/openapi.json', etag(), (c) =>
    c.body(openApi, 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }),
  );
  app.route('/api/media/share', shareImageRoutes(services));
  app.route('/api/media', mediaRoutes(services.content));
  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    c.header('Vary', 'Cookie');
    await next();
  });
  app.use(async (c, next) => {
    if (Number(c.req.header('content-length') ?? 0) > rules.bodyBytes) throw tooLarge();
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      // first: while a slow body comes in, the database can become busy again
      c.set('body', await receiveBody(c));
      if (c.req.path.startsWith('/api/')) await services.db.writable();
    }
    await next();
  });
  // providers call without a session, and are known by their signature
  app.route('/api', paymentRoutes(services));
  app.use(async (c, next) => {
    c.set('identity', findIdentity(services, sessionTokens(c)));
    await next();
  });
  app.use(csrfGuard(services));
  app.get('/sanctum/csrf-cookie', (c) => {
    setCsrfCookie(c, services.appKey, sessionToken(c));
    return c.body(null, 204);
  });
  // a page whose socket was refused asks here whether there is one at all
  if (!services.env.reverb) app.get('/app/:key', (c) => c.body(null, 426, { Upgrade: 'websocket' }));
  app.route('/broadcasting', broadcastRoutes(services));
  app.route('/api/v1', apiRoutes(services));
  // told from a thing that is gone: the page must not take a missing call for a deletion that was done before
  app.notFound((c) => c.json({ message: '没有这个接口', code: 'route_missing' }, 404));
  app.onError((error, c) => {
    if (error instanceof HttpError) {
      for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
      return c.json(error.body, error.status as 400);
    }
    services.report(error, { requestId: c.get('requestId'), method: c.req.method, path: c.req.path });
    const fault = storageFaultOf(error);
    if (fault) {
      c.header('Retry-After', String(fault === 'busy' ? retrySeconds.busy : retrySeconds.other));
      return c.json({ message: '服务器暂时无法保存，请稍后再试' }, 503);
    }
    return c.json({ message: '服务器开小差了，请稍后再试' }, 500);
  });
  return app;
}

/** For monitoring and restarting this process; the front server passes neither on. */
function healthRoutes({ db, runs }: Services): Hono<AppEnv> {
  return new Hono<AppEnv>()
    .get('/healthz', (c) => c.json({ status: 'ok' }))
    .get('/readyz', (c) => {
      if (runs.isDraining) return c.json({ status: 'draining' }, 503);
      try {
        db.first(query.selectFrom('changes').select('count').where('subject', '=', 'stories'));
        return c.json({ status: 'ready' });
      } catch (error) {
        return c.json({ status: 'unavailable', fault: storageFaultOf(error) }, 503);
      }
    });
}

function apiRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>()
    .route('/', authRoutes(services))
    .route('/', passwordResetRoutes(services))
    .route('/email', emailRoutes(services))
    .route('/user/email', accountEmailRoutes(services))
    .route('/user/sessions', sessionRoutes(services))
    .route('/user/deletion', accountDeletionRoutes(services))
    .route('/user', userRoutes(services))
    .route('/user/minor', minorRoutes(services))
    .route('/invites', inviteRoutes(services))
    .route('/stories', storyRoutes(services, presentProgress))
    .route('/favorites', favoriteRoutes(services))
    .route('/messages', chatRoutes(services))
    .route('/conversations', conversationRoutes(services))
    .route('/check-in', checkInRoutes(services))
    .route('/transactions', transactionRoutes(services))
    .route('/support/tickets', ticketRoutes(services))
    .get('/capabilities', (c) => c.json({ data: capabilitiesOf(services), rules: presentPrices(services.env.prices) }));
  const { payments, wechat } = services;
  if (wechat) routes.route('/wechat', wechatRoutes(services, wechat));
  if (payments) routes.route('/orders', orderRoutes(services, payments));
  return routes;
}

/** What this backend has beyond the specification, by the names of `shared/src/contract/capabilities.ts`. */
const capabilitiesOf = ({ payments, wechat }: Services): string[] => [
  'stories.search',
  'stories.favorites',
  'conversations.restart',
  'conversations.runs',
  'messages.cancel',
  'messages.regenerate',
  'messages.edit',
  'messages.price',
  'conversations.unread',
  'conversations.search',
  'conversations.pin',
  'messages.search',
  'messages.report',
  'password.reset',
  'account.email',
  'account.devices',
  'account.consent',
  'account.minor',
  'invites',
  'account.delete',
  'support.tickets',
  ...(payments ? ['orders'] : []),
  ...(wechat ? ['wechat.share'] : []),
];

const givenId = /^[\w-]{8,64}$/;

/** The pattern that answered, such as `/api/v1/stories/:id`; a call that nothing answers ends in some `*`. */
function routeOf(c: Http): string {
  const pattern = routePath(c);
  return pattern.includes('*') ? 'other' : pattern.replace(/\{[^}]*\}/g, '');
}

/**
 * Gives every request an id, the page's or the front server's if it has one, and answers with it; logs one line a request, without
 * query and body, since those hold what readers write.
 */
const requestLog = ({ log, counters, tracing }: Services) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const from = performance.now();
    const given = c.req.header('x-request-id') ?? '';
    const requestId = givenId.test(given) ? given : randomUUID();
    c.set('requestId', requestId);
    c.header('X-Request-Id', requestId);
    const { method, path } = c.req;
    const answer = async () => {
      await next();
      const elapsed = performance.now() - from;
      const { status } = c.res;
      const user = c.get('identity')?.user.id;
      log.info({ requestId, method, path, status, ms: Math.round(elapsed), user }, 'request');
      counters?.countRequest({ service: 'backend', method, route: routeOf(c), status, seconds: elapsed / 1000 });
    };
    // pictures are asked for by the dozen, and say nothing
    const span = path.startsWith('/api/media/')
      ? null
      : tracing?.beginRequest({ method, requestId, traceparent: c.req.header('traceparent') });
    await withinRequest(requestId, () => (span ? span.run(answer) : answer()));
    span?.end({ route: routeOf(c), status: c.res.status });
  });
