import { at } from '../geometry.ts';
import { even } from '../ink.ts';
import { bamboo, blossom, branch, cloud, grass, leaf, lotus, lotusLeaf, petals, rosette, water } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { figure, hall } from '../things.ts';

/** Pictures of flowers, leaves and gardens. */
export const flowerScenes: Record<string, Scene> = {
  'ying-ning': {
    palette: 'rose',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, light, accent } = ink.tones;
      const trunk = branch(ink, at(560, 830), 112, 230, 34, dark, 3);
      const flowers = trunk.tips.flatMap((tip) => [
        tip,
        at(tip.x + ink.between(-26, 26), tip.y + ink.between(-26, 26)),
      ]);
      return (
        ink.disc(250, 250, 120, light, 0.8) +
        trunk.svg +
        flowers
          .map((tip, index) =>
            blossom(ink, tip, ink.between(13, 23), index % 3 ? '#d4574e' : light, index % 3 ? '#f6d58a' : accent),
          )
          .join('') +
        petals(ink, 26, '#d4574e', { left: 30, top: 430, right: 520, bottom: 790 })
      );
    },
  },
  'xiang-yu': {
    palette: 'celadon',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.blot(350, 400, 270, 290, mid, 0.4, 4) +
        ink.brush([at(320, 800), at(340, 640), at(356, 480)], 15, dark, 0.9, even) +
        ink.brush([at(330, 720), at(440, 650), at(500, 590)], 9, dark, 0.9) +
        leaf(ink, at(334, 690), at(150, 640), 36, dark, light) +
        leaf(ink, at(336, 660), at(220, 560), 28, mid, light) +
        leaf(ink, at(344, 640), at(520, 700), 34, dark, light) +
        leaf(ink, at(326, 750), at(200, 790), 30, mid, light) +
        rosette(ink, at(356, 400), 200, 11, 0.36, light, '#eef0e2') +
        ink.blot(356, 396, 28, 24, '#e7c75c', 1, 3) +
        rosette(ink, at(508, 576), 62, 9, 0.36, accent, '#8e2a23') +
        petals(ink, 7, light, { left: 60, top: 640, right: 260, bottom: 780 })
      );
    },
  },
  'ge-jin': {
    palette: 'violet',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.blot(330, 470, 280, 260, mid, 0.3, 4) +
        ink.brush([at(300, 810), at(320, 690), at(370, 560)], 15, dark, 0.9, even) +
        ink.brush([at(306, 760), at(220, 690), at(180, 640)], 10, dark, 0.9) +
        leaf(ink, at(330, 680), at(530, 740), 40, '#4c6a5c', light) +
        leaf(ink, at(310, 740), at(440, 800), 28, '#3c574b', light) +
        leaf(ink, at(240, 700), at(60, 720), 32, '#4c6a5c', light) +
        rosette(ink, at(380, 420), 190, 12, 0.34, accent, '#54204f') +
        ink.blot(380, 414, 24, 20, '#e7c75c', 1, 3) +
        rosette(ink, at(172, 612), 96, 10, 0.34, light, '#e6d6e4') +
        ink.blot(172, 610, 13, 11, '#e7c75c', 1, 2) +
        petals(ink, 10, accent, { left: 330, top: 640, right: 560, bottom: 790 })
      );
    },
  },
  'huang-ying': {
    palette: 'ochre',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const stems = [at(370, 330), at(468, 480), at(276, 520)];
      return (
        ink.disc(440, 200, 110, light, 0.6) +
        stems
          .map(({ x, y }) => ink.brush([at(x, y), at(x - 20, (y + 700) / 2), at(340, 700)], 9, '#3e4a33', 0.95, even))
          .join('') +
        [at(330, 470), at(420, 560), at(300, 610), at(372, 600)]
          .map((p, index) => leaf(ink, p, at(p.x + (index % 2 ? 92 : -96), p.y + 16), 22, '#4d5b3d', light))
          .join('') +
        rosette(ink, at(370, 322), 132, 24, 0.13, '#e3a92f', '#b9761b') +
        rosette(ink, at(474, 478), 92, 22, 0.13, light, '#f0dda6') +
        rosette(ink, at(270, 518), 84, 22, 0.13, accent, '#7a2018') +
        `<path d="M250 640q90 -26 184 0q40 70 6 150h-196q-34 -80 6 -150z" fill="${dark}"/><ellipse cx="342" cy="640" rx="92" ry="19" fill="${mid}"/>` +
        `<rect x="318" y="690" width="50" height="50" fill="${accent}" transform="rotate(45 343 715)"/>`
      );
    },
  },
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
