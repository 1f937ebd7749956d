import { at, loop } from './geometry.ts';
import type { Ink } from './ink.ts';

/** Still water: broken level lines. */
export function water(ink: Ink, y: number, rows: number, color: string, opacity = 0.4): string {
  return ink.repeat(rows * 3, (index) => {
    const row = Math.floor(index / 3);
    const left = ink.between(-20, 520);
    const level = y + row * 18 + ink.between(-5, 5);
    const length = ink.between(50, 190) * (1 + row * 0.08);
    return ink.brush(
      [at(left, level), at(left + length / 2, level + ink.between(-3, 3)), at(left + length, level)],
      ink.between(1.5, 4),
      color,
      opacity,
    );
  });
}

/** Waves in scales, one row above the other. */
export function waves(ink: Ink, y: number, rows: number, size: number, color: string, rim: string): string {
  const half = size / 2;
  return ink.repeat(rows, (row) => {
    const level = Math.round(y + row * size * 0.62);
    const centres = Array.from(
      { length: Math.ceil(600 / size) + 2 },
      (_, column) => (column - 0.5) * size + (row % 2 ? half : 0),
    );
    const arc = (x: number, r: number) => `M${x - r} ${level}a${r} ${r} 0 0 1 ${r * 2} 0`;
    const arcs = [1, 0.72, 0.44].map((ring) =>
      ink.line(centres.map((x) => arc(x, Math.round(half * ring))).join(''), rim, 2, 0.55 * ring + 0.1),
    );
    return ink.fill(centres.map((x) => `${arc(x, half)}Z`).join(''), color) + arcs.join('');
  });
}

/** A cloud of the kind carved on lintels: flat below, curling above. */
export function cloud(x: number, y: number, size: number, color: string, opacity = 0.9): string {
  const puffs = [
    [-0.9, 0.2, 0.32],
    [-0.45, -0.05, 0.44],
    [0.1, -0.2, 0.5],
    [0.62, 0.02, 0.4],
    [1.02, 0.24, 0.28],
  ];
  const round = puffs
    .map(([dx = 0, dy = 0, r = 0]) => `<circle cx="${x + dx * size}" cy="${y + dy * size}" r="${r * size}"/>`)
    .join('');
  const base = `<rect x="${x - size * 1.2}" y="${y}" width="${size * 2.5}" height="${size * 0.52}" rx="${size * 0.26}"/>`;
  return `<g fill="${color}" fill-opacity="${opacity}">${round}${base}</g>`;
}

/** Slanting rain. */
export const rain = (ink: Ink, count: number, color: string): string =>
  ink.repeat(count, () => {
    const x = ink.between(-40, 600);
    const y = ink.between(0, 760);
    const length = ink.between(24, 70);
    return ink.line(
      `M${x.toFixed(0)} ${y.toFixed(0)}l${(length * 0.22).toFixed(0)} ${length.toFixed(0)}`,
      color,
      1.2,
      0.3,
    );
  });

/** Petals on the wind. */
export const petals = (
  ink: Ink,
  count: number,
  color: string,
  area: { left: number; top: number; right: number; bottom: number },
): string =>
  ink.repeat(count, () => {
    const x = ink.between(area.left, area.right);
    const y = ink.between(area.top, area.bottom);
    const size = ink.between(5, 11);
    return ink.fill(
      loop([at(x, y), at(x + size, y - size * 0.7), at(x + size * 1.9, y), at(x + size, y + size * 0.5)]),
      color,
      ink.between(0.5, 0.95),
    );
  });

/** A scholar's stone: tall, pierced, wrinkled. */
export function rock(ink: Ink, x: number, y: number, width: number, height: number, color: string): string {
  const outline = [
    at(x - width * 0.3, y),
    at(x - width * 0.5, y - height * 0.2),
    at(x - width * 0.26, y - height * 0.42),
    at(x - width * 0.46, y - height * 0.7),
    at(x - width * 0.1, y - height),
    at(x + width * 0.2, y - height * 0.9),
    at(x + width * 0.28, y - height * 0.62),
    at(x + width * 0.5, y - height * 0.5),
    at(x + width * 0.3, y - height * 0.26),
    at(x + width * 0.42, y),
  ];
  const wrinkles = ink.repeat(9, () => {
    const from = at(x + ink.between(-0.3, 0.26) * width, y - ink.between(0.1, 0.85) * height);
    return ink.brush(
      [
        from,
        at(from.x + ink.between(-18, 18), from.y + 22),
        at(from.x + ink.between(-26, 26), from.y + ink.between(40, 72)),
      ],
      4,
      ink.tones.light,
      0.3,
    );
  });
  return ink.fill(loop(outline), color, 0.92) + wrinkles;
}
