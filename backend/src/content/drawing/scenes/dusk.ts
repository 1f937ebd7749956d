import { bird, figure } from '../creatures.ts';
import { at, polygon } from '../geometry.ts';
import { bamboo, grass } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { boat, lantern, thread } from '../things.ts';
import { cloud, petals, rock, water } from '../weather.ts';

/** More pictures by moon and lamp. */
export const duskScenes: Record<string, Scene> = {
  'wang-liulang': {
    palette: 'night',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(180, 190, 54, light, 0.4) +
        ink.ridge(360, 90, mid, 0.5, 2.2) +
        ink.ridge(410, 70, dark, 0.5, 3) +
        water(ink, 450, 18, light, 0.16) +
        `<ellipse cx="180" cy="570" rx="34" ry="86" fill="${light}" fill-opacity=".13"/>` +
        boat(ink, 330, 590, 150, dark) +
        lantern(ink, 438, 520, 24, accent) +
        thread(ink, [at(210, 560), at(196, 470), at(226, 410)], dark, 5) +
        grass(ink, 80, 800, 130, 290, 26, dark) +
        grass(ink, 560, 800, 90, 210, 18, dark)
      );
    },
  },
  'lu-pan': {
    palette: 'ash',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, light, accent } = ink.tones;
      const beard = ink.repeat(46, () => {
        const side = ink.between(-1, 1);
        const tip = at(360 + side * 170, 740 - Math.abs(side) * 150 + ink.between(-40, 30));
        const root = at(360 + side * 100, 440 - Math.abs(side) * 70);
        return ink.brush([root, at(360 + side * ink.between(120, 150), 570), tip], ink.between(12, 22), accent, 0.8);
      });
      const both = (draw: (side: number) => string) => draw(-1) + draw(1);
      return (
        `<circle cx="360" cy="400" r="330" fill="${ink.glow('#d99a4a', 0.5)}"/>` +
        ink.blot(360, 810, 330, 200, dark, 1.6, 3) +
        ink.blot(360, 366, 126, 156, '#3f6a58', 2.2, 3) +
        `<path d="M222 286Q360 176 498 286L486 318Q360 262 234 318Z" fill="${dark}"/><path d="M286 256v-70q74 -50 148 0v70z" fill="${dark}"/>` +
        both((side) =>
          ink.brush([at(360 + side * 128, 268), at(360 + side * 190, 240), at(360 + side * 236, 262)], 28, dark),
        ) +
        both((side) =>
          ink.brush([at(360 + side * 22, 362), at(360 + side * 60, 322), at(360 + side * 108, 330)], 20, dark),
        ) +
        both(
          (side) =>
            `<circle cx="${360 + side * 58}" cy="370" r="16" fill="${light}"/><circle cx="${360 + side * 54}" cy="372" r="7" fill="${dark}"/>`,
        ) +
        ink.brush([at(360, 366), at(346, 412), at(374, 424)], 13, dark, 0.7) +
        beard
      );
    },
  },
  'zhu-qing': {
    palette: 'indigo',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const flock = [
        at(300, 250),
        at(388, 206),
        at(462, 262),
        at(226, 330),
        at(350, 330),
        at(520, 170),
        at(440, 360),
        at(284, 420),
      ];
      return (
        ink.disc(400, 280, 120, accent, 0.25) +
        ink.ridge(520, 120, mid, 0.6, 2.2) +
        ink.mist(560, 140, 0.6) +
        water(ink, 620, 9, dark, 0.3) +
        boat(ink, 150, 660, 90, dark) +
        flock.map(({ x, y }, index) => bird(ink, x, y, 30 + (index % 3) * 14, dark)).join('') +
        bird(ink, 372, 540, 76, dark) +
        `<circle cx="374" cy="530" r="4" fill="${light}"/>`
      );
    },
  },
  'xin-shisiniang': {
    palette: 'dusk',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(420, 230, 74, accent, 0.55) +
        ink.ridge(400, 140, mid, 0.6, 2) +
        ink.ridge(520, 120, dark, 0.45, 3) +
        ink.mist(590, 160, 0.5) +
        bamboo(ink, 540, 250, 820, dark) +
        bamboo(ink, 486, 360, 820, mid) +
        figure(ink, 270, 710, 260, '#8d1f22', dark, light) +
        grass(ink, 280, 780, 300, 70, 44, dark)
      );
    },
  },
  'shi-qingxu': {
    palette: 'snow',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light } = ink.tones;
      const holes = [at(330, 470), at(384, 380), at(312, 340), at(366, 560), at(420, 500)];
      const vapour = [at(330, 210), at(250, 150), at(420, 140), at(360, 84)]
        .map(({ x, y }, index) => cloud(x, y, 62 - index * 8, light, 0.75))
        .join('');
      return (
        ink.blot(360, 300, 240, 210, mid, 0.35, 4) +
        rock(ink, 350, 690, 300, 440, dark) +
        holes
          .map(({ x, y }) => `<ellipse cx="${x}" cy="${y}" rx="17" ry="23" fill="${light}" fill-opacity=".85"/>`)
          .join('') +
        vapour +
        ink.fill(polygon([at(150, 690), at(550, 690), at(510, 742), at(190, 742)]), '#5a3527') +
        `<path d="M196 742h34l-14 40h-28zM470 742h34l8 40h-28z" fill="#5a3527"/>` +
        petals(ink, 5, mid, { left: 60, top: 500, right: 180, bottom: 700 })
      );
    },
  },
};
