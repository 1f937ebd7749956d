import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Value {
  stringValue?: string;
  intValue?: number;
}

interface OtlpSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
}

interface TraceRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: Value }[] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

/** A span as received by a collector. */
export interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  /** ms since 1970 */
  startedAt: number;
  milliseconds: number;
  attributes: Record<string, string | number | undefined>;
}

/** Converts nanoseconds as text to whole milliseconds. */
const toMs = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000_000n);

const byKey = (attributes: { key: string; value: Value }[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** Starts an OTLP/HTTP collector on loopback and sets it in this process's environment until `close`. */
export async function openCollector() {
  const spans: CollectedSpan[] = [];
  const status = { code: 200 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(status.code, { 'content-type': 'application/json' }).end('{}');
    if (status.code !== 200 || request.url !== '/v1/traces') return;
    for (const { resource, scopeSpans } of (JSON.parse(Buffer.concat(chunks).toString()) as TraceRequest).resourceSpans)
      for (const { name, traceId, spanId, parentSpanId, attributes, ...span } of scopeSpans.flatMap(
        (scope) => scope.spans,
      ))
        spans.push({
          service: String(byKey(resource.attributes)['service.name']),
          ...{ name, traceId, spanId, parentSpanId: parentSpanId || undefined, attributes: byKey(attributes) },
          startedAt: toMs(span.startTimeUnixNano),
          milliseconds: toMs(span.endTimeUnixNano) - toMs(span.startTimeUnixNano),
        });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '20' };
  Object.assign(process.env, variables);
  return {
    /** received spans */
    spans,
    /** status of its responses */
    status,
    close() {
      for (const name of Object.keys(variables)) delete process.env[name];
      server.closeAllConnections();
      server.close();
    },
  };
}
