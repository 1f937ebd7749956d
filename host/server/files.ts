import { createRequire } from 'node:module';
import { encodingFor } from '@liaozhai/http/negotiation';
import {
  brandedManifest,
  brandIcon,
  hasOwnSeal,
  isShipped,
  type Releases,
  type ServedFile,
  type SiteBrand,
} from '@liaozhai/releases';
import { Hono } from 'hono';
import { type FrontContext, type FrontEnv, sendStored } from './front.ts';

function send(context: FrontContext, file: ServedFile | null) {
  if (!file) return context.text('not found', 404, { 'cache-control': 'no-store' });
  return sendStored(context, file);
}

/** Sides in px. `bleed`: the drawing fills the square, since systems cut their own shape out of it. */
const bitmaps: Record<string, { side: number; bleed: boolean }> = {
  '/icon-192.png': { side: 192, bleed: false },
  '/icon-512.png': { side: 512, bleed: false },
  '/icon-maskable.png': { side: 512, bleed: true },
  '/apple-touch-icon.png': { side: 180, bleed: true },
};

const rootFiles = ['/manifest.webmanifest', '/favicon.svg', ...Object.keys(bitmaps)];

/** Applies the site's brand to a file of the build; icons are redrawn if the seal differs. */
async function applyBrand(path: string, builtFile: ServedFile, brand: SiteBrand): Promise<ServedFile> {
  const bitmap = bitmaps[path];
  // both describe the build's bytes
  const { etag: _, 'content-length': __, ...headers } = builtFile.headers;
  if (path === '/manifest.webmanifest')
    return { headers, body: Buffer.from(brandedManifest(builtFile.body.toString('utf8'), brand)) };
  if (!hasOwnSeal(brand)) return { headers, body: builtFile.body };
  if (!bitmap) return { headers, body: Buffer.from(brandIcon(brand)) };
  return { headers, body: await drawIcon(brandIcon(brand, bitmap.bleed), bitmap.side) };
}

const FONT = '@expo-google-fonts/zcool-xiaowei/400Regular/ZCOOLXiaoWei_400Regular.ttf';

const iconCache = new Map<string, Promise<Buffer>>();

/** Renders a drawing as PNG, each once. */
function drawIcon(svg: string, side: number): Promise<Buffer> {
  const key = `${side} ${svg}`;
  const icon = iconCache.get(key) ?? renderIcon(svg, side);
  iconCache.set(key, icon);
  return icon;
}

/** Uses a packaged font, for machines without Chinese fonts and for Latin seals. */
async function renderIcon(svg: string, side: number): Promise<Buffer> {
  // loaded on demand: most sites keep the build's seal and need no renderer
  const { renderAsync } = await import('@resvg/resvg-js');
  const fontFiles = [createRequire(import.meta.url).resolve(FONT)];
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'ZCOOL XiaoWei' };
  const image = await renderAsync(svg, { font, fitTo: { mode: 'width', value: side } });
  return image.asPng();
}

/** Serves files of the release store: builds, the channel, the service worker, and files that must be at the root. */
export function fileRoutes(releases: Releases, channel: string, brand: SiteBrand): Hono<FrontEnv> {
  const encoding = (context: FrontContext) => encodingFor(context.req.header('accept-encoding'));
  const app = new Hono<FrontEnv>();
  app.get('/builds/*', async (context) => send(context, await releases.file(context.req.path, encoding(context))));
  app.get(`/channels/${channel}.json`, async (context) => send(context, await releases.channelFile()));
  app.get('/sw.js', async (context) => send(context, await releases.serviceWorker(encoding(context))));
  for (const path of rootFiles) {
    app.get(path, async (context) => {
      const { pageSet } = await releases.pageFor({ id: '' });
      const folder = /^\/builds\/host\/[^/]+/.exec(pageSet.host.entry)?.[0] ?? '';
      const builtFile = await releases.file(`${folder}${path}`, isShipped(brand) ? encoding(context) : 'identity');
      const file = builtFile && !isShipped(brand) ? await applyBrand(path, builtFile, brand) : builtFile;
      // the content may change with the host build under the same name
      return send(context, file && { ...file, headers: { ...file.headers, 'cache-control': 'public, max-age=3600' } });
    });
  }
  return app;
}
