export interface Point {
  x: number;
  y: number;
}

export const at = (x: number, y: number): Point => ({ x, y });

const short = (value: number): string => String(Math.round(value * 10) / 10);

export const pair = ({ x, y }: Point): string => `${short(x)} ${short(y)}`;

/** A closed outline through the points, with straight edges. */
export const polygon = (points: Point[]): string => `M${points.map(pair).join('L')}Z`;

/** A smooth line through the points (Catmull-Rom, as cubic curves). */
export function curve(points: Point[]): string {
  const [start] = points;
  if (!start) return '';
  let path = `M${pair(start)}`;
  for (let index = 0; index < points.length - 1; index += 1) {
    const here = points[index] ?? start;
    const next = points[index + 1] ?? here;
    const before = points[index - 1] ?? here;
    const after = points[index + 2] ?? next;
    const first = at(here.x + (next.x - before.x) / 6, here.y + (next.y - before.y) / 6);
    const second = at(next.x - (after.x - here.x) / 6, next.y - (after.y - here.y) / 6);
    path += `C${pair(first)} ${pair(second)} ${pair(next)}`;
  }
  return path;
}

/** A smooth closed outline through the points. */
export function loop(points: Point[]): string {
  const [start] = points;
  return start ? `${curve([...points, start])}Z` : '';
}

/** The outline of a brush stroke: a line given a width that swells and thins out. */
export function strokeOutline(points: Point[], widthAt: (progress: number) => number): string {
  const left: Point[] = [];
  const right: Point[] = [];
  for (const [index, point] of points.entries()) {
    const before = points[Math.max(0, index - 1)] ?? point;
    const after = points[Math.min(points.length - 1, index + 1)] ?? point;
    const length = Math.hypot(after.x - before.x, after.y - before.y) || 1;
    const half = widthAt(index / Math.max(1, points.length - 1)) / 2;
    const normal = at((-(after.y - before.y) / length) * half, ((after.x - before.x) / length) * half);
    left.push(at(point.x + normal.x, point.y + normal.y));
    right.push(at(point.x - normal.x, point.y - normal.y));
  }
  return `${curve([...left, ...right.reverse()])}Z`;
}

/** The outline of a short stroke through three points, bent at the middle one. */
export function dab(from: Point, middle: Point, to: Point, widthAt: (progress: number) => number): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const across = at(-(to.y - from.y) / length / 2, (to.x - from.x) / length / 2);
  const bend = at(2 * middle.x - (from.x + to.x) / 2, 2 * middle.y - (from.y + to.y) / 2);
  const side = (point: Point, width: number) => pair(at(point.x + across.x * width, point.y + across.y * width));
  const [w0, w1, w2] = [widthAt(0), widthAt(0.5) * 1.5, widthAt(1)];
  return `M${side(from, w0)}Q${side(bend, w1)} ${side(to, w2)}L${side(to, -w2)}Q${side(bend, -w1)} ${side(from, -w0)}Z`;
}

/** Points along a smooth way through the given ones, so that a stroke can swell between them. */
export function along(points: Point[], steps: number): Point[] {
  const last = points.length - 1;
  return Array.from({ length: steps + 1 }, (_, step) => {
    const position = (step / steps) * last;
    const index = Math.min(last - 1, Math.floor(position));
    const t = position - index;
    const [p0, p1, p2, p3] = [index - 1, index, index + 1, index + 2].map(
      (i) => points[Math.max(0, Math.min(last, i))] ?? at(0, 0),
    );
    const mix = (a = 0, b = 0, c = 0, d = 0) =>
      0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t);
    return at(mix(p0?.x, p1?.x, p2?.x, p3?.x), mix(p0?.y, p1?.y, p2?.y, p3?.y));
  });
}
