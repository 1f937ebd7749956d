import { bird, cricket, figure } from '../creatures.ts';
import { at, loop } from '../geometry.ts';
import { even, tapered } from '../ink.ts';
import { branch, grass, leaf } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { boat, tower } from '../things.ts';
import { cloud, petals, waves } from '../weather.ts';

/** Pictures of marvels: masks, insects, seas. */
export const marvelScenes: Record<string, Scene> = {
  'hua-pi': {
    palette: 'paper',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, light, accent } = ink.tones;
      const half = (side: number, tone: string) =>
        ink.fill(
          `M340 170C${340 + side * 170} 170 ${340 + side * 186} 400 ${340 + side * 130} 520C${340 + side * 96} 590 ${340 + side * 40} 620 340 626Z`,
          tone,
        );
      return (
        ink.blot(350, 420, 250, 300, dark, 0.9, 4) +
        ink.splatter(330, 440, 270, 40, dark, 8) +
        half(-1, light) +
        half(1, '#4e6b57') +
        ink.brush([at(220, 340), at(262, 322), at(306, 342)], 12, dark) +
        ink.brush([at(226, 376), at(264, 362), at(304, 382)], 9, dark) +
        ink.brush([at(376, 350), at(430, 300), at(480, 318)], 22, dark) +
        `<circle cx="424" cy="380" r="20" fill="${accent}"/><circle cx="424" cy="380" r="7" fill="${dark}"/>` +
        ink.brush([at(340, 380), at(330, 440), at(346, 456)], 7, dark, 0.7) +
        ink.fill(loop([at(296, 524), at(318, 512), at(340, 518), at(340, 540), at(316, 542)]), accent) +
        ink.fill('M340 510L440 500L424 524L412 506L400 532L388 510L376 536L366 514L354 538L340 540Z', light) +
        ink.brush([at(560, 610), at(450, 690), at(330, 760)], 17, '#7a5230', 1, even) +
        ink.brush([at(346, 750), at(306, 772), at(262, 772)], 34, accent, 0.95, tapered) +
        ink.brush([at(196, 640), at(230, 560), at(214, 470)], 9, accent, 0.7)
      );
    },
  },
  'cu-zhi': {
    palette: 'celadon',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(230, 250, 130, light, 0.7) +
        grass(ink, 110, 800, 130, 560, 11, '#3f5f4c') +
        leaf(ink, at(20, 690), at(470, 560), 30, '#4d7260', light) +
        cricket(ink, dark, mid, accent) +
        grass(ink, 430, 800, 190, 150, 26, '#3f5f4c')
      );
    },
  },
  'laoshan-daoshi': {
    palette: 'indigo',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.ridge(330, 200, mid, 0.5, 2) +
        ink.disc(230, 330, 150, light, 0.75) +
        `<circle cx="230" cy="330" r="150" fill="none" stroke="${mid}" stroke-width="2" stroke-dasharray="3 9"/>` +
        figure(ink, 236, 448, 190, '#dbe5ea', dark, accent) +
        ink.brush([at(186, 330), at(130, 300), at(120, 240)], 13, light, 0.9) +
        ink.mist(560, 130, 0.55) +
        figure(ink, 400, 730, 190, dark, '#e8ecec', accent) +
        figure(ink, 120, 740, 170, '#38506a', dark, light) +
        `<rect x="196" y="690" width="140" height="16" rx="4" fill="${dark}"/><path d="M214 706v60M318 706v60" stroke="${dark}" stroke-width="9"/>` +
        `<ellipse cx="250" cy="682" rx="15" ry="10" fill="${accent}"/>` +
        grass(ink, 300, 806, 300, 40, 20, dark)
      );
    },
  },
  'luocha-haishi': {
    palette: 'dusk',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(400, 210, 96, accent, 0.6) +
        tower(ink, 400, 236, 170, 4, mid, accent) +
        tower(ink, 250, 372, 110, 3, dark, accent) +
        tower(ink, 530, 360, 110, 3, dark, accent) +
        cloud(250, 540, 70, light, 0.75) +
        cloud(500, 556, 84, light, 0.75) +
        waves(ink, 640, 6, 96, '#7e2f2b', light) +
        boat(ink, 180, 650, 84, dark) +
        bird(ink, 220, 190, 24, dark) +
        bird(ink, 270, 150, 18, dark)
      );
    },
  },
  'a-bao': {
    palette: 'rose',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, light, accent } = ink.tones;
      const bough = branch(ink, at(-20, 520), 8, 220, 22, dark, 2);
      const feather = (n: number) =>
        ink.brush(
          [at(250 + n * 7, 450), at(226 + n * 12, 600), at(196 + n * 16, 742)],
          19,
          n % 2 ? '#2f6b4f' : '#3d8564',
          0.95,
          tapered,
        );
      return (
        ink.disc(300, 310, 170, light, 0.7) +
        bough.svg +
        [0, 1, 2].map(feather).join('') +
        ink.fill(
          loop([
            at(226, 300),
            at(262, 226),
            at(330, 220),
            at(364, 278),
            at(346, 380),
            at(300, 480),
            at(238, 486),
            at(218, 400),
          ]),
          '#3d8564',
        ) +
        ink.fill(loop([at(226, 330), at(290, 330), at(300, 420), at(256, 500), at(224, 440)]), '#245541') +
        ink.fill(loop([at(262, 236), at(318, 214), at(356, 250), at(340, 296), at(286, 300)]), accent) +
        ink.fill('M346 240Q396 250 382 306Q372 330 360 306Q352 284 340 282Z', '#e0a23c') +
        `<circle cx="322" cy="252" r="11" fill="${light}"/><circle cx="324" cy="253" r="5" fill="${dark}"/>` +
        [at(262, 494), at(290, 492)]
          .map((p) => ink.brush([p, at(p.x + 6, p.y + 28), at(p.x - 8, p.y + 34)], 9, '#8a5f17'))
          .join('') +
        petals(ink, 18, accent, { left: 300, top: 520, right: 580, bottom: 780 })
      );
    },
  },
  'zhong-li': {
    palette: 'paper',
    title: 'right',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const tree = branch(ink, at(270, 720), 92, 170, 34, dark, 3);
      const pear = (x: number, y: number) =>
        ink.fill(
          loop([
            at(x, y - 30),
            at(x + 13, y - 6),
            at(x + 22, y + 20),
            at(x, y + 36),
            at(x - 22, y + 20),
            at(x - 13, y - 6),
          ]),
          '#d9a83c',
          0.96,
        ) + ink.line(`M${x} ${y - 30}q2 -12 8 -18`, dark, 3.5);
      return (
        ink.blot(270, 300, 250, 220, '#8fa67f', 0.5, 4) +
        tree.svg +
        tree.tips
          .map((tip, index) => (index % 2 ? '' : leaf(ink, tip, at(tip.x + 34, tip.y + 14), 13, '#5f7d56', light)))
          .join('') +
        tree.tips
          .filter((_, index) => index % 5 === 0)
          .map((tip) => pear(tip.x, tip.y + 34))
          .join('') +
        pear(470, 742) +
        ink.brush([at(60, 742), at(300, 726), at(560, 748)], 15, mid, 0.5) +
        figure(ink, 440, 728, 150, '#8c6f4d', dark, accent) +
        grass(ink, 200, 770, 200, 40, 22, mid)
      );
    },
  },
};
