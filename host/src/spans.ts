import {
  apiRoutes,
  deltaEventSchema,
  endpoints,
  type MessageEventDto,
  matchRoute,
  messageEventSchema,
  READY,
  readAs,
  type SpansReport,
  sentSchema,
  singleSchema,
} from '@liaozhai/shared/contract';
import { aroundRequests, listen } from '@liaozhai/shared/runtime';
import { attempt, stopAll } from '@liaozhai/shared/ui';
import { reportRegularly, sendReport } from './beacon';
import type { Page } from './page';
import { routeAt } from './routes';

type Span = SpansReport['spans'][number];

/** Times are those of `performance.now()`. */
interface PageSpan extends Omit<Span, 'ago' | 'took'> {
  start: number;
  end: number;
}

type RequestConfig = Parameters<ReturnType<Parameters<typeof aroundRequests>[0]>>[0];

/** Limits of the server: spans per report of 16 KiB, and how far back a span may begin, in ms. */
const MAX_SPANS_PER_REPORT = 50;
const MAX_AGE_MS = 900_000;
const MAX_PENDING_SPANS = 200;
const MAX_AWAITED_REPLIES = 20;
/** Same limit as the client's: calls of a page that stays open longer are traces of their own. */
const DOCUMENT_TRACE_MS = 600_000;

/**
 * Records spans in the document's trace, if that is sampled: the page load, remote loads, each call, and the wait for a reply's
 * first words. Call when idle; the browser still has earlier entries. Returns the stop function.
 */
export function watchSpans({ set, routes }: Page): () => void {
  const documentTrace = sampledDocument();
  if (!documentTrace) return () => undefined;
  const pendingSpans: PageSpan[] = [];
  const addSpan = (span: PageSpan) => {
    if (pendingSpans.length < MAX_PENDING_SPANS) pendingSpans.push(span);
  };
  const createSpan = (name: Span['name'], start: number, of: Pick<PageSpan, 'trace' | 'parent'>) => ({
    ...{ trace: of.trace, parent: of.parent, id: randomHex(8), name, start },
  });

  const reportedLoads = new Set<string>();
  const collectLoads = () => {
    const addLoad = (key: string, name: Span['name'], start: number, end: number, fields: Partial<Span>) => {
      if (reportedLoads.has(key)) return;
      reportedLoads.add(key);
      addSpan({ ...createSpan(name, start, documentTrace), end, ...fields });
    };
    const { name, loadEventEnd } = documentTrace.timing;
    const { pathname } = new URL(name, location.href);
    const route = pathname === '/' ? pathname : routeAt(routes, pathname).path;
    if (loadEventEnd > 0) addLoad('', 'document load', 0, loadEventEnd, { route, build: set.host.id });
    for (const { name, startTime, duration } of performance.getEntriesByType('measure'))
      if (name.startsWith(READY))
        addLoad(name, 'remote load', startTime, startTime + duration, { build: name.slice(READY.length) });
  };

  const replies = measureReplies((start, post, end) =>
    addSpan({ ...createSpan('reply first words', start, post), end }),
  );
  const unwrap = aroundRequests((send) => async (config) => {
    const name = config.method?.toUpperCase() as Span['name'];
    if (!isOwnOrigin(config)) {
      config.headers.delete('traceparent');
      return send(config);
    }
    const start = performance.now();
    const call = createSpan(name, start, start > DOCUMENT_TRACE_MS ? { trace: randomHex(16) } : documentTrace);
    const [path] = (config.url ?? '').split('?');
    const route = matchRoute(apiRoutes(), (config.baseURL ?? '') + path)?.path;
    config.headers.set('traceparent', `00-${call.trace}-${call.id}-01`);
    const end = (status?: number) =>
      addSpan({ ...call, end: performance.now(), ...(route && { route }), ...(status && { status }) });
    const isMessage = name === 'POST' && path === endpoints.messages;
    const onResponse = isMessage ? replies.trackPost({ trace: call.trace, parent: call.id }, start) : () => undefined;
    try {
      const response = await send(config);
      end(response.status);
      onResponse(response.data);
      return response;
    } catch (cause) {
      end(statusOf(cause));
      onResponse(null);
      throw cause;
    }
  });

  const report = () => {
    collectLoads();
    const now = performance.now();
    const dueSpans = pendingSpans.splice(0).filter(({ start }) => now - start < MAX_AGE_MS);
    while (dueSpans.length > 0) {
      const spans = dueSpans.splice(0, MAX_SPANS_PER_REPORT).map(({ start, end, ...span }) => ({
        ...span,
        ago: Math.round(now - start),
        took: Math.round(end - start),
      }));
      sendReport({ spans }, '/beacon/spans');
    }
  };
  return stopAll(reportRegularly(report), unwrap, replies.stop);
}

/** Trace and parent span of the page's document; null if it is not sampled. */
function sampledDocument() {
  const [timing] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  // a page begun by the service worker has it in its markup
  const meta = document.querySelector<HTMLMetaElement>('meta[name="traceparent"]')?.content;
  const traceparent = meta ?? timing?.serverTiming?.find(({ name }) => name === 'traceparent')?.description ?? '';
  const [, trace, parent] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]$/.exec(traceparent) ?? [];
  return timing && trace && parent ? { timing, trace, parent } : null;
}

const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Other origins get no trace, and many would refuse the header. */
const isOwnOrigin = ({ url = '', baseURL = '' }: RequestConfig): boolean =>
  new URL(url, new URL(baseURL, location.href)).origin === location.origin;

const statusOf = (cause: unknown): number | undefined =>
  (cause as { response?: { status?: number } } | null)?.response?.status;

type Post = Pick<PageSpan, 'trace' | 'parent'>;

const sentMessageSchema = singleSchema(sentSchema);

const parseBody = (data: unknown): unknown =>
  typeof data === 'string' ? attempt((): unknown => JSON.parse(data)) : data;

/** Measures first words of replies, which may arrive on the socket before the response to the message. */
function measureReplies(onFirstWords: (start: number, post: Post, end: number) => void) {
  const awaitedReplies = new Map<string, { post: Post; start: number }>();
  const earlyReplies = new Map<string, number>();
  const pendingPosts = new Set<Post>();
  const handleReply = (id: string) => {
    const request = awaitedReplies.get(id);
    if (request) onFirstWords(request.start, request.post, performance.now());
    else if (pendingPosts.size > 0 && !earlyReplies.has(id)) earlyReplies.set(id, performance.now());
    awaitedReplies.delete(id);
  };
  const handleMessage = (event: MessageEventDto) => {
    const { id, body } = event.message ?? event;
    if (id && body) handleReply(id);
  };
  const stop = stopAll(
    listen('message.delta', deltaEventSchema, ({ message_id }) => handleReply(message_id)),
    listen('message.created', messageEventSchema, handleMessage),
    listen('message.completed', messageEventSchema, handleMessage),
  );
  return {
    /** Call when a message is sent. Returns a function to be called with the response's body. */
    trackPost(post: Post, start: number) {
      pendingPosts.add(post);
      return (data: unknown) => {
        pendingPosts.delete(post);
        const reply = readAs(sentMessageSchema, parseBody(data))?.reply;
        const id = reply?.id;
        const end = id === undefined ? undefined : earlyReplies.get(id);
        if (end !== undefined) onFirstWords(start, post, end);
        else if (id !== undefined) awaitedReplies.set(id, { post, start });
        const [oldest] = awaitedReplies.keys();
        if (awaitedReplies.size > MAX_AWAITED_REPLIES && oldest !== undefined) awaitedReplies.delete(oldest);
        if (pendingPosts.size === 0) earlyReplies.clear();
      };
    },
    stop,
  };
}
