import { expect, onTestFinished, test } from '@rstest/core';
import { type MetricsSettings, openMetrics } from './metrics.ts';

async function open(settings: Partial<MetricsSettings> = {}) {
  const metrics = await openMetrics({ METRICS_PORT: 0, METRICS_HOST: '127.0.0.1', ...settings });
  if (!metrics) throw new Error('no metrics');
  onTestFinished(() => metrics.close());
  return metrics;
}

const ask = async (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  (await fetch(url, { headers, method })).status;

test('metrics exist only on a configured port', async () => {
  expect(await openMetrics({ METRICS_HOST: '127.0.0.1' })).toBeNull();
});

test('what is counted is read at /metrics and nowhere else, next to figures of the process', async () => {
  const metrics = await open();
  const facts = { service: 'front', route: '/story/:id', seconds: 0.003 } as const;
  metrics.countRequest({ ...facts, method: 'GET', status: 200 });
  metrics.countRequest({ ...facts, method: 'GET', status: 304 });
  metrics.countRequest({ ...facts, method: 'PROPFIND', status: 404 });
  const answer = await fetch(metrics.url);
  const lines = (await answer.text()).split('\n');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const label = 'service="front",method';
  expect(lines).toContain(`liaozhai_http_requests_total{${label}="GET",route="/story/:id",status="2xx"} 1`);
  expect(lines).toContain(`liaozhai_http_requests_total{${label}="GET",route="/story/:id",status="3xx"} 1`);
  expect(lines).toContain(`liaozhai_http_requests_total{${label}="other",route="/story/:id",status="4xx"} 1`);
  expect(lines).toContain(
    'liaozhai_http_request_duration_seconds_bucket{le="0.005",service="front",route="/story/:id"} 3',
  );
  expect(lines.join('\n')).toMatch(/^process_resident_memory_bytes \d+$/m);
  expect(lines.join('\n')).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  expect(await ask(metrics.url.replace('/metrics', '/'))).toBe(404);
  expect(await ask(metrics.url, {}, 'POST')).toBe(404);
});

test('with a token nobody else reads them', async () => {
  const { url } = await open({ METRICS_TOKEN: 'scrape-me-0123456789' });
  expect(await ask(url)).toBe(401);
  expect(await ask(url, { authorization: 'Bearer scrape-me-012345678' })).toBe(401);
  expect(await ask(url, { authorization: 'Bearer scrape-me-0123456789' })).toBe(200);
});

test('an address that other machines reach needs a token, and a port in use is named', async () => {
  await expect(open({ METRICS_HOST: '0.0.0.0' })).rejects.toThrow(/METRICS_HOST=0\.0\.0\.0 .*set METRICS_TOKEN/);
  await open({ METRICS_HOST: '0.0.0.0', METRICS_TOKEN: 'scrape-me-0123456789' });
  const METRICS_PORT = Number(new URL((await open()).url).port);
  await expect(open({ METRICS_PORT })).rejects.toThrow(`METRICS_PORT=${METRICS_PORT} on 127.0.0.1: in use`);
});
