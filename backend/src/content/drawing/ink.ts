import { Draw } from '../../ai/draw.ts';
import { along, at, dab, loop, type Point, polygon, strokeOutline } from './geometry.ts';
import type { Palette } from './palettes.ts';

export const sheet = { width: 600, height: 800 };

/** A brush over one sheet: seeded, so that the same name always gives the same picture. Everything returns SVG. */
export class Ink {
  readonly tones: Palette;
  readonly #draw: Draw;
  readonly #definitions: string[] = [];

  constructor(seed: string, tones: Palette) {
    this.#draw = new Draw(seed);
    this.tones = tones;
  }

  get definitions(): string {
    return this.#definitions.join('');
  }

  /** A number between two bounds. */
  between(low: number, high: number): number {
    return low + this.#draw.fraction() * (high - low);
  }

  /** Numbers 0 … count-1, mapped and joined. */
  repeat(count: number, draw: (index: number) => string): string {
    return Array.from({ length: count }, (_, index) => draw(index)).join('');
  }

  /** A reference to a top-down gradient of one tone. */
  fade(color: string, from: number, to: number): string {
    return this.#define(
      (id) =>
        `<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${color}" stop-opacity="${from}"/><stop offset="1" stop-color="${color}" stop-opacity="${to}"/></linearGradient>`,
    );
  }

  /** A reference to a glow: one tone, thinning out from the middle. */
  glow(color: string, opacity: number): string {
    return this.#define(
      (id) =>
        `<radialGradient id="${id}"><stop offset="0" stop-color="${color}" stop-opacity="${opacity}"/><stop offset=".55" stop-color="${color}" stop-opacity="${opacity * 0.45}"/><stop offset="1" stop-color="${color}" stop-opacity="0"/></radialGradient>`,
    );
  }

  /** A filled outline. */
  fill(path: string, color: string, opacity = 1): string {
    return `<path d="${path}" fill="${color}"${opacity < 1 ? ` fill-opacity="${Math.round(opacity * 100) / 100}"` : ''}/>`;
  }

  /** A thin line of even width. */
  line(path: string, color: string, width: number, opacity = 1): string {
    return `<path d="${path}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round" stroke-opacity="${opacity}"/>`;
  }

  /** One stroke of the brush: set down, pressed, lifted. A short one is drawn with two curves, since pictures hold hundreds. */
  brush(
    points: Point[],
    width: number,
    color: string,
    opacity = 1,
    pressure: (progress: number) => number = pressed,
  ): string {
    const [from, middle, to] = points;
    const widthAt = (progress: number) => width * pressure(progress) * this.between(0.86, 1.1);
    if (points.length === 3 && from && middle && to) return this.fill(dab(from, middle, to, widthAt), color, opacity);
    const way = along(points, Math.max(6, points.length * 3));
    return this.fill(strokeOutline(way, widthAt), color, opacity);
  }

  /** An irregular wet spot, darker where its layers meet. */
  blot(x: number, y: number, rx: number, ry: number, color: string, opacity = 0.5, layers = 3): string {
    return this.repeat(layers, () => {
      const points = Array.from({ length: 10 }, (_, index) => {
        const angle = (index / 10) * Math.PI * 2;
        const reach = this.between(0.78, 1.12);
        return at(x + Math.cos(angle) * rx * reach, y + Math.sin(angle) * ry * reach);
      });
      return this.fill(loop(points), color, opacity / layers + 0.06);
    });
  }

  /** A round moon or sun with a halo. */
  disc(x: number, y: number, r: number, color: string, halo = 0.5): string {
    return `<circle cx="${x}" cy="${y}" r="${r * 2.3}" fill="${this.glow(color, halo)}"/><circle cx="${x}" cy="${y}" r="${r}" fill="${color}"/>`;
  }

  /** A range of hills from edge to edge that dissolves into mist at its foot. */
  ridge(y: number, height: number, color: string, opacity = 0.8, peaks = 3): string {
    const phase = this.between(0, 6);
    const steps = 44;
    const points = Array.from({ length: steps + 1 }, (_, index) => {
      const t = index / steps;
      const swell =
        Math.sin(t * Math.PI * peaks + phase) * 0.5 + Math.sin(t * Math.PI * peaks * 2.3 + phase * 2) * 0.25;
      return at(t * sheet.width, y - height * (0.5 + swell * 0.6) + this.between(-height, height) * 0.035);
    });
    const foot = y + height * 0.9;
    const outline = polygon([at(0, foot), ...points, at(sheet.width, foot)]);
    return this.fill(outline, this.fade(color, opacity, 0));
  }

  /** A band of mist. */
  mist(y: number, height: number, opacity = 0.75): string {
    const half = height / 2;
    const color = this.tones.light;
    return `<rect x="0" y="${y - half}" width="600" height="${half}" fill="${this.fade(color, 0, opacity)}"/><rect x="0" y="${y}" width="600" height="${half}" fill="${this.fade(color, opacity, 0)}"/>`;
  }

  /** Drops flung from the brush. */
  splatter(x: number, y: number, reach: number, count: number, color: string, size = 4): string {
    return this.repeat(count, () => {
      const cx = Math.round(x + this.between(-reach, reach));
      const cy = Math.round(y + this.between(-reach, reach));
      return `<circle cx="${cx}" cy="${cy}" r="${this.between(0.6, size).toFixed(1)}" fill="${color}" fill-opacity=".7"/>`;
    });
  }

  #define(write: (id: string) => string): string {
    const id = `g${this.#definitions.length}`;
    this.#definitions.push(write(id));
    return `url(#${id})`;
  }
}

/** Thin, thick, thin. */
export const pressed = (progress: number): number => 0.18 + Math.sin(progress * Math.PI) ** 0.8 * 0.82;

/** Thick at the start, a point at the end. */
export const tapered = (progress: number): number => 1 - progress * 0.94;

/** The same all along, a little rounded. */
export const even = (progress: number): number => (progress < 0.04 || progress > 0.96 ? 0.7 : 1);
