import { Hono } from 'hono';
import type { AppEnv } from '../http/http.ts';
import { notFound } from '../http/httpError.ts';
import { avatarUrls } from './avatars.ts';
import { avatarSvg } from './drawing/avatar.ts';
import { coverSvg } from './drawing/cover.ts';
import { portraitSvg } from './drawing/portrait.ts';

const drawings = new Map([
  ['covers', coverSvg],
  ['avatars', avatarSvg],
  ['characters', portraitSvg],
]);

/** Generated pictures, and the list of avatars to choose from. */
export function mediaRoutes(): Hono<AppEnv> {
  const drawn = new Map<string, string>();
  return new Hono<AppEnv>()
    .get('/avatars.json', (c) => c.json({ data: avatarUrls }))
    .get('/:kind/:file{[a-z0-9-]+\\.svg}', (c) => {
      const { kind, file } = c.req.param();
      const key = `${kind}/${file}`;
      const svg = drawn.get(key) ?? drawings.get(kind)?.(file.replace(/\.svg$/, ''));
      if (!svg) throw notFound();
      drawn.set(key, svg);
      return c.body(svg, 200, {
        'Content-Type': 'image/svg+xml; charset=utf-8',
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      });
    });
}
