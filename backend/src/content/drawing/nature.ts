import { at, curve, loop, type Point } from './geometry.ts';
import { even, type Ink, tapered } from './ink.ts';

/** Blades of grass along a line. */
export function grass(
  ink: Ink,
  x: number,
  y: number,
  spread: number,
  height: number,
  count: number,
  color: string,
): string {
  return ink.repeat(count, () => {
    const foot = at(x + ink.between(-spread, spread), y + ink.between(-4, 8));
    const lean = ink.between(-0.6, 0.9) * height * 0.5;
    const tall = height * ink.between(0.5, 1);
    const points = [foot, at(foot.x + lean * 0.3, foot.y - tall * 0.6), at(foot.x + lean, foot.y - tall)];
    return ink.brush(points, ink.between(2.5, 6), color, ink.between(0.5, 0.95), tapered);
  });
}

export interface Branch {
  svg: string;
  tips: Point[];
}

/** A branch that forks; `angle` in degrees, 0 = to the right, 90 = up. */
export function branch(
  ink: Ink,
  from: Point,
  angle: number,
  length: number,
  width: number,
  color: string,
  depth = 3,
): Branch {
  const radians = (angle * Math.PI) / 180;
  const bend = ink.between(-0.16, 0.16) * length;
  const end = at(from.x + Math.cos(radians) * length, from.y - Math.sin(radians) * length);
  const middle = at((from.x + end.x) / 2 + Math.sin(radians) * bend, (from.y + end.y) / 2 + Math.cos(radians) * bend);
  const stroke = ink.brush([from, middle, end], width, color, 0.95, (progress) => 1 - progress * 0.45);
  if (depth === 0) return { svg: stroke, tips: [end, middle] };
  const forks = [ink.between(16, 38), -ink.between(16, 38)].map((turn, index) =>
    branch(ink, index ? end : middle, angle + turn, length * ink.between(0.58, 0.76), width * 0.56, color, depth - 1),
  );
  const onwards = branch(ink, end, angle + ink.between(-14, 14), length * 0.7, width * 0.6, color, depth - 1);
  const all = [...forks, onwards];
  return { svg: stroke + all.map((part) => part.svg).join(''), tips: all.flatMap((part) => part.tips) };
}

/** A five-petalled blossom. */
export function blossom(ink: Ink, { x, y }: Point, r: number, color: string, heart: string): string {
  const turn = ink.between(0, 1.2);
  const round = (px: number, py: number, radius: number) =>
    `<circle cx="${px.toFixed(0)}" cy="${py.toFixed(0)}" r="${radius.toFixed(0)}"/>`;
  const petals = ink.repeat(5, (index) => {
    const angle = turn + (index / 5) * Math.PI * 2;
    return round(x + Math.cos(angle) * r * 0.6, y + Math.sin(angle) * r * 0.6, r * 0.56);
  });
  return `<g fill="${color}" fill-opacity=".88">${petals}</g><g fill="${heart}">${round(x, y, r * 0.22)}</g>`;
}

/** A full flower out of rings of petals: peony with few wide ones, chrysanthemum with many narrow ones. */
export function rosette(
  ink: Ink,
  { x, y }: Point,
  r: number,
  petals: number,
  slender: number,
  color: string,
  deep: string,
): string {
  const rings = [1, 0.78, 0.56, 0.36];
  return rings
    .map((ring, depth) =>
      ink.repeat(Math.max(5, Math.round(petals * (1 - depth * 0.16))), (index) => {
        const angle = (index / petals) * Math.PI * 2 * (1 + depth * 0.19) + ink.between(-0.12, 0.12) + depth;
        const reach = r * ring * ink.between(0.88, 1.08);
        const side = reach * slender;
        const tip = at(x + Math.cos(angle) * reach, y + Math.sin(angle) * reach * 0.92);
        const way = (turn: number, far: number) =>
          at(x + Math.cos(angle + turn) * far, y + Math.sin(angle + turn) * far * 0.92);
        const outline = loop([at(x, y), way(-side / reach, reach * 0.62), tip, way(side / reach, reach * 0.62)]);
        return ink.fill(outline, index % 3 === 0 ? deep : color, 0.5 + depth * 0.1);
      }),
    )
    .join('');
}

/** A leaf along a line, with its vein. */
export function leaf(ink: Ink, from: Point, to: Point, width: number, color: string, vein: string): string {
  const middle = at((from.x + to.x) / 2, (from.y + to.y) / 2);
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const off = at((-(to.y - from.y) / length) * width, ((to.x - from.x) / length) * width);
  const outline = loop([from, at(middle.x + off.x, middle.y + off.y), to, at(middle.x - off.x, middle.y - off.y)]);
  return ink.fill(outline, color, 0.85) + ink.line(curve([from, middle, to]), vein, 1.6, 0.5);
}

/** A lotus leaf seen from the side, on its stem. */
export function lotusLeaf(ink: Ink, x: number, y: number, r: number, stem: number, color: string): string {
  const rim = ink.between(0.26, 0.4) * r;
  const plate = ink.blot(x, y, r, rim, color, 0.9, 2);
  const veins = ink.repeat(7, (index) => {
    const side = (index - 3) / 3;
    return ink.line(
      `M${x} ${y}Q${x + side * r * 0.5} ${y - rim * 0.3} ${x + side * r * 0.92} ${y + rim * (0.2 - Math.abs(side) * 0.3)}`,
      ink.tones.light,
      1.4,
      0.35,
    );
  });
  return (
    ink.brush(
      [at(x, y), at(x + ink.between(-14, 14), y + stem * 0.5), at(x + ink.between(-10, 10), y + stem)],
      6,
      color,
      0.9,
      even,
    ) +
    plate +
    veins
  );
}

/** A lotus flower, half open. */
export function lotus(ink: Ink, x: number, y: number, r: number, color: string, deep: string): string {
  const petal = (angle: number, reach: number, tone: string, opacity: number) => {
    const tip = at(x + Math.sin(angle) * reach, y - Math.cos(angle) * reach);
    const side = (turn: number) =>
      at(x + Math.sin(angle + turn) * reach * 0.62, y - Math.cos(angle + turn) * reach * 0.62);
    return ink.fill(loop([at(x, y), side(-0.4), tip, side(0.4)]), tone, opacity);
  };
  const back = [-1.15, 1.15, -0.62, 0.62].map((angle) => petal(angle, r * 1.02, deep, 0.75)).join('');
  const front = [-0.9, 0.9, -0.32, 0.32, 0].map((angle) => petal(angle, r * 0.9, color, 0.92)).join('');
  return back + front;
}

/** Stalks of bamboo with leaves. */
export function bamboo(ink: Ink, x: number, top: number, bottom: number, color: string): string {
  const joints = 5;
  const segment = (bottom - top) / joints;
  const lean = ink.between(-14, 14);
  const stalk = ink.repeat(joints, (index) => {
    const y = top + index * segment;
    const shift = lean * (1 - index / joints);
    return ink.brush([at(x + shift, y + 4), at(x + shift * 0.8, y + segment - 4)], 13, color, 0.8, even);
  });
  const leaves = ink.repeat(11, (index) => {
    const y = top + (index % joints) * segment + ink.between(-10, 20);
    const side = index % 2 ? 1 : -1;
    const from = at(x + lean * 0.6, y);
    const to = at(from.x + side * ink.between(50, 90), y + ink.between(20, 60));
    return ink.brush([from, at((from.x + to.x) / 2, (y + to.y) / 2 - 7), to], 15, color, ink.between(0.6, 0.9));
  });
  return stalk + leaves;
}
