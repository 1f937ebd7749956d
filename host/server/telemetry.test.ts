import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openMetrics } from '@liaozhai/telemetry/metrics';
import { openCollector } from '@liaozhai/telemetry/testing';
import { openTracing } from '@liaozhai/telemetry/tracing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from '@rstest/core';
import { frontCounters } from './telemetry.ts';
import { openTestProduct } from './testing/testProduct.ts';

let product: Awaited<ReturnType<typeof openTestProduct>>;

beforeAll(async () => {
  product = await openTestProduct();
});

afterAll(() => product.close());

describe('metrics', () => {
  /** Serves the product with metrics; `read` returns their lines without comments. */
  async function measured(options: Parameters<typeof product.serve>[1] = {}) {
    const metrics = await openMetrics({ METRICS_PORT: 0, METRICS_HOST: '127.0.0.1' });
    if (!metrics) throw new Error('no metrics');
    afterAll(() => metrics.close());
    const origin = await product.serve({}, { counters: frontCounters(metrics), ...options });
    const read = async () =>
      (await (await fetch(metrics.url)).text()).split('\n').filter((line) => !/^(#|$)/.test(line));
    return { origin, read };
  }

  const ask = async (origin: string, path: string, method = 'GET') =>
    (await fetch(origin + path, { method, headers: { 'accept-encoding': 'identity' } })).arrayBuffer();

  test('count requests by route, also for invented addresses', async () => {
    const { origin, read } = await measured();
    await ask(origin, '/story/nie-xiaoqian');
    const html = await (await fetch(`${origin}/explore`)).text();
    await ask(origin, /href="([^"]*host\.js)"/.exec(html)?.[1] ?? '');
    await ask(origin, '/api/v1/stories/1/messages');
    await ask(origin, '/healthz');
    const seen = async () => (await read()).filter((line) => line.startsWith('liaozhai_http_'));
    await expect
      .poll(seen)
      .toContain('liaozhai_http_requests_total{service="front",method="GET",route="/healthz",status="2xx"} 1');
    const before = await seen();
    for (const expected of ['/story/:id', '/explore', '/builds/*', '/api/*'])
      expect(before).toContain(
        `liaozhai_http_requests_total{service="front",method="GET",route="${expected}",status="2xx"} 1`,
      );
    for (let index = 0; index < 20; index += 1) {
      await ask(origin, `/story/${index}`);
      await ask(origin, `/api/v1/${index}/x`);
      await ask(origin, `/no/such/${index}`);
      await ask(origin, `/none-${index}.js`);
    }
    await expect.poll(async () => (await seen()).join('\n')).toContain('route="other",status="4xx"} 20');
    // the only new ones: missing pages and missing files
    const routes = (lines: string[]) => new Set(lines.map((line) => /route="([^"]*)"/.exec(line)?.[1]));
    expect([...routes(await seen())].filter((route) => !routes(before).has(route))).toEqual(['no such page', 'other']);
  });

  test('count pages by group, and show channel state and live builds', async () => {
    const { origin, read } = await measured();
    await ask(origin, '/story/nie-xiaoqian');
    const lines = await read();
    expect(lines.find((line) => line.startsWith('liaozhai_pages_served_total{group="stable"'))).toMatch(/ 1$/);
    expect(lines).toContainEqual(expect.stringMatching(/^liaozhai_channel_state\{channel="production"\} \d+$/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^liaozhai_live_build\{build="stories@1\.0\.0[^"]*",group="stable",percent="100"\} 1$/),
    );
  });

  test('count health reports by known builds, and refused ones by reason', async () => {
    const { origin, read } = await measured();
    const build = /build="(stories@[^"]*)"/.exec((await read()).join('\n'))?.[1] ?? '';
    const report = (body: object, headers: Record<string, string> = {}) =>
      fetch(`${origin}/beacon`, {
        method: 'POST',
        headers: { origin, cookie: `lz_visitor=${'a'.repeat(32)}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ set: 'abc', candidate: false, outcome: 'loaded', ...body }),
      });
    await report({ build });
    await report({ build });
    await report({ build, outcome: 'failed', failure: 'hang' });
    await report({ build: 'made-up@1.0.0+0' });
    await report({});
    await report({ build }, { origin: 'https://evil.example' });
    const lines = await read();
    const counted = (labels: string) => `liaozhai_health_reports_total{${labels}} 1`;
    expect(lines).toContain(counted('remote="stories",group="stable",outcome="loaded",failure=""'));
    expect(lines).toContain(counted('remote="stories",group="stable",outcome="failed",failure="hang"'));
    expect(lines).toContain(counted('remote="other",group="other",outcome="loaded",failure=""'));
    for (const reason of ['repeated', 'malformed', 'foreign'])
      expect(lines).toContain(`liaozhai_health_reports_refused_total{reason="${reason}"} 1`);
  });

  test('count calls without a response of the backend', async () => {
    const away = await measured({ backendUrl: () => 'http://127.0.0.1:9' });
    await ask(away.origin, '/api/v1/stories');
    expect(await away.read()).toContain('liaozhai_upstream_errors_total{reason="unreachable"} 1');
    const restarting = await measured({ secondsUntilRestart: () => 3 });
    await ask(restarting.origin, '/api/v1/stories');
    expect(await restarting.read()).toContain('liaozhai_upstream_errors_total{reason="restarting"} 1');
  });

  test('are not public: /metrics of the product is a 404', async () => {
    const { origin } = await measured();
    const answer = await fetch(`${origin}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([404, expect.not.stringContaining('liaozhai_http')]);
  });
});

describe('ops.spans: traces', () => {
  const none = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

  async function traced(options: Parameters<typeof product.serve>[1] = {}) {
    const collector = await openCollector();
    const tracing = await openTracing('liaozhai-front', () => {});
    onTestFinished(async () => {
      await tracing?.close();
      collector.close();
    });
    return { origin: await product.serve({}, { tracing, ...options }), collector };
  }

  test('the document names its trace; calls and the backend’s work are its child spans', async () => {
    const { origin, collector } = await traced();
    const page = await fetch(`${origin}/story/nie-xiaoqian`);
    const traceparent = /^traceparent;desc="(.*)"$/.exec(page.headers.get('server-timing') ?? '')?.[1] ?? '';
    const [, traceId, documentId] = traceparent.split('-');
    const answer = await fetch(`${origin}/api/v1/stories/1`, {
      headers: { traceparent, 'x-request-id': 'page-request-0789' },
    });
    const told = (await answer.json()) as { headers: Record<string, string> };
    const named = (name: string) => collector.spans.find((span) => span.name === name);
    await expect
      .poll(() => named('GET /api/*'))
      .toMatchObject({
        service: 'liaozhai-front',
        traceId,
        parentSpanId: documentId,
        attributes: { 'liaozhai.request_id': 'page-request-0789', 'http.response.status_code': 200 },
      });
    expect(named('GET /story/:id')).toMatchObject({ traceId, spanId: documentId, parentSpanId: undefined });
    expect(told.headers.traceparent).toBe(`00-${traceId}-${named('GET /api/*')?.spanId}-01`);
    const logged = () => product.logEntries.find(({ requestId }) => requestId === 'page-request-0789');
    await expect.poll(logged).toMatchObject({ traceId, path: '/api/v1/stories/1' });
  });

  test('the page’s bytes are the same for all, and files, health and beacons have no spans', async () => {
    const { origin, collector } = await traced();
    const [first, second] = [await fetch(`${origin}/no-such`), await fetch(`${origin}/no-such`)];
    expect(first.headers.get('etag')).toBe(second.headers.get('etag'));
    expect(first.headers.get('server-timing')).not.toBe(second.headers.get('server-timing'));
    const host = /href="([^"]*host\.js)"/.exec(await first.text())?.[1] ?? '';
    for (const path of [
      host,
      '/api/media/covers/1.svg',
      '/healthz',
      '/readyz',
      '/favicon.svg',
      '/sw.js',
      '/channels/production.json',
    ])
      await fetch(origin + path);
    await fetch(`${origin}/explore?from=x`);
    await expect.poll(() => collector.spans.map(({ name }) => name)).toContain('GET /explore');
    expect(collector.spans.map(({ name }) => name)).toEqual(['GET no such page', 'GET no such page', 'GET /explore']);
  });

  test('an invalid trace header starts a new trace, and the configured sampler applies', async () => {
    process.env.OTEL_TRACES_SAMPLER = 'parentbased_always_off';
    onTestFinished(() => void delete process.env.OTEL_TRACES_SAMPLER);
    const { origin, collector } = await traced();
    const ask = async (traceparent: string) => {
      const answer = await fetch(`${origin}/api/v1/x`, { headers: { traceparent } });
      return ((await answer.json()) as { headers: Record<string, string> }).headers.traceparent;
    };
    expect(await ask('nonsense"><script>')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(await ask(none)).toMatch(/^00-a{32}-[0-9a-f]{16}-01$/);
    await expect.poll(() => collector.spans.length).toBe(1);
    expect(collector.spans[0]).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) });
  });

  test('without the settings a page names no trace, and a traceparent is passed on unchanged', async () => {
    expect(await openTracing('liaozhai-front', () => {}, {})).toBeNull();
    const origin = await product.serve();
    expect((await fetch(`${origin}/explore`)).headers.get('server-timing')).toBeNull();
    const answer = await fetch(`${origin}/api/v1/x`, { headers: { traceparent: none } });
    expect(await answer.json()).toMatchObject({ headers: { traceparent: none } });
  });

  test('an unreachable collector is logged once, and again with the loss when it returns', async () => {
    const collector = await openCollector();
    collector.status.code = 400;
    const told: string[] = [];
    const tracing = await openTracing('liaozhai-front', (line) => told.push(line));
    onTestFinished(async () => {
      await tracing?.close();
      collector.close();
    });
    const send = () => tracing?.beginRequest({ method: 'GET', requestId: 'x' }).end({ route: '/', status: 200 });
    send();
    await expect.poll(() => told).toEqual([expect.stringContaining('The collector takes no traces (')]);
    send();
    collector.status.code = 200;
    await expect
      .poll(() => {
        send();
        return told.at(-1);
      })
      .toMatch(/takes traces again; \d+ spans were lost/);
    expect(told).toHaveLength(2);
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ...['localhost:4318', '127.0.0.1:4318', 'grpc://localhost:4317', 'http://', '4318', ' '].map((value) => [
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      value,
    ]),
    ['OTEL_TRACES_SAMPLER', 'ratio'],
    ...['5%', '5', '-1', '0,5', 'all'].map((value) => ['OTEL_TRACES_SAMPLER_ARG', value]),
  ])('%s=%s is refused in one line', async (name = '', value = '') => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', [name]: value };
    await expect(openTracing('liaozhai-front', () => {}, variables)).rejects.toThrow(
      new RegExp(`^${name}=${value}: .* [Uu]nset it[^\n]*$`),
    );
  });

  test.each([{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }])('%j: no traces', async (settings) => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...settings };
    expect(await openTracing('liaozhai-front', () => {}, variables)).toBeNull();
  });
});

describe('ops.spans: the spans of a page', () => {
  /** Opens a page of a traced product, and a function to report from it. */
  async function openTraced(settings: NodeJS.ProcessEnv = {}) {
    Object.assign(process.env, settings);
    const collector = await openCollector();
    const tracing = await openTracing('liaozhai-front', () => {});
    onTestFinished(async () => {
      await tracing?.close();
      collector.close();
      for (const name of Object.keys(settings)) delete process.env[name];
    });
    const origin = await product.serve({}, { tracing });
    return { ...(await readerAt(origin)), collector };
  }

  async function readerAt(origin: string) {
    const page = await fetch(`${origin}/explore`);
    const cookie = /lz_visitor=[0-9a-f]{32}/.exec(page.headers.get('set-cookie') ?? '')?.[0] ?? '';
    const report = async (spans: unknown, headers: Record<string, string> = {}) =>
      (
        await fetch(`${origin}/beacon/spans`, {
          method: 'POST',
          headers: { origin, cookie, 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ spans }),
        })
      ).status;
    return { html: await page.text(), report };
  }

  const [trace, id, parent] = ['a'.repeat(32), 'b'.repeat(16), 'c'.repeat(16)];
  const call = { trace, id, parent, name: 'POST', ago: 5000, took: 1200, route: '/api/v1/messages', status: 503 };

  test('go to the collector as a separate service, with their ids and the server’s time', async () => {
    const { html, report, collector } = await openTraced();
    expect(html).toContain('"spans":true');
    const build = /stories@[\w.+-]+/.exec(html)?.[0];
    const load = { trace, id: 'd'.repeat(16), parent, name: 'remote load', ago: 9000, took: 80, build };
    const from = Date.now();
    expect(await report([call, load])).toBe(204);
    const pageSpans = () => collector.spans.filter(({ service }) => service === 'liaozhai-page');
    await expect.poll(pageSpans).toHaveLength(2);
    expect(pageSpans()).toMatchObject([
      {
        ...{ name: 'POST /api/v1/messages', traceId: trace, spanId: id, parentSpanId: parent, milliseconds: 1200 },
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/api/v1/messages',
          'http.response.status_code': 503,
        },
      },
      { name: 'remote load', milliseconds: 80, attributes: { 'liaozhai.build': build } },
    ]);
    const [{ startedAt = 0 } = {}] = pageSpans();
    expect(startedAt).toBeGreaterThanOrEqual(from - 5001);
    expect(startedAt).toBeLessThanOrEqual(Date.now() - 4999);
    // the report itself makes no span
    expect(collector.spans.map(({ name }) => name)).not.toContain('POST /beacon/spans');
  });

  test('contain only names of the visitor’s set', async () => {
    const { report, collector } = await openTraced({ OTEL_SERVICE_NAME: 'lanruo' });
    const secret = { route: '/api/v1/stories/nie-xiaoqian', build: 'a name@1', note: '聂小倩' };
    expect(await report([{ ...call, status: undefined, ...secret }])).toBe(204);
    await expect
      .poll(() => collector.spans.find(({ traceId }) => traceId === trace))
      .toMatchObject({
        ...{ service: 'lanruo-page', name: 'POST' },
        attributes: { 'http.request.method': 'POST' },
      });
    expect(JSON.stringify(collector.spans)).not.toMatch(/xiaoqian|a name|聂/);
  });

  test('are refused from another site, in another form, or in excess', async () => {
    const { report, collector } = await openTraced();
    expect(await report([call], { origin: 'https://evil.example' })).toBe(403);
    expect(await report([call], { cookie: '' })).toBe(403);
    const malformed = [
      { name: 'GET /my/diary' },
      { trace: 'x'.repeat(32) },
      { trace: '0'.repeat(32) },
      { id: 'b'.repeat(15) },
      { parent: 'B'.repeat(16) },
      { ago: -1 },
      { took: 900_001 },
      { status: 99 },
    ];
    for (const wrong of malformed) expect(await report([{ ...call, ...wrong }])).toBe(422);
    expect(await report([])).toBe(422);
    expect(await report(Array(51).fill({ ...call, route: undefined }))).toBe(422);
    expect(await report([{ ...call, route: 'x'.repeat(17_000) }])).toBe(413);
    const many = await Promise.all(Array.from({ length: 130 }, () => report([])));
    expect(many).toContain(429);
    expect(collector.spans.filter(({ service }) => service === 'liaozhai-page')).toEqual([]);
  });

  test('are not requested from a page without tracing, and not accepted', async () => {
    const { html, report } = await readerAt(await product.serve());
    expect(html).not.toContain('"spans"');
    expect(await report([call])).toBe(405);
  });
});

describe('ops.log: the log', () => {
  /** Arguments for a process that logs with this script. */
  const saying = (script: string): string[] => {
    const module = JSON.stringify(new URL('./telemetry.ts', import.meta.url).href);
    const whole = `import { createLog } from ${module}; const log = createLog('info'); ${script}`;
    return ['--import', 'tsx', '--input-type=module', '-e', whole];
  };
  const messagesOf = (output: Buffer): string[] =>
    output
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
  const said = (script: string) => messagesOf(spawnSync(process.execPath, saying(script)).stdout);

  test('contains an error and all former lines, however the process ends', () => {
    const messages = said(`log.info('request'); log.error('disk full'); process.kill(process.pid, 'SIGKILL');`);
    expect(messages).toEqual(['request', 'disk full']);
  });

  test('contains every line completely and in order', () => {
    const messages = said(`for (let at = 0; at < 600; at += 1) log.info(at + '狐'.repeat(at % 200 ? 80 : 40_000));`);
    expect(messages).toEqual(Array.from({ length: 600 }, (_, at) => at + '狐'.repeat(at % 200 ? 80 : 40_000)));
  });

  /** A process that logs so many lines to a pipe that is not read; resolves once it continues. */
  async function unread(lines: number) {
    const flood = `for (let at = 0; at < ${lines}; at += 1) log.info(at + '狐'.repeat(80));`;
    const script = `${flood} process.send('goes on'); setInterval(() => {}, 60_000);`;
    const child = spawn(process.execPath, saying(script), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    return child.stdout as AsyncIterable<Buffer>;
  }

  /** Output until a line ends with this message. */
  async function messagesUntil(message: string, stdout: AsyncIterable<Buffer>): Promise<string[]> {
    const parts: Buffer[] = [];
    for await (const part of stdout) {
      parts.push(part);
      // it may be split over two parts
      if (Buffer.concat(parts.slice(-2)).includes(`${message}"}\n`)) break;
    }
    return messagesOf(Buffer.concat(parts));
  }
  const line = (_: unknown, at: number) => at + '狐'.repeat(80);

  test('without a reader delays nothing, and is complete for a later reader', async () => {
    const messages = await messagesUntil(line(null, 19_999), await unread(20_000));
    expect(messages).toEqual(Array.from({ length: 20_000 }, line));
  });

  test('without a reader for long keeps its beginning and counts omitted lines', async () => {
    const messages = await messagesUntil('lines left out', await unread(100_000));
    expect(messages.length).toBeGreaterThan(20_000);
    expect(messages.length).toBeLessThan(100_000);
    expect(messages.slice(0, 20_000)).toEqual(Array.from({ length: 20_000 }, line));
  });

  test('is written completely by a process that ends before its reader is done', async () => {
    const flood = `for (let at = 0; at < 5_000; at += 1) log.info(at + '狐'.repeat(80));`;
    const script = `${flood} process.send('ends'); process.disconnect(); process.exit(0);`;
    const child = spawn(process.execPath, saying(script), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    await once(child, 'message');
    const parts: Buffer[] = [];
    for await (const part of child.stdout as AsyncIterable<Buffer>) parts.push(part);
    expect(messagesOf(Buffer.concat(parts))).toEqual(Array.from({ length: 5_000 }, line));
  });

  test('does not stop the process when its reader closes', async () => {
    const script = `process.on('message', () => { log.info('on'); log.error('and on'); process.send('goes on'); });`;
    const child = spawn(process.execPath, saying(script), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdout?.destroy();
    child.send('now');
    expect(await once(child, 'message')).toEqual(['goes on', undefined]);
    expect(child.exitCode).toBeNull();
  });

  test('can be read while the process waits for a request', async () => {
    const later = `setTimeout(() => log.info('request'), 200); setInterval(() => {}, 60_000);`;
    const child = spawn(process.execPath, saying(later), { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [output] = await once(child.stdout, 'data');
    expect(messagesOf(output)).toEqual(['request']);
  });
});
