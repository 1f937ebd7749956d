import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { renderPage } from '../page/renderPage.ts';
import type { ServedFile } from '../serve/buildFiles.ts';
import { openReleases, type ReleasesOptions } from '../serve/openReleases.ts';
import type { ServeSet } from './serveCommand.ts';

const answer = (context: Context, file: ServedFile | null) =>
  file ? context.body(new Uint8Array(file.body), 200, file.headers) : context.notFound();

/** Serves a stored set from this process, with an API that is down: every page must bear that. */
export function serveInProcess(options: Pick<ReleasesOptions, 'store' | 'channel'>): ServeSet {
  return async (set) => {
    const releases = await openReleases({ ...options, set });
    const app = new Hono();
    app.get('/builds/*', async (context) =>
      answer(context, await releases.file(context.req.path, context.req.header('accept-encoding'))),
    );
    app.get('/channels/*', async (context) => answer(context, await releases.channelFile()));
    app.get('/sw.js', async (context) => answer(context, await releases.serviceWorker()));
    app.post('/beacon', (context) => context.body(null, 204));
    app.all('/api/*', (context) => context.json({ message: '' }, 503));
    app.get('*', async (context) => {
      if (!context.req.header('accept')?.includes('text/html')) return context.notFound();
      const { pageSet, template } = await releases.pageFor({ id: 'gate' });
      const page = renderPage({ template, pageSet, path: context.req.path, config: {} });
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
