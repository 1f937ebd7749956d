import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { closeHttpServer, listenProblem } from '@liaozhai/http/server';
import {
  lineOf,
  openReleases,
  publishLocal,
  readSiteConfig,
  type SiteConfig,
  type SiteOf,
  siteBrand,
  sitesFrom,
  storeFrom,
  tellProblem,
} from '@liaozhai/releases';
import { repoRoot } from '@liaozhai/shared/build/facts';
import { type Metrics, openMetrics } from '@liaozhai/telemetry/metrics';
import { openTracing, type Tracing } from '@liaozhai/telemetry/tracing';
import { type Backend, BackendRefused, startBackend } from './backendProcess.ts';
import { buildPackages, readLastStart, writeLastStart } from './buildPackages.ts';
import { preload, whenStarterEnds } from './endWithStarter.mjs';
import { readEnv, type ServerEnv } from './env.ts';
import { createProduct } from './product.ts';
import { createLog, frontCounters } from './telemetry.ts';

const startedAt = performance.now();
const elapsedSeconds = () => ((performance.now() - startedAt) / 1000).toFixed(1);

/** Builds, publishes and activates what changed since the last start; switches and rollbacks in between stay in effect. */
async function publishAll(env: ServerEnv, store: string) {
  const packages = await buildPackages((line) => console.log(line));
  const lastStartFile = join(env.DATA_DIR, 'last-start.json');
  const startedBefore = readLastStart(lastStartFile);
  const dists = packages.map(({ dist }) => dist);
  const publication = await publishLocal({ dists, store, channel: env.CHANNEL, who: 'npm start', startedBefore });
  writeLastStart(lastStartFile, publication.builds);
  for (const problem of publication.problems) console.warn(`! ${problem}`);
  const { changed, seq } = publication;
  console.log(
    changed
      ? `Published and switched: state ${seq} of ${env.CHANNEL} is live.`
      : `Nothing changed: state ${seq} of ${env.CHANNEL} stays live.`,
  );
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await once(server.listen(port, host), 'listening').catch((error: Error) => {
    throw new Error(listenProblem(error, 'HOST', 'PORT') ?? error.message);
  });
  return (server.address() as AddressInfo).port;
}

const lifecycle = {
  /** No new visitors should be sent here. */
  isDraining: false,
  /** Closes what was started; what an unfinished start began ends with the process. */
  close: async (): Promise<unknown> => undefined,
};

const endSignals = ['SIGINT', 'SIGTERM'] as const;

/** Ends everything that was started, on Ctrl-C, SIGTERM or the end of start.mjs. */
async function stop() {
  // a second signal of either kind ends the process immediately
  for (const signal of endSignals) process.off(signal, stop);
  lifecycle.isDraining = true;
  await lifecycle.close();
  process.exit(0);
}

/** Uses the backend at BACKEND_URL, or starts one. If that ends for good, this process exits, so that a supervisor notices. */
async function backendFor(
  { BACKEND_URL: externalUrl, DATA_DIR, BACKEND_METRICS_PORT }: ServerEnv,
  logLevel: string,
  { rechargePackages, rules, brand }: SiteConfig,
): Promise<Omit<Backend, 'gone'>> {
  if (externalUrl) return { url: () => externalUrl, secondsUntilRestart: () => null, stop: async () => {} };
  const { PORT: _, ...inherited } = process.env;
  const backend = await startBackend({
    LOG_LEVEL: logLevel,
    // the displayed prices are the charged ones
    RECHARGE_PACKAGES: JSON.stringify(rechargePackages ?? []),
    PRICES: JSON.stringify(rules ?? {}),
    BRAND_NAME: siteBrand(brand).name,
    ...inherited,
    PORT: '0',
    // a separate port: METRICS_PORT is used by this process
    METRICS_PORT: String(BACKEND_METRICS_PORT ?? ''),
    ...(inherited.OTEL_SERVICE_NAME && { OTEL_SERVICE_NAME: `${inherited.OTEL_SERVICE_NAME}-backend` }),
    DATA_DIR: join(DATA_DIR, 'backend'),
  });
  void backend.gone.then(async (reason) => {
    console.error(reason);
    await lifecycle.close();
    process.exit(1);
  });
  return backend;
}

/** The page's runtime configuration: siteConfig.json, HOST_CONFIG's keys over it, and REVERB_APP_KEY over both. */
function siteConfig({ HOST_CONFIG: file, REVERB_APP_KEY: key }: ServerEnv): SiteConfig {
  const shippedConfig = readSiteConfig(join(import.meta.dirname, 'siteConfig.json'));
  const config = file ? { ...shippedConfig, ...readSiteConfig(file, `HOST_CONFIG=${file}`) } : shippedConfig;
  return key ? { ...config, realtime: { ...(config.realtime as SiteConfig | undefined), key } } : config;
}

async function develop(env: ServerEnv) {
  const config = siteConfig(env);
  const backend = await backendFor(env, env.LOG_LEVEL ?? 'warn', config);
  const server = startDevServer(env.PORT, backend.url(), config);
  lifecycle.close = () => {
    server.kill('SIGTERM');
    return backend.stop();
  };
  server.once('exit', stop);
}

/** The release console on its own origin: remotes run with the app's privileges and must not reach it. */
async function consoleFor({ env, store, metrics }: ServeOptions, siteOf: SiteOf) {
  const { startConsole } = await import('@liaozhai/releases/console');
  return startConsole({ store, channel: env.CHANNEL, port: env.CONSOLE_PORT, localToken: true, siteOf, metrics });
}

interface ServeOptions {
  env: ServerEnv;
  store: string;
  config: Record<string, unknown>;
  logLevel: string;
  metrics: Metrics | null;
  tracing: Tracing | null;
}

/** Serves the live set of the store, or one of its sets, with a backend. Changes nothing in the store. */
async function serveStored({ env, store, config, logLevel, metrics, tracing }: ServeOptions, set?: string) {
  const backend = await backendFor(env, logLevel, config);
  const state = set ? { set } : { seenFile: join(env.DATA_DIR, `seen-${env.CHANNEL}.json`) };
  const counters = metrics && frontCounters(metrics);
  const releases = await openReleases({
    store,
    channel: env.CHANNEL,
    publicKey: env.RELEASES_PUBLIC_KEY,
    onProblem(cause) {
      tellProblem(cause);
      counters?.channelProblems.inc();
    },
    ...state,
  });
  // reports a problem before the first visitor meets it; the server runs on, since another state may fix it
  await releases.pageFor({ id: '' }).catch(tellProblem);
  const server = createProduct({
    releases,
    env,
    backendUrl: backend.url,
    secondsUntilRestart: backend.secondsUntilRestart,
    log: createLog(logLevel),
    counters,
    tracing,
    isDraining: () => lifecycle.isDraining,
    config,
  });
  const port = await listen(server, env.PORT, set ? '127.0.0.1' : env.HOST);
  const close = async () => {
    const deadline = performance.now() + env.DRAIN_SECONDS * 1000;
    // pages are still served while the backend finishes its replies
    await backend.stop();
    await closeHttpServer(server, deadline - performance.now());
    await Promise.all([releases.close(), metrics?.close(), tracing?.close()]);
  };
  return { port, close };
}

const logReady = (port: number) => console.log(`聊斋 is ready at http://localhost:${port} (${elapsedSeconds()} s)`);

/** Everything on one machine: builds, publishes, serves, and runs the release console. */
async function runWhole(serveOptions: ServeOptions) {
  await publishAll(serveOptions.env, serveOptions.store);
  const sites = sitesFrom(process.env.RELEASES_SITE);
  const ownSite: { origin: string | null } = { origin: null };
  const siteOf = (channel: string) => sites(channel) ?? (channel === serveOptions.env.CHANNEL ? ownSite.origin : null);
  const releaseConsole = await consoleFor(serveOptions, siteOf);
  const { port, close } = await serveStored(serveOptions);
  ownSite.origin = `http://localhost:${port}`;
  console.log(`Release console: ${releaseConsole.link}`);
  logReady(port);
  lifecycle.close = () => Promise.all([close(), releaseConsole.close()]);
}

/** Runs a production server: it has no key, publishes nothing, and follows the channel that release managers switch. */
async function runServer(serveOptions: ServeOptions) {
  const { port, close } = await serveStored(serveOptions);
  logReady(port);
  lifecycle.close = close;
}

/** Serves one stored set, for the gate's smoke test. */
async function runSet(serveOptions: ServeOptions, set: string) {
  const { port, close } = await serveStored(serveOptions, set);
  console.log(`serving set ${set} at http://127.0.0.1:${port}`);
  lifecycle.close = close;
}

async function run() {
  for (const signal of endSignals) process.on(signal, stop);
  whenStarterEnds(stop);
  const env = readEnv();
  const options = { dev: { type: 'boolean' }, serve: { type: 'boolean' }, set: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  if (values.dev) return develop(env);
  const store = storeFrom(env);
  const logLevel = env.LOG_LEVEL ?? (values.serve ? 'info' : 'warn');
  // a set that the gate opens runs next to the server that uses the port
  const metrics = values.set ? null : await openMetrics(env);
  if (metrics) console.log(`Metrics: ${metrics.url}`);
  const tracing = values.set ? null : await openTracing('liaozhai-front', console.warn);
  const serveOptions = { env, store, config: siteConfig(env), logLevel, metrics, tracing };
  if (values.set) return runSet(serveOptions, values.set);
  return values.serve ? runServer(serveOptions) : runWhole(serveOptions);
}

run().catch((error: unknown) => {
  if (error instanceof BackendRefused && error.isExplained) process.exit(1);
  console.error(lineOf(error));
  process.exit(1);
});

/** Starts Rsbuild's development server for host, remotes and shared code, in front of the backend. */
function startDevServer(port: number, backendUrl: string, config: object): ChildProcess {
  const root = join(repoRoot, 'host');
  const rsbuild = join(root, 'node_modules/@rsbuild/core/bin/rsbuild.js');
  const ownEnv = { NODE_ENV: 'development', PORT: String(port), BACKEND_URL: backendUrl };
  const env = { ...process.env, ...ownEnv, LIAOZHAI_CONFIG: JSON.stringify(config) };
  return spawn(process.execPath, ['--import', preload, rsbuild, 'dev'], {
    cwd: root,
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}
