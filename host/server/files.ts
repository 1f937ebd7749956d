import { encodingFor, isFresh } from '@liaozhai/http/negotiation';
import type { Releases, ServedFile } from '@liaozhai/releases';
import { Hono } from 'hono';
import type { FrontContext, FrontEnv } from './front.ts';

function send(context: FrontContext, file: ServedFile | null) {
  if (!file) return context.text('not found', 404, { 'cache-control': 'no-store' });
  for (const [name, value] of Object.entries(file.headers)) context.header(name, value);
  if (file.headers.etag && isFresh(context.env.incoming.headers, file.headers.etag)) return context.body(null, 304);
  return context.body(new Uint8Array(file.body), 200);
}

const rootFiles = [
  '/manifest.webmanifest',
  '/favicon.svg',
  '/icon-192.png',
  '/icon-512.png',
  '/icon-maskable.png',
  '/apple-touch-icon.png',
];

/** What a browser reads of the release store: builds, the channel, the service worker, and files that must lie at the root. */
export function fileRoutes(releases: Releases, channel: string): Hono<FrontEnv> {
  const encoding = (context: FrontContext) => encodingFor(context.req.header('accept-encoding'));
  const app = new Hono<FrontEnv>();
  app.get('/builds/*', async (context) => send(context, await releases.file(context.req.path, encoding(context))));
  app.get(`/channels/${channel}.json`, async (context) => send(context, await releases.channelFile()));
  app.get('/sw.js', async (context) => send(context, await releases.serviceWorker(encoding(context))));
  for (const path of rootFiles) {
    app.get(path, async (context) => {
      const { pageSet } = await releases.pageFor({ id: '' });
      const folder = /^\/builds\/host\/[^/]+/.exec(pageSet.host.entry)?.[0] ?? '';
      const file = await releases.file(`${folder}${path}`, encoding(context));
      // the name stays while the content may change with the host build
      return send(context, file && { ...file, headers: { ...file.headers, 'cache-control': 'public, max-age=3600' } });
    });
  }
  return app;
}
