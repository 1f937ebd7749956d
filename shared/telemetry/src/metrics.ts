import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import * as v from 'valibot';

const portMessage = 'must be a whole number from 0 to 65535';

/** Environment variables that enable metrics in each server of the product. */
export const metricsEntries = {
  METRICS_PORT: v.pipe(
    v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.regex(/^\d{1,5}$/, portMessage),
        v.toNumber(portMessage),
        v.maxValue(65_535, portMessage),
      ),
    ),
    v.description('port of its own for /metrics; unset: no metrics'),
  ),
  METRICS_HOST: v.pipe(
    v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty')), '127.0.0.1'),
    v.description('address on which /metrics listens'),
  ),
  METRICS_TOKEN: v.pipe(
    v.optional(v.pipe(v.string(), v.regex(/^\S{16,}$/, 'must have at least 16 characters, none of them a space'))),
    v.description('bearer token that requests for /metrics must send'),
  ),
};

export type MetricsSettings = v.InferOutput<v.ObjectSchema<typeof metricsEntries, undefined>>;

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host);

/** Metrics cannot be provided as configured; the message is one line that states the remedy. */
export class MetricsRefused extends Error {}

/** Labels of a request, with few distinct values. */
export interface RequestFacts {
  service: 'front' | 'console' | 'backend';
  method: string;
  /** a pattern such as `/story/:id`, never a URL */
  route: string;
  status: number;
  seconds: number;
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** From a file in memory to a page that waits for a slow API. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Returns a function that adds counters to a registry; their names begin with `liaozhai_`. */
export const counterIn =
  (registry: Registry) =>
  <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter<Label>({ name: `liaozhai_${name}`, help, labelNames, registers: [registry] });

function requestCounters(registry: Registry) {
  const requests = counterIn(registry)(
    'http_requests_total',
    'Answered requests, by route pattern and status class; 499 counts as 4xx: the visitor went away.',
    'service',
    'method',
    'route',
    'status',
  );
  const durations = new Histogram({
    name: 'liaozhai_http_request_duration_seconds',
    help: 'From the request to the end of its answer.',
    labelNames: ['service', 'route'],
    buckets: secondsBuckets,
    registers: [registry],
  });
  return ({ service, method, route, status, seconds }: RequestFacts) => {
    const label = methods.has(method) ? method : 'other';
    requests.inc({ service, method: label, route, status: `${Math.floor(status / 100)}xx` });
    durations.observe({ service, route }, seconds);
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function respond(registry: Registry, token: string | undefined, request: IncomingMessage, response: ServerResponse) {
  const { pathname } = new URL(request.url ?? '/', 'http://metrics');
  if (pathname !== '/metrics' || request.method !== 'GET') return void response.writeHead(404).end();
  const authorization = request.headers.authorization ?? '';
  if (token !== undefined && !timingSafeEqual(digest(authorization), digest(`Bearer ${token}`)))
    return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  registry.metrics().then(
    (text) => response.writeHead(200, { 'content-type': registry.contentType, 'cache-control': 'no-store' }).end(text),
    (cause) => response.writeHead(500).end(String(cause)),
  );
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await once(server.listen(port, host), 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    const reason = code === 'EADDRINUSE' ? 'in use by another program' : message;
    throw new MetricsRefused(`METRICS_PORT=${port} on ${host}: ${reason}. Name another one, or unset it.`);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Opens `/metrics` on a separate port, so that no proxy in front of the product can expose it; null if not configured. Throws
 * `MetricsRefused` for a port in use, and for a public address without a token.
 */
export async function openMetrics(settings: MetricsSettings) {
  const { METRICS_PORT: port, METRICS_HOST: host, METRICS_TOKEN: token } = settings;
  if (port === undefined) return null;
  if (!token && !isLoopback(host))
    throw new MetricsRefused(`METRICS_HOST=${host} is reached by other machines: set METRICS_TOKEN as well.`);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => respond(registry, token, request, response));
  const boundPort = await listen(server, port, host);
  return {
    registry,
    /** address for reading them, e.g. `http://127.0.0.1:9464/metrics` */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}/metrics`,
    countRequest: requestCounters(registry),
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

export type Metrics = NonNullable<Awaited<ReturnType<typeof openMetrics>>>;
