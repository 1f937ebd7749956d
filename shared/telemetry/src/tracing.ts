import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Context, HrTime, Span } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/** The current trace, by W3C Trace Context. */
export interface Trace {
  traceId: string;
  /** header that continues the trace in another service */
  traceparent: string;
}

interface OpenSpan extends Trace {
  /** Runs work as a child span, which ends with the work or with its returned promise. */
  child<Result>(name: string, attributes: Attributes, work: () => Result): Result;
}

const activeSpan = new AsyncLocalStorage<OpenSpan>();

/** Returns the current trace; undefined outside of one, or without tracing. */
export const currentTrace = (): Trace | undefined => activeSpan.getStore();

/** Runs work as a span of the current trace; without tracing just runs it. */
export function inSpan<Result>(name: string, attributes: Attributes, work: () => Result): Result {
  const parent = activeSpan.getStore();
  return parent ? parent.child(name, attributes, work) : work();
}

/** A span reported by a page: ids in hex. */
export interface PageSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string | undefined;
  /** the method, for a call */
  name: string;
  /** ms since 1970 */
  startedAt: number;
  milliseconds: number;
  build?: string | undefined;
  route?: string | undefined;
  status?: number | undefined;
}

/** Traces cannot be sent as configured; the message is one line that states the remedy. */
export class TracingRefused extends Error {}

/** Settings that the SDK would ignore silently in another form. Of several names, the first that is set counts. */
const forms = [
  {
    names: ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    accepts: (text: string) => /^http\/(json|protobuf)$/.test(text),
    cure: 'traces go by http here. Unset it, and name the http port.',
  },
  {
    names: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    accepts: (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text),
    cure: 'must be an address like http://127.0.0.1:4318. Correct or unset it.',
  },
  {
    names: ['OTEL_TRACES_SAMPLER'],
    accepts: (text: string) => /^(parentbased_)?(always_on|always_off|traceidratio)$/.test(text),
    cure: 'must be a sampler like parentbased_traceidratio. Correct or unset it.',
  },
  {
    names: ['OTEL_TRACES_SAMPLER_ARG'],
    accepts: (text: string) => /^\d*\.?\d+$/.test(text) && Number(text) <= 1,
    cure: 'must be a number from 0 to 1. Correct or unset it.',
  },
];

function isTracingEnabled(variables: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesUrl } = variables;
  const isDisabled = /^true$/i.test(variables.OTEL_SDK_DISABLED ?? '') || variables.OTEL_TRACES_EXPORTER === 'none';
  if ((!url && !tracesUrl) || isDisabled) return false;
  for (const { names, accepts, cure } of forms) {
    const name = names.find((each) => variables[each]) ?? '';
    const value = variables[name];
    if (value && !accepts(value.trim())) throw new TracingRefused(`${name}=${value}: ${cure}`);
  }
  return true;
}

/** Loads the SDK's packages lazily: a server without traces never loads them. */
async function loadSdk() {
  const [api, core, { OTLPTraceExporter }, resources, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
  ]);
  return { api, core, OTLPTraceExporter, resources, sdk };
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** The exporter; logs one line when the collector stops accepting spans, and one when it accepts them again. */
function createLoggingExporter({ core, OTLPTraceExporter }: Sdk, log: (line: string) => void) {
  const exporter = new OTLPTraceExporter();
  const send = exporter.export.bind(exporter);
  let lostSpans = 0;
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      const isAccepted = result.code === core.ExportResultCode.SUCCESS;
      if (isAccepted && lostSpans > 0) log(`The collector takes traces again; ${lostSpans} spans were lost.`);
      if (!isAccepted && lostSpans === 0)
        log(`The collector takes no traces (${result.error?.message ?? 'no reason given'}); everything else goes on.`);
      lostSpans = isAccepted ? 0 : lostSpans + spans.length;
      done(result);
    });
  return exporter;
}

/** Queue size for pages, separate so that forged spans cannot displace the server's. */
const MAX_PAGE_SPANS = 512;

const isMethod = (name: string) => /^[A-Z]+$/.test(name);

const toHrTime = (milliseconds: number): HrTime => {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)];
};

function attributesOf({ name, build, route, status }: PageSpan): Attributes {
  return {
    ...(isMethod(name) && { 'http.request.method': name }),
    ...(build !== undefined && { 'liaozhai.build': build }),
    ...(route !== undefined && { 'http.route': route }),
    ...(status !== undefined && { 'http.response.status_code': status }),
  };
}

/** Sends finished spans to the collector. A tracer cannot, since it starts spans with its own ids. */
function pageSpanSender({ api, resources, sdk }: Sdk, exporter: SpanExporter, service: string | undefined) {
  const processor = new sdk.BatchSpanProcessor(exporter, { maxQueueSize: MAX_PAGE_SPANS });
  const resource = resources
    .detectResources({ detectors: [resources.envDetector] })
    .merge(resources.resourceFromAttributes({ 'service.name': service ? `${service}-page` : 'liaozhai-page' }));
  const toSpanContext = (traceId: string, spanId: string) => ({ traceId, spanId, traceFlags: api.TraceFlags.SAMPLED });
  const toReadable = (span: PageSpan): ReadableSpan => {
    const { traceId, spanId, parentSpanId, name, startedAt, milliseconds, route, status = 0 } = span;
    return {
      name: isMethod(name) && route !== undefined ? `${name} ${route}` : name,
      kind: isMethod(name) ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL,
      spanContext: () => toSpanContext(traceId, spanId),
      ...(parentSpanId !== undefined && { parentSpanContext: toSpanContext(traceId, parentSpanId) }),
      startTime: toHrTime(startedAt),
      endTime: toHrTime(startedAt + milliseconds),
      duration: toHrTime(milliseconds),
      status: { code: status >= 500 ? api.SpanStatusCode.ERROR : api.SpanStatusCode.UNSET },
      attributes: attributesOf(span),
      ...{ links: [], events: [], ended: true, resource, instrumentationScope: { name: 'liaozhai' } },
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    };
  };
  return {
    send: (spans: readonly PageSpan[]) => {
      for (const span of spans) processor.onEnd(toReadable(span));
    },
    flush: () => processor.forceFlush(),
  };
}

const SHUTDOWN_TIMEOUT_MS = 1_000;

/**
 * Sends traces as configured by the standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`,
 * …); null without an endpoint. Throws `TracingRefused` for an unsupported protocol.
 */
export async function openTracing(
  service: string,
  log: (line: string) => void,
  variables: NodeJS.ProcessEnv = process.env,
) {
  if (!isTracingEnabled(variables)) return null;
  const modules = await loadSdk();
  const { api, core, resources, sdk } = modules;
  const detectedResource = resources.detectResources({ detectors: [resources.envDetector] });
  const exporter = createLoggingExporter(modules, log);
  const pageSpans = pageSpanSender(modules, exporter, variables.OTEL_SERVICE_NAME);
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': service }).merge(detectedResource),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('liaozhai');
  const propagator = new core.W3CTraceContextPropagator();

  const openSpan = (span: Span, context: Context): OpenSpan => {
    const childContext = api.trace.setSpan(context, span);
    const carrier: { traceparent?: string } = {};
    propagator.inject(childContext, carrier, api.defaultTextMapSetter);
    return {
      traceId: span.spanContext().traceId,
      traceparent: carrier.traceparent ?? '',
      child(name, attributes, work) {
        const child = tracer.startSpan(name, { attributes }, childContext);
        const fail = (error: unknown) => {
          child.recordException(error instanceof Error ? error : String(error));
          child.setStatus({ code: api.SpanStatusCode.ERROR });
        };
        try {
          const result = activeSpan.run(openSpan(child, childContext), work);
          if (!(result instanceof Promise)) child.end();
          else void result.catch(fail).finally(() => child.end());
          return result;
        } catch (error) {
          fail(error);
          child.end();
          throw error;
        }
      },
    };
  };

  return {
    /** Starts the span of a request, as a child of its `traceparent` if it has one. */
    beginRequest({ method, traceparent, requestId }: { method: string; traceparent?: string; requestId: string }) {
      const parentContext = propagator.extract(api.ROOT_CONTEXT, { traceparent }, api.defaultTextMapGetter);
      const attributes = { 'http.request.method': method, 'liaozhai.request_id': requestId };
      const span = tracer.startSpan(method, { kind: api.SpanKind.SERVER, attributes }, parentContext);
      const requestSpan = openSpan(span, parentContext);
      return {
        traceId: requestSpan.traceId,
        traceparent: requestSpan.traceparent,
        /** Runs the request's work, and all work it starts, inside the span. */
        run: <Result>(work: () => Result): Result => activeSpan.run(requestSpan, work),
        end({ route, status }: { route: string; status: number }) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
          if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    /** Sends spans reported by pages, under a separate service name. */
    takePageSpans: pageSpans.send,
    /** Sends the pending spans, for one second at most. */
    async close() {
      const timer = new Promise((resolve) => setTimeout(resolve, SHUTDOWN_TIMEOUT_MS).unref());
      // shuts down the exporter, which both processors use
      const exported = pageSpans.flush().then(() => provider.shutdown());
      await Promise.race([exported.catch(() => {}), timer]);
    },
  };
}

export type Tracing = NonNullable<Awaited<ReturnType<typeof openTracing>>>;
