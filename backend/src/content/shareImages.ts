import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { BoundedMap } from '@liaozhai/http/bounded-map';
import { renderAsync } from '@resvg/resvg-js';
import { Hono } from 'hono';
import type { AppEnv } from '../http/http.ts';
import { notFound } from '../http/http.ts';
import type { Services } from '../services.ts';
import { findShownStory, type Story } from '../stories.ts';
import type { Content } from './content.ts';
import { groundColor, type Picture } from './pictures.ts';
import { coverOf, shareImageUrl } from './shareImageUrl.ts';

// Picture for links in messengers, 1200×630. Some crop it to the middle square, which contains the whole cover.
const WIDTH = 1200;
const HEIGHT = 630;
const coverWidth = (HEIGHT * 3) / 4;
const coverLeft = (WIDTH - coverWidth) / 2;
const MAX_CACHED_IMAGES = 64;

const nodeRequire = createRequire(import.meta.url);

/** Bundled font with the characters of covers and titles, for machines without Chinese fonts. */
const font = {
  loadSystemFonts: false,
  fontFiles: [nodeRequire.resolve('@expo-google-fonts/zcool-xiaowei/400Regular/ZCOOLXiaoWei_400Regular.ttf')],
  defaultFontFamily: 'ZCOOL XiaoWei',
};

/** Routes of the bitmaps. Each is rendered at its first request, in another thread. */
export function shareImageRoutes(services: Services): Hono<AppEnv> {
  const images = new BoundedMap<string, Promise<Buffer>>(MAX_CACHED_IMAGES);
  const imageOf = (story: Story) => {
    const key = `${story.id} ${shareImageUrl(services.content, story)}`;
    const image = images.get(key) ?? renderImage(services.content, story);
    images.set(key, image);
    return image;
  };
  return new Hono<AppEnv>().get('/:file{.+\\.png}', async (c) => {
    const story = findShownStory(services, c.req.param('file').replace(/\.png$/, ''));
    if (!shareImageUrl(services.content, story)) throw notFound();
    return c.body(new Uint8Array(await imageOf(story)), 200, {
      'Content-Type': 'image/png',
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
  });
}

async function renderImage(content: Content, story: Story): Promise<Buffer> {
  const cover = coverOf(content, story);
  // a cover with a valid header and a damaged body is replaced by the title
  const picture = (cover && (await renderCover(cover).catch(() => null))) || titleCover(story.title);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">${picture}</svg>`;
  return (await renderAsync(svg, { font })).asPng();
}

/** Returns the cover in the middle, on its background colour. */
async function renderCover(cover: Picture): Promise<string> {
  const place = `x="${coverLeft}" y="0" width="${coverWidth}" height="${HEIGHT}"`;
  if (typeof cover !== 'string') {
    return `<rect width="${WIDTH}" height="${HEIGHT}" fill="#e5ddcd"/><image ${place} preserveAspectRatio="xMidYMid slice" href="${await toDataUrl(cover)}"/>`;
  }
  const picture = cover.slice(cover.indexOf('<svg'));
  return `<rect width="${WIDTH}" height="${HEIGHT}" fill="${groundColor(cover) ?? '#e5ddcd'}"/>${picture.replace('<svg', `<svg ${place}`)}`;
}

/** Returns a data URL. The renderer does not read WebP, whose decoder is loaded with the first one. */
async function toDataUrl(picture: Buffer): Promise<string> {
  if (picture[0] === 0xff) return `data:image/jpeg;base64,${picture.toString('base64')}`;
  const { Transformer } = await import('@napi-rs/image');
  const decoded = await new Transformer(picture).resize(coverWidth * 2).png();
  return `data:image/png;base64,${decoded.toString('base64')}`;
}

const MAX_TITLE_CHARACTERS = 18;
const COLUMN_LENGTH = 9;
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for XML, which cannot contain control characters. */
const escapeXml = (text: string) => text.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign).replace(/\p{Cc}/gu, ' ');

/** Returns the title in up to two vertical columns, on a slip of paper like that of a stitched book. */
function titleCover(title: string): string {
  const characters = [...title];
  const shownCharacters =
    characters.length > MAX_TITLE_CHARACTERS ? [...characters.slice(0, MAX_TITLE_CHARACTERS - 1), '…'] : characters;
  const columns = [shownCharacters.slice(0, COLUMN_LENGTH), shownCharacters.slice(COLUMN_LENGTH)].filter(
    (column) => column.length > 0,
  );
  const size = Math.min(120, 470 / Math.max(1, ...columns.map((column) => column.length * 1.16)));
  const step = size * 1.16;
  const longest = Math.max(1, ...columns.map((column) => column.length));
  const slip = { width: columns.length * step + size * 0.7, height: longest * step + size * 0.7 };
  const [left, top] = [(WIDTH - slip.width) / 2, (HEIGHT - slip.height) / 2];
  const column = (column: string[], place: number) => {
    const x = left + slip.width - size * 0.35 - (place + 0.5) * step;
    return column
      .map((sign, row) => `<text x="${x}" y="${top + size * 1.23 + row * step}">${escapeXml(sign)}</text>`)
      .join('');
  };
  return `<rect width="${WIDTH}" height="${HEIGHT}" fill="${titleColor(title)}"/>
<rect x="${left}" y="${top}" width="${slip.width}" height="${slip.height}" fill="#fffdf8"/>
<rect x="${left + 8}" y="${top + 8}" width="${slip.width - 16}" height="${slip.height - 16}" fill="none" stroke="#b3392f" stroke-width="2"/>
<g font-size="${size}" text-anchor="middle" fill="#1f1b16">${columns.map(column).join('')}</g>`;
}

const mutedColors = ['#544a40', '#3a4d5e', '#3a6a5c', '#6b4252'];

/** Returns the same colour for the same title. */
const titleColor = (title: string) =>
  mutedColors[createHash('sha256').update(title).digest().readUInt8() % mutedColors.length];
