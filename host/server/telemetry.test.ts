import { openMetrics } from '@liaozhai/telemetry/metrics';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { frontCounters } from './telemetry.ts';
import { openTestProduct } from './testing/testProduct.ts';

let product: Awaited<ReturnType<typeof openTestProduct>>;

beforeAll(async () => {
  product = await openTestProduct();
});

afterAll(() => product.close());

describe('metrics', () => {
  /** The product with metrics, and what they say, without comments. */
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

  test('requests are counted by pattern, whatever addresses visitors make up', async () => {
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
    // the only new ones: pages that do not exist, and files that do not
    const routes = (lines: string[]) => new Set(lines.map((line) => /route="([^"]*)"/.exec(line)?.[1]));
    expect([...routes(await seen())].filter((route) => !routes(before).has(route))).toEqual(['no such page', 'other']);
  });

  test('pages are counted by what was chosen, and what is live is told', async () => {
    const { origin, read } = await measured();
    await ask(origin, '/story/nie-xiaoqian');
    const lines = await read();
    expect(lines.find((line) => line.startsWith('liaozhai_pages_served_total{group="stable"'))).toMatch(/ 1$/);
    expect(lines).toContainEqual(expect.stringMatching(/^liaozhai_channel_state\{channel="production"\} \d+$/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^liaozhai_live_build\{build="stories@1\.0\.0[^"]*",group="stable",percent="100"\} 1$/),
    );
  });

  test('health reports are counted by names the channel knows, and those refused by why', async () => {
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

  test('calls that the backend does not answer are counted', async () => {
    const away = await measured({ backendUrl: () => 'http://127.0.0.1:9' });
    await ask(away.origin, '/api/v1/stories');
    expect(await away.read()).toContain('liaozhai_upstream_errors_total{reason="unreachable"} 1');
    const restarting = await measured({ awaySeconds: () => 3 });
    await ask(restarting.origin, '/api/v1/stories');
    expect(await restarting.read()).toContain('liaozhai_upstream_errors_total{reason="restarting"} 1');
  });

  test('readers reach none of it: /metrics of the product is an address that nobody serves', async () => {
    const { origin } = await measured();
    const answer = await fetch(`${origin}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([404, expect.not.stringContaining('liaozhai_http')]);
  });
});
