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
import { reportRegularly, sendReport } from './beacon';
import type { Page } from './page';
import { routeAt } from './routes';

type Told = SpansReport['spans'][number];

/** Times are those of `performance.now()`. */
interface PageSpan extends Omit<Told, 'ago' | 'took'> {
  start: number;
  end: number;
}

type Adapter = ReturnType<Parameters<typeof aroundRequests>[0]>;
type Sent = Parameters<Adapter>[0];

/** Limits of the server: spans per report of 16 KiB, and how far back a span may begin, in ms. */
const MOST_AT_ONCE = 50;
const LONGEST_MS = 900_000;
const MOST_WAITING = 200;
const MOST_AWAITED = 20;
/** Same limit as the client's: calls of a page that stays open longer are traces of their own. */
const DOCUMENTS_MS = 600_000;

/**
 * Records spans in the document's trace, if that is sampled: the page load, remote loads, each call, and the wait for a reply's
 * first words. Call when idle; the browser still has earlier entries. Returns the stop function.
 */
export function watchSpans({ set, routes }: Page): () => void {
  const document = sampledDocument();
  if (!document) return () => undefined;
  const waiting: PageSpan[] = [];
  const note = (span: PageSpan) => {
    if (waiting.length < MOST_WAITING) waiting.push(span);
  };
  const begin = (name: Told['name'], start: number, of: Pick<PageSpan, 'trace' | 'parent'>) => ({
    ...{ trace: of.trace, parent: of.parent, id: randomHex(8), name, start },
  });

  const reported = new Set<string>();
  const noteLoads = () => {
    const loaded = (key: string, name: Told['name'], start: number, end: number, about: Partial<Told>) => {
      if (reported.has(key)) return;
      reported.add(key);
      note({ ...begin(name, start, document), end, ...about });
    };
    const { name, loadEventEnd } = document.timing;
    const { pathname } = new URL(name, location.href);
    const route = pathname === '/' ? pathname : routeAt(routes, pathname).path;
    if (loadEventEnd > 0) loaded('', 'document load', 0, loadEventEnd, { route, build: set.host.id });
    for (const { name, startTime, duration } of performance.getEntriesByType('measure'))
      if (name.startsWith(READY))
        loaded(name, 'remote load', startTime, startTime + duration, { build: name.slice(READY.length) });
  };

  const replies = awaitReplies((start, post, end) => note({ ...begin('reply first words', start, post), end }));
  const unwrap = aroundRequests((send) => async (config) => {
    const name = config.method?.toUpperCase() as Told['name'];
    if (!isOwn(config)) {
      config.headers.delete('traceparent');
      return send(config);
    }
    const start = performance.now();
    const call = begin(name, start, start > DOCUMENTS_MS ? { trace: randomHex(16) } : document);
    const [path] = (config.url ?? '').split('?');
    const route = matchRoute(apiRoutes(), (config.baseURL ?? '') + path)?.path;
    config.headers.set('traceparent', `00-${call.trace}-${call.id}-01`);
    const end = (status?: number) =>
      note({ ...call, end: performance.now(), ...(route && { route }), ...(status && { status }) });
    const isMessage = name === 'POST' && path === endpoints.messages;
    const answered = isMessage ? replies.ask({ trace: call.trace, parent: call.id }, start) : () => undefined;
    try {
      const answer = await send(config);
      end(answer.status);
      answered(answer.data);
      return answer;
    } catch (cause) {
      end(statusOf(cause));
      answered(null);
      throw cause;
    }
  });

  const report = () => {
    noteLoads();
    const now = performance.now();
    const due = waiting.splice(0).filter(({ start }) => now - start < LONGEST_MS);
    while (due.length > 0) {
      const spans = due.splice(0, MOST_AT_ONCE).map(({ start, end, ...span }) => ({
        ...span,
        ago: Math.round(now - start),
        took: Math.round(end - start),
      }));
      sendReport({ spans }, '/beacon/spans');
    }
  };
  const stop = reportRegularly(report);
  return () => {
    stop();
    unwrap();
    replies.stop();
  };
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
const isOwn = ({ url = '', baseURL = '' }: Sent): boolean =>
  new URL(url, new URL(baseURL, location.href)).origin === location.origin;

const statusOf = (cause: unknown): number | undefined =>
  (cause as { response?: { status?: number } } | null)?.response?.status;

type Post = Pick<PageSpan, 'trace' | 'parent'>;

const sent = singleSchema(sentSchema);

function parsed(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : data;
  } catch {
    return null;
  }
}

/** Measures first words of replies, which may arrive on the socket before the response to the message. */
function awaitReplies(heard: (start: number, post: Post, end: number) => void) {
  const awaited = new Map<string, { post: Post; start: number }>();
  const early = new Map<string, number>();
  const underWay = new Set<Post>();
  const hear = (id: string) => {
    const request = awaited.get(id);
    if (request) heard(request.start, request.post, performance.now());
    else if (underWay.size > 0 && !early.has(id)) early.set(id, performance.now());
    awaited.delete(id);
  };
  const hearWhole = (event: MessageEventDto) => {
    const { id, body } = event.message ?? event;
    if (id && body) hear(id);
  };
  const stops = [
    listen('message.delta', deltaEventSchema, ({ message_id }) => hear(message_id)),
    listen('message.created', messageEventSchema, hearWhole),
    listen('message.completed', messageEventSchema, hearWhole),
  ];
  return {
    /** Call when a message is sent. Returns a function to be called with the response's body. */
    ask(post: Post, start: number) {
      underWay.add(post);
      return (data: unknown) => {
        underWay.delete(post);
        const reply = readAs(sent, parsed(data))?.reply;
        const id = reply?.id;
        const end = id === undefined ? undefined : early.get(id);
        if (end !== undefined) heard(start, post, end);
        else if (id !== undefined) awaited.set(id, { post, start });
        const [oldest] = awaited.keys();
        if (awaited.size > MOST_AWAITED && oldest !== undefined) awaited.delete(oldest);
        if (underWay.size === 0) early.clear();
      };
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
