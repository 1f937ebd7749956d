import { at, curve, type Point } from './geometry.ts';
import { even, type Ink } from './ink.ts';

/** A roof with upturned eaves; `y` is its ridge. */
export function roof(ink: Ink, x: number, y: number, width: number, color: string): string {
  const half = width / 2;
  const height = width * 0.3;
  const outline = `M${x - half * 0.42} ${y}Q${x - half * 0.5} ${y + height * 0.8} ${x - half * 1.12} ${y + height * 0.72}Q${x - half * 0.9} ${y + height * 1.05} ${x - half * 0.8} ${y + height}L${x + half * 0.8} ${y + height}Q${x + half * 0.9} ${y + height * 1.05} ${x + half * 1.12} ${y + height * 0.72}Q${x + half * 0.5} ${y + height * 0.8} ${x + half * 0.42} ${y}Z`;
  const tiles = ink.repeat(9, (index) => {
    const t = (index - 4) / 4;
    return ink.line(
      `M${x + t * half * 0.38} ${y + 4}Q${x + t * half * 0.5} ${y + height * 0.6} ${x + t * half * 0.82} ${y + height}`,
      ink.tones.light,
      1.2,
      0.28,
    );
  });
  return (
    ink.fill(outline, color) + tiles + ink.brush([at(x - half * 0.5, y), at(x + half * 0.5, y)], 9, color, 1, even)
  );
}

/** A hall: roof, pillars and a lit door. */
export function hall(ink: Ink, x: number, y: number, width: number, color: string, lit: string): string {
  const top = y + width * 0.3;
  const height = width * 0.4;
  const body = `<rect x="${x - width * 0.38}" y="${top}" width="${width * 0.76}" height="${height}" fill="${color}" fill-opacity=".82"/>`;
  const door = `<rect x="${x - width * 0.09}" y="${top + height * 0.24}" width="${width * 0.18}" height="${height * 0.76}" fill="${lit}"/>`;
  const windows = [-0.25, 0.25]
    .map(
      (dx) =>
        `<rect x="${x + dx * width - width * 0.06}" y="${top + height * 0.28}" width="${width * 0.12}" height="${height * 0.36}" fill="${lit}" fill-opacity=".7"/>`,
    )
    .join('');
  return body + door + windows + roof(ink, x, y, width, color);
}

/** A tower of halls. */
export const tower = (
  ink: Ink,
  x: number,
  y: number,
  width: number,
  storeys: number,
  color: string,
  lit: string,
): string =>
  ink.repeat(storeys, (index) => hall(ink, x, y + index * width * 0.46, width * (0.62 + index * 0.19), color, lit));

/** A paper lantern with its glow. */
export function lantern(ink: Ink, x: number, y: number, size: number, color: string): string {
  const ribs = [-0.5, 0, 0.5]
    .map((t) =>
      ink.line(
        `M${x + t * size * 0.5} ${y - size * 0.52}Q${x + t * size * 1.3} ${y} ${x + t * size * 0.5} ${y + size * 0.52}`,
        ink.tones.ink,
        1.4,
        0.35,
      ),
    )
    .join('');
  const caps = [-1, 1]
    .map(
      (side) =>
        `<rect x="${x - size * 0.3}" y="${y + side * size * 0.56 - 4}" width="${size * 0.6}" height="8" fill="${ink.tones.ink}"/>`,
    )
    .join('');
  const tassel = ink.line(`M${x} ${y + size * 0.6}v${size * 0.55}`, color, 3, 0.9);
  return `<circle cx="${x}" cy="${y}" r="${size * 2.1}" fill="${ink.glow(color, 0.5)}"/><ellipse cx="${x}" cy="${y}" rx="${size * 0.62}" ry="${size * 0.56}" fill="${color}"/>${ribs}${caps}${tassel}`;
}

/** A small boat with an awning, its reflection below. */
export function boat(ink: Ink, x: number, y: number, size: number, color: string): string {
  const hull = `M${x - size} ${y - size * 0.12}Q${x} ${y + size * 0.34} ${x + size * 1.05} ${y - size * 0.2}Q${x + size * 0.6} ${y + size * 0.2} ${x} ${y + size * 0.22}Q${x - size * 0.7} ${y + size * 0.2} ${x - size} ${y - size * 0.12}Z`;
  const awning = `M${x - size * 0.42} ${y + size * 0.06}Q${x - size * 0.4} ${y - size * 0.46} ${x} ${y - size * 0.46}Q${x + size * 0.4} ${y - size * 0.46} ${x + size * 0.42} ${y + size * 0.04}Z`;
  return (
    ink.fill(hull, color) +
    ink.fill(awning, color, 0.78) +
    ink.brush(
      [at(x - size * 0.8, y + size * 0.42), at(x, y + size * 0.48), at(x + size * 0.8, y + size * 0.42)],
      7,
      color,
      0.25,
    )
  );
}

/** Flames licking upwards. */
export const flames = (ink: Ink, y: number, height: number, color: string, heart: string): string =>
  ink.repeat(13, (index) => {
    const x = index * 50 + ink.between(-14, 14);
    const tall = height * ink.between(0.5, 1);
    const tongue = (w: number, t: number, tone: string, opacity: number) =>
      ink.fill(
        `M${x - w} ${y}Q${x - w} ${y - t * 0.45} ${x - w * 0.1} ${y - t}Q${x + w * 0.1} ${y - t * 0.55} ${x + w} ${y}Z`,
        tone,
        opacity,
      );
    return tongue(40, tall, color, 0.55) + tongue(20, tall * 0.58, heart, 0.7);
  });

/** A thread or rope through points. */
export const thread = (ink: Ink, points: Point[], color: string, width: number): string =>
  ink.line(curve(points), color, width, 0.9);
