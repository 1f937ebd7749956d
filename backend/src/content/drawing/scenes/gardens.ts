import { figure } from '../creatures.ts';
import { at } from '../geometry.ts';
import { even } from '../ink.ts';
import { bamboo, blossom, grass, leaf, lotus, lotusLeaf } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { hall } from '../things.ts';
import { cloud, petals, water } from '../weather.ts';

/** Pictures of gardens and water plants. */
export const gardenScenes: Record<string, Scene> = {
  'pian-pian': {
    palette: 'celadon',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light } = ink.tones;
      const frond = (x: number, y: number, tx: number, ty: number, width: number, tone: string) => {
        const veins = ink.repeat(12, (n) => {
          const t = (n + 1) / 13;
          const p = at(x + (tx - x) * t, y + (ty - y) * t);
          return ink.line(
            `M${p.x.toFixed(0)} ${p.y.toFixed(0)}l${((tx - x) * 0.07 - (ty - y) * 0.12).toFixed(0)} ${((ty - y) * 0.07 + (tx - x) * 0.12).toFixed(0)}`,
            light,
            1.6,
            0.4,
          );
        });
        return leaf(ink, at(x, y), at(tx, ty), width, tone, light) + veins;
      };
      return (
        ink.ridge(330, 190, mid, 0.6, 1.6) +
        ink.repeat(9, (n) =>
          ink.brush(
            [at(126 + n * 9, 214 + (n % 3) * 12), at(118 + n * 11, 420), at(108 + n * 13, 640)],
            9,
            light,
            0.8,
            even,
          ),
        ) +
        ink.mist(520, 200, 0.8) +
        cloud(170, 566, 84, light) +
        cloud(420, 640, 100, light) +
        frond(600, 820, 300, 330, 84, '#2f5b4a') +
        frond(560, 860, 180, 520, 66, '#477a62') +
        frond(640, 760, 470, 250, 70, '#3a6a54') +
        figure(ink, 180, 742, 180, light, dark, '#b3392f') +
        water(ink, 760, 3, mid, 0.5)
      );
    },
  },
  'wan-xia': {
    palette: 'jade',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const ribbon = (points: [number, number][], tone: string, width: number) =>
        ink.brush(
          points.map(([x, y]) => at(x, y)),
          width,
          tone,
          0.85,
        );
      return (
        `<path d="M0 0H600V60Q300 140 0 60Z" fill="${mid}" fill-opacity=".35"/>` +
        water(ink, 60, 9, light, 0.16) +
        lotusLeaf(ink, 110, 640, 140, 190, mid) +
        lotusLeaf(ink, 480, 690, 160, 150, dark) +
        lotusLeaf(ink, 300, 772, 150, 80, dark) +
        figure(ink, 268, 650, 290, '#c95a4d', dark, accent) +
        ribbon(
          [
            [206, 470],
            [120, 380],
            [190, 280],
            [100, 190],
          ],
          '#f0b49c',
          20,
        ) +
        ribbon(
          [
            [330, 470],
            [420, 420],
            [392, 320],
            [490, 280],
          ],
          '#f0b49c',
          20,
        ) +
        petals(ink, 30, accent, { left: 40, top: 180, right: 470, bottom: 640 }) +
        lotus(ink, 470, 640, 60, light, '#e7a7a0') +
        lotus(ink, 96, 590, 46, '#f0c3b8', accent)
      );
    },
  },
  'hua-bi': {
    palette: 'ochre',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const wall = ink.repeat(14, () =>
        ink.line(
          `M${ink.between(0, 560).toFixed(0)} ${ink.between(0, 800).toFixed(0)}l${ink.between(-40, 50).toFixed(0)} ${ink.between(20, 80).toFixed(0)}l${ink.between(-30, 30).toFixed(0)} ${ink.between(10, 50).toFixed(0)}`,
          mid,
          1.6,
          0.4,
        ),
      );
      const scarf = (points: [number, number][], tone: string, width: number) =>
        ink.brush(
          points.map(([x, y]) => at(x, y)),
          width,
          tone,
          0.9,
        );
      return (
        wall +
        `<circle cx="380" cy="290" r="116" fill="none" stroke="${accent}" stroke-width="5"/><circle cx="380" cy="290" r="104" fill="${light}" fill-opacity=".5"/>` +
        scarf(
          [
            [330, 420],
            [210, 500],
            [300, 600],
            [150, 720],
          ],
          '#3f7c74',
          30,
        ) +
        scarf(
          [
            [440, 420],
            [540, 500],
            [450, 620],
            [560, 740],
          ],
          accent,
          28,
        ) +
        figure(ink, 384, 560, 330, '#2f6a63', dark, '#e2bb6b') +
        cloud(400, 610, 92, light, 0.85) +
        cloud(250, 680, 70, light, 0.7) +
        [at(250, 330), at(480, 200), at(300, 220), at(500, 380), at(200, 440)]
          .map((p) => blossom(ink, p, 18, accent, '#f6d58a'))
          .join('') +
        petals(ink, 22, accent, { left: 120, top: 120, right: 560, bottom: 560 })
      );
    },
  },
  'jiao-na': {
    palette: 'snow',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const bolt = 'M130 0L190 150L150 158L232 330L196 336L258 470L206 352L240 344L150 190L188 180L96 0Z';
      return (
        ink.blot(210, 90, 300, 150, dark, 0.75, 4) +
        ink.fill(bolt, light) +
        ink.ridge(560, 150, mid, 0.6, 1.8) +
        hall(ink, 400, 470, 170, dark, accent) +
        ink.mist(650, 150, 0.9) +
        bamboo(ink, 540, 430, 820, dark) +
        figure(ink, 220, 728, 210, '#dfe7e6', dark, accent) +
        ink.repeat(
          60,
          () =>
            `<circle cx="${ink.between(0, 600).toFixed(0)}" cy="${ink.between(150, 800).toFixed(0)}" r="${ink.between(1.5, 4.5).toFixed(1)}" fill="${light}"/>`,
        ) +
        grass(ink, 300, 808, 300, 50, 24, mid)
      );
    },
  },
};
