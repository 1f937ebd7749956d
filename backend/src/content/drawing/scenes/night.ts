import { figure, fox } from '../creatures.ts';
import { at } from '../geometry.ts';
import { even } from '../ink.ts';
import { branch, grass, lotus, lotusLeaf } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { flames, hall, lantern, roof, thread } from '../things.ts';
import { water } from '../weather.ts';

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
};
