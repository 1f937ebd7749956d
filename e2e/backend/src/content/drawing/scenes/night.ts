import { at, polygon } from '../geometry.ts';
import { even } from '../ink.ts';
import { bamboo, branch, cloud, grass, lotus, lotusLeaf, petals, rock, water } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { bird, boat, figure, flames, fox, hall, lantern, roof, thread } from '../things.ts';

/** Pictures by moon and lamp. */
export const nightScenes: Record<string, Scene> = {
  'nie-xiaoqian': {
    palette: 'night',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const poplar = branch(ink, at(92, 640), 84, 170, 17, dark, 3);
      return (
        ink.disc(210, 230, 88, light, 0.42) +
        ink.ridge(430, 120, mid, 0.55, 2.4) +
        hall(ink, 330, 392, 240, dark, accent) +
        ink.mist(570, 150, 0.22) +
        poplar.svg +
        grass(ink, 300, 700, 320, 130, 46, dark) +
        figure(ink, 248, 668, 170, light, dark) +
        [1, 2, 3].map((n) => lotusLeaf(ink, 330 + n * 74, 702 + (n % 2) * 26, 44, 90, mid)).join('') +
        lotus(ink, 446, 672, 34, light, accent)
      );
    },
  },
  'qing-feng': {
    palette: 'plum',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(420, 190, 66, light, 0.35) +
        ink.ridge(500, 120, mid, 0.5, 2) +
        hall(ink, 370, 352, 330, dark, accent) +
        roof(ink, 370, 262, 210, dark) +
        ink.mist(620, 160, 0.16) +
        grass(ink, 300, 740, 320, 170, 60, dark) +
        fox(ink, 170, 742, 140, accent, light)
      );
    },
  },
  'lian-xiang': {
    palette: 'jade',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(430, 176, 58, accent, 0.35) +
        water(ink, 330, 22, mid, 0.35) +
        lotusLeaf(ink, 160, 590, 150, 240, dark) +
        lotusLeaf(ink, 470, 646, 170, 190, mid) +
        lotusLeaf(ink, 330, 732, 120, 120, dark) +
        ink.brush([at(300, 470), at(318, 620), at(306, 800)], 9, dark, 0.9, even) +
        ink.brush([at(420, 400), at(404, 560), at(424, 760)], 8, dark, 0.9, even) +
        lotus(ink, 300, 486, 118, light, '#e7a7a0') +
        lotus(ink, 424, 404, 70, '#f0c3b8', accent)
      );
    },
  },
  'xi-fangping': {
    palette: 'ash',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const gate = `<path d="M96 660V250h40v410zM364 660V250h40v410z" fill="${dark}"/>`;
      return (
        ink.blot(250, 420, 220, 250, accent, 0.35, 4) +
        roof(ink, 250, 150, 400, dark) +
        `<rect x="76" y="262" width="348" height="34" fill="${dark}"/>` +
        gate +
        flames(ink, 800, 330, accent, '#f2b35a') +
        figure(ink, 250, 690, 250, light, dark) +
        ink.splatter(260, 500, 240, 46, '#f2b35a', 3.4) +
        ink.ridge(820, 90, dark, 0.9, 3) +
        thread(ink, [at(136, 330), at(250, 372), at(364, 330)], mid, 5)
      );
    },
  },
  'hu-jia-nv': {
    palette: 'night',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, accent } = ink.tones;
      const way = [at(468, 420), at(400, 476), at(440, 552), at(330, 604), at(360, 690), at(190, 742)];
      return (
        ink.ridge(360, 150, mid, 0.6, 2.6) +
        ink.ridge(470, 130, dark, 0.7, 2) +
        hall(ink, 440, 252, 190, dark, accent) +
        ink.mist(500, 120, 0.14) +
        grass(ink, 300, 790, 340, 150, 60, dark) +
        way.map(({ x, y }, index) => lantern(ink, x, y - 30, 17 + index * 6.5, '#d9543f')).join('')
      );
    },
  },
  'hong-yu': {
    palette: 'indigo',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light } = ink.tones;
      const plum = branch(ink, at(620, 470), 160, 150, 15, dark, 2);
      return (
        ink.disc(390, 200, 92, light, 0.6) +
        ink.mist(420, 160, 0.4) +
        figure(ink, 346, 566, 210, '#a5372f', dark, light) +
        `<rect x="0" y="520" width="600" height="300" fill="${light}"/>` +
        ink.repeat(13, (n) =>
          ink.line(`M${(n * 53) % 600} ${560 + ((n * 37) % 200)}h${30 + ((n * 17) % 50)}`, mid, 2, 0.25),
        ) +
        `<rect x="0" y="520" width="600" height="26" fill="${dark}"/>` +
        ink.repeat(16, (n) => `<path d="M${n * 40 - 10} 520a20 15 0 0 1 40 0z" fill="${dark}"/>`) +
        [0, 58].map((dx) => ink.brush([at(196 + dx, 800), at(186 + dx * 0.9, 480)], 9, dark, 0.95, even)).join('') +
        ink.repeat(6, (n) => ink.line(`M${194 - n * 1.4} ${770 - n * 48}h54`, dark, 6, 0.95)) +
        plum.svg +
        grass(ink, 420, 800, 200, 80, 26, mid)
      );
    },
  },
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
