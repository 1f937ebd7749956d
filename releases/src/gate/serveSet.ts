import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { FurtherOrigins } from '@liaozhai/shared/contract';
import { type Context, Hono } from 'hono';
import { refused } from '../errors.ts';
import { say } from '../sentences.ts';
import type { ServedFile } from '../serve/buildFiles.ts';
import { openReleases, type ReleasesOptions } from '../serve/openReleases.ts';
import { renderPage } from '../serve/renderPage.ts';

const STARTUP_TIMEOUT_MS = 20_000;
const ORIGIN = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/;

export type ServeSet = (hash: string) => Promise<{ origin: string; stop: () => Promise<void> }>;

/**
 * Wraps the command in a shell that ends it when standard input closes, also if this process was killed. Sends SIGTERM, and SIGKILL
 * three seconds later.
 */
const guarded = (command: string): string => `exec 3<&0
(exec ${command}) </dev/null 3<&- & command=$!
(read -r line <&3; kill $command; sleep 3; kill -9 $command) >/dev/null 2>&1 & guard=$!
wait $command; status=$?
kill $guard; exit $status`;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
}

function originOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(refused(say('serverSilent'), output.slice(-500))), STARTUP_TIMEOUT_MS);
    const handleOutput = (piece: Buffer) => {
      output += piece.toString('utf8');
      const [origin] = ORIGIN.exec(output) ?? [];
      if (!origin) return;
      clearTimeout(timer);
      resolve(origin);
    };
    child.stdout?.on('data', handleOutput);
    child.stderr?.on('data', handleOutput);
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(timer);
      reject(refused(say('serverEnded'), output.slice(-500)));
    });
  });
}

/** Serves a set by a command with `--set <hash>` appended. The command must print its loopback address and end on SIGTERM. */
export function serveByCommand(command: string, environment: NodeJS.ProcessEnv): ServeSet {
  return async (hash) => {
    const child = spawn(guarded(`${command} --set ${hash}`), {
      shell: true,
      env: { ...environment, PORT: '0' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    try {
      return { origin: await originOf(child), stop: () => stop(child) };
    } catch (cause) {
      await stop(child);
      throw cause;
    }
  };
}

const respond = (context: Context, file: ServedFile | null) =>
  file ? context.body(new Uint8Array(file.body), 200, file.headers) : context.notFound();

interface InProcessOptions extends Pick<ReleasesOptions, 'store' | 'channel'> {
  /** Further origins that the pages' policy allows, as in the product. */
  further?: FurtherOrigins;
}

/** Serves a stored set from this process. The API responds with 503, which every page must tolerate. */
export function serveInProcess({ further = { connect: [], pictures: [] }, ...options }: InProcessOptions): ServeSet {
  return async (set) => {
    const releases = await openReleases({ ...options, set });
    const app = new Hono();
    app.get('/builds/*', async (context) => respond(context, await releases.file(context.req.path)));
    app.get('/channels/*', async (context) => respond(context, await releases.channelFile()));
    app.get('/sw.js', async (context) => respond(context, await releases.serviceWorker()));
    app.post('/beacon/*', (context) => context.body(null, 204));
    app.all('/api/*', (context) => context.json({ message: '' }, 503));
    app.get('*', async (context) => {
      if (!context.req.header('accept')?.includes('text/html')) return context.notFound();
      const { pageSet, template } = await releases.pageFor({ id: 'gate' });
      const { connect: connectSrc, pictures: imgOrigins } = further;
      const page = renderPage({ template, pageSet, path: context.req.path, config: {}, connectSrc, imgOrigins });
      return context.body(page.html, 200, page.headers);
    });
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stop = async () => {
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
      await releases.close();
    };
    return { origin: `http://127.0.0.1:${port}`, stop };
  };
}
