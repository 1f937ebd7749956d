import { at } from '../geometry.ts';
import { even } from '../ink.ts';
import { blossom, branch, leaf, rosette } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { petals } from '../weather.ts';

/** Pictures of flowers. */
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
};
