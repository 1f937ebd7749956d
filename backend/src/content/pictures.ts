import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { encodingFor } from '@liaozhai/http/negotiation';
import { Hono } from 'hono';
import type { AppEnv } from '../http/http.ts';
import { notFound } from '../http/http.ts';
import type { Content } from './content.ts';

/** Routes of the stories' pictures and the list of avatars. */
export function mediaRoutes({ avatars, pictures }: Content): Hono<AppEnv> {
  const compressed = createCompressed();
  return new Hono<AppEnv>()
    .get('/avatars.json', (c) => c.json({ data: avatars }))
    .get('/:kind/:file{[a-z0-9-]+\\.(?:svg|webp|jpg)}', async (c) => {
      const { kind, file } = c.req.param();
      const picture = pictures.get(`${kind}/${file}`);
      if (!picture) throw notFound();
      if (typeof picture !== 'string') {
        return c.body(new Uint8Array(picture), 200, {
          'Content-Type': file.endsWith('.webp') ? 'image/webp' : 'image/jpeg',
          'Cache-Control': 'public, max-age=31536000, immutable',
        });
      }
      const { body, encoding } = await compressed(picture, c.req.header('Accept-Encoding'));
      return c.body(body, 200, {
        'Content-Type': 'image/svg+xml; charset=utf-8',
        ...(encoding && { 'Content-Encoding': encoding }),
        Vary: 'Accept-Encoding',
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      });
    });
}

const encoders = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** Compresses a picture at its first request, to a third of its bytes. */
function createCompressed() {
  const compressedPictures = { br: new Map<string, Promise<Buffer>>(), gzip: new Map<string, Promise<Buffer>>() };
  return async (svg: string, accepted: string | undefined) => {
    const encoding = encodingFor(accepted);
    if (encoding === 'identity') return { body: svg };
    const body = compressedPictures[encoding].get(svg) ?? encoders[encoding](svg);
    compressedPictures[encoding].set(svg, body);
    return { body: new Uint8Array(await body), encoding };
  };
}

/** SVG as text, or the bytes of a bitmap. */
export type Picture = string | Buffer;

/** A cover is 3:4, every other picture square. */
export type Shape = 'cover' | 'square';

const viewBoxes = { cover: '0 0 600 800', square: '0 0 600 600' };
const MAX_SVG_BYTES = 100_000;
const svgNamespace = 'http://www.w3.org/2000/svg';

const MAX_BITMAP_BYTES = 300_000;
const minWidth = { cover: 480, square: 160 };
const MAX_WIDTH = 2_400;

/** Returns width and height of a WebP from the header of its first chunk; null for anything else. */
function webpSize(bytes: Buffer): [number, number] | null {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return null;
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') return [1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3)];
  if (kind === 'VP8 ') return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  const sizeBits = bytes.readUInt32LE(21);
  return kind === 'VP8L' ? [1 + (sizeBits & 0x3fff), 1 + ((sizeBits >>> 14) & 0x3fff)] : null;
}

/** Returns width and height of a JPEG from its first frame header; null for anything else. */
function jpegSize(bytes: Buffer): [number, number] | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
  }
  return null;
}

/** Returns why a bitmap is refused, with the remedy, or null. */
export function bitmapProblem(bytes: Buffer, format: 'webp' | 'jpg', shape: Shape): string | null {
  const size = format === 'webp' ? webpSize(bytes) : jpegSize(bytes);
  if (!size) return `is no whole ${format === 'webp' ? 'WebP' : 'JPEG'}; save it again in the format of its name`;
  const [width, height] = size;
  const expectedShape = shape === 'cover' ? '3:4, such as 900×1200' : 'a square, such as 480×480';
  const ratio = shape === 'cover' ? 3 / 4 : 1;
  if (height === 0 || Math.abs(width / height / ratio - 1) > 0.01)
    return `is ${width}×${height}, another shape; crop it to ${expectedShape}`;
  if (width < minWidth[shape]) return `is ${width} wide; save it at ${minWidth[shape]} or wider`;
  if (width > MAX_WIDTH) return `is ${width} wide; save it at ${MAX_WIDTH} or narrower`;
  return bytes.length > MAX_BITMAP_BYTES
    ? `is larger than ${MAX_BITMAP_BYTES / 1000} kB; save it smaller, or with a lower quality`
    : null;
}

const drawingElements = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan
   linearGradient radialGradient stop pattern clipPath mask marker filter`.split(/\s+/),
);
const isFilterStep = (element: string): boolean => /^fe[A-Z]\w+$/.test(element) && element !== 'feImage';

/** A comment, an end tag, a start tag, or text. */
const token =
  /<!--[\s\S]*?-->|<\/([\w:-]+)\s*>|<([A-Za-z][\w:-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+/y;

/**
 * Returns why an SVG is refused, with the remedy, or null. Only listed elements are allowed, and nothing external:
 * no script, handler, style sheet or link, and no URL except `#id`.
 */
export function pictureProblem(svg: string, shape: Shape): string | null {
  if (Buffer.byteLength(svg) > MAX_SVG_BYTES) return `is larger than ${MAX_SVG_BYTES / 1000} kB; simplify its paths`;
  const text = svg.replace(/^\uFEFF?(<\?xml [^<>]*\?>)?\s*/, '');
  const entity = /&(?!(?:amp|lt|gt|quot|apos);).{0,9}/.exec(text)?.[0];
  if (entity) return `has "${entity}"; write the character itself, or &amp;`;
  const openElements: string[] = [];
  let root: Map<string, string> | undefined;
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) return `is no plain SVG at ${JSON.stringify(text.slice(at, at + 30))}; save it as plain SVG`;
    const [, endTag, element, attributeText = '', empty] = match;
    if (endTag && openElements.pop() !== endTag) return `has a </${endTag}> that closes nothing; save it as plain SVG`;
    if (!element) continue;
    if (!drawingElements.has(element) && !isFilterStep(element)) return `has <${element}>; remove it`;
    // fast path for thousands of strokes: parsing their attributes would take most of the time
    const problem = /\bon|href|style|url\(|\\/i.test(attributeText) ? attributesProblem(attributeText) : null;
    if (problem) return problem;
    if (openElements.length === 0 && (root || element !== 'svg'))
      return 'is more than one <svg>; leave the first one only';
    root ??= attributesOf(attributeText);
    if (!empty) openElements.push(element);
  }
  if (!root || openElements.length > 0) return 'is not a whole <svg>; save it again';
  if (root.get('xmlns') !== svgNamespace) return `has no xmlns="${svgNamespace}" on <svg>; add it`;
  return hasShape(root, shape) ? null : `has another shape; give <svg> the viewBox="${viewBoxes[shape]}"`;
}

const attributesOf = (attributeText: string): Map<string, string> =>
  new Map(
    [...attributeText.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(
      ([, name = '', double, single = '']) => [name, double ?? single],
    ),
  );

function attributesProblem(attributeText: string): string | null {
  for (const [name, value] of attributesOf(attributeText)) {
    if (/^on/i.test(name)) return `has a handler ${name}; remove it`;
    if (/(^|:)href$/i.test(name) && !/^#[\w-]+$/.test(value)) return `refers to "${value}"; use #id of the same file`;
    const rest = value.replace(/url\(#[\w-]+\)|\b(?:rgb|hsl)a?\([^()]*\)/g, '');
    const externalPattern = name === 'style' ? /[\\(@]/ : /\\|url\(/i;
    if (externalPattern.test(rest)) return `has ${name}="${value}"; use url(#id) of the same file, or remove it`;
  }
  return null;
}

function hasShape(attributes: Map<string, string>, shape: Shape): boolean {
  const [, , width = 0, height = 0] = (attributes.get('viewBox') ?? '').split(/[\s,]+/).map(Number);
  return width > 0 && (shape === 'cover' ? width * 4 === height * 3 : width === height);
}

/** Returns the colour, `#rrggbb`, of the first rectangle that covers the whole picture; undefined without one. */
export function groundColor(svg: string): string | undefined {
  const [, , width, height] = (attributesOf(/<svg[^>]*>/.exec(svg)?.[0] ?? '').get('viewBox') ?? '').split(/[\s,]+/);
  for (const [rectTag] of svg.matchAll(/<rect[^>]*>/g)) {
    const rect = attributesOf(rectTag);
    const isWhole = rect.get('width') === width && rect.get('height') === height && !rect.has('x') && !rect.has('y');
    const fill = rect.get('fill') ?? '';
    if (isWhole && /^#[\da-f]{6}$/i.test(fill)) return fill;
  }
  return undefined;
}
