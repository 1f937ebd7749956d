import { at, loop, polygon } from './geometry.ts';
import { even, type Ink, tapered } from './ink.ts';
import { thread } from './things.ts';

/** Someone in a long robe, seen from behind. */
export function figure(
  ink: Ink,
  x: number,
  y: number,
  height: number,
  robe: string,
  hair: string,
  sash = ink.tones.accent,
): string {
  const h = height;
  const body = loop([
    at(x - h * 0.07, y - h * 0.78),
    at(x - h * 0.17, y - h * 0.6),
    at(x - h * 0.15, y - h * 0.4),
    at(x - h * 0.24, y - h * 0.04),
    at(x, y + h * 0.02),
    at(x + h * 0.26, y - h * 0.03),
    at(x + h * 0.15, y - h * 0.4),
    at(x + h * 0.17, y - h * 0.6),
    at(x + h * 0.07, y - h * 0.78),
  ]);
  const sleeves = [-1, 1]
    .map((side) =>
      ink.brush(
        [
          at(x + side * h * 0.13, y - h * 0.68),
          at(x + side * h * 0.25, y - h * 0.46),
          at(x + side * h * 0.2, y - h * 0.26),
        ],
        h * 0.15,
        robe,
        0.96,
        (t) => 0.5 + t * 0.6,
      ),
    )
    .join('');
  const head = `<ellipse cx="${x}" cy="${y - h * 0.87}" rx="${h * 0.075}" ry="${h * 0.095}" fill="${hair}"/><circle cx="${x + h * 0.015}" cy="${y - h * 0.985}" r="${h * 0.05}" fill="${hair}"/>`;
  const fall = ink.brush(
    [at(x, y - h * 0.84), at(x + h * 0.02, y - h * 0.66), at(x - h * 0.01, y - h * 0.5)],
    h * 0.1,
    hair,
    0.96,
    tapered,
  );
  const belt = ink.brush(
    [at(x - h * 0.14, y - h * 0.5), at(x, y - h * 0.48), at(x + h * 0.14, y - h * 0.5)],
    h * 0.035,
    sash,
    0.95,
    even,
  );
  return sleeves + ink.fill(body, robe, 0.97) + belt + fall + head;
}

/** A sitting fox, its tail around it. */
export function fox(ink: Ink, x: number, y: number, size: number, color: string, tip: string): string {
  const s = size;
  const tail = ink.brush(
    [
      at(x + s * 0.2, y - s * 0.06),
      at(x + s * 0.72, y + s * 0.02),
      at(x + s * 0.98, y - s * 0.36),
      at(x + s * 0.74, y - s * 0.78),
    ],
    s * 0.36,
    color,
    1,
    (t) => 0.35 + Math.sin(t * 2.7) * 0.75,
  );
  const tailTip = ink.brush(
    [at(x + s * 0.93, y - s * 0.52), at(x + s * 0.86, y - s * 0.68), at(x + s * 0.74, y - s * 0.8)],
    s * 0.17,
    tip,
    0.95,
    tapered,
  );
  const body = loop([
    at(x - s * 0.3, y),
    at(x - s * 0.27, y - s * 0.4),
    at(x - s * 0.13, y - s * 0.78),
    at(x + s * 0.08, y - s * 0.8),
    at(x + s * 0.3, y - s * 0.42),
    at(x + s * 0.38, y - s * 0.06),
    at(x + s * 0.2, y + s * 0.03),
  ]);
  const head = polygon([
    at(x - s * 0.52, y - s * 0.86),
    at(x - s * 0.24, y - s * 1.02),
    at(x - s * 0.22, y - s * 1.36),
    at(x - s * 0.05, y - s * 1.12),
    at(x + s * 0.08, y - s * 1.11),
    at(x + s * 0.24, y - s * 1.34),
    at(x + s * 0.23, y - s * 0.94),
    at(x + s * 0.06, y - s * 0.7),
    at(x - s * 0.24, y - s * 0.72),
  ]);
  const chest = ink.brush(
    [at(x - s * 0.16, y - s * 0.66), at(x - s * 0.19, y - s * 0.42), at(x - s * 0.16, y - s * 0.16)],
    s * 0.15,
    tip,
    0.6,
  );
  const eye = ink.line(`M${x - s * 0.2} ${y - s * 0.93}l${s * 0.11} ${-s * 0.045}`, tip, s * 0.028);
  return tail + tailTip + ink.fill(body, color) + ink.fill(head, color) + chest + eye;
}

/** A bird on the wing. */
export const bird = (ink: Ink, x: number, y: number, size: number, color: string): string =>
  ink.brush([at(x - size, y - size * 0.3), at(x - size * 0.45, y - size * 0.42), at(x, y)], size * 0.3, color, 0.95) +
  ink.brush([at(x + size, y - size * 0.5), at(x + size * 0.42, y - size * 0.48), at(x, y)], size * 0.3, color, 0.95) +
  ink.brush(
    [at(x - size * 0.22, y + size * 0.2), at(x, y), at(x + size * 0.28, y - size * 0.06)],
    size * 0.26,
    color,
    0.95,
  );

/** A cricket, in the middle of a sheet 600 wide and 800 high. */
export function cricket(ink: Ink, color: string, wing: string, eye: string): string {
  const leg = (points: [number, number][], width: number) =>
    ink.brush(
      points.map(([x, y]) => at(x, y)),
      width,
      color,
      1,
      even,
    );
  const body = loop([
    at(180, 590),
    at(230, 540),
    at(330, 520),
    at(420, 530),
    at(450, 560),
    at(420, 592),
    at(320, 604),
    at(220, 610),
  ]);
  return (
    ink.fill(body, color) +
    ink.fill(loop([at(236, 556), at(330, 526), at(400, 540), at(330, 566)]), wing, 0.85) +
    `<circle cx="452" cy="552" r="36" fill="${color}"/><circle cx="466" cy="542" r="6" fill="${eye}"/>` +
    leg(
      [
        [320, 580],
        [250, 450],
        [180, 660],
        [150, 668],
      ],
      15,
    ) +
    leg(
      [
        [390, 590],
        [420, 650],
        [466, 668],
      ],
      8,
    ) +
    leg(
      [
        [350, 596],
        [360, 660],
        [328, 690],
      ],
      8,
    ) +
    thread(ink, [at(470, 524), at(520, 420), at(470, 330), at(380, 300)], color, 3.5) +
    thread(ink, [at(478, 530), at(560, 460), at(566, 360)], color, 3.5) +
    thread(ink, [at(184, 594), at(130, 590), at(90, 610)], color, 4)
  );
}
