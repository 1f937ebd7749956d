import { figure, fox } from '../creatures.ts';
import { at, loop, polygon } from '../geometry.ts';
import { tapered } from '../ink.ts';
import { leaf } from '../nature.ts';
import type { Scene } from '../scene.ts';
import { boat, thread } from '../things.ts';
import { cloud, petals, waves } from '../weather.ts';

/** More marvels: fruit, fish, books. */
export const wonderScenes: Record<string, Scene> = {
  'bai-qiulian': {
    palette: 'snow',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      return (
        ink.disc(410, 200, 96, light, 0.9) +
        ink.ridge(330, 60, mid, 0.5, 2) +
        ink.fill(
          loop([
            at(150, 560),
            at(210, 400),
            at(340, 330),
            at(470, 390),
            at(520, 470),
            at(440, 440),
            at(330, 430),
            at(250, 500),
            at(216, 600),
          ]),
          dark,
          0.95,
        ) +
        ink.fill(
          loop([at(230, 520), at(310, 432), at(430, 436), at(500, 462), at(400, 470), at(300, 500)]),
          light,
          0.85,
        ) +
        ink.fill(loop([at(320, 342), at(300, 270), at(370, 334)]), dark) +
        ink.fill(loop([at(160, 570), at(90, 600), at(60, 560), at(150, 600), at(170, 680), at(210, 590)]), dark) +
        `<circle cx="462" cy="420" r="6" fill="${light}"/>` +
        waves(ink, 640, 6, 110, '#8fa3ad', light) +
        ink.splatter(200, 620, 130, 26, light, 6) +
        boat(ink, 470, 655, 76, dark) +
        `<circle cx="486" cy="618" r="8" fill="${accent}"/>`
      );
    },
  },
  'xiao-cui': {
    palette: 'ochre',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const ball = `<circle cx="250" cy="330" r="74" fill="${accent}"/><path d="M176 330q74 -46 148 0M176 330q74 46 148 0M250 256v148" fill="none" stroke="${light}" stroke-width="7"/><circle cx="250" cy="330" r="17" fill="#e2bb6b"/>`;
      return (
        ink.blot(500, 60, 240, 110, dark, 0.7, 4) +
        ink.fill('M470 110L520 220L490 226L540 330L470 244L502 236L440 120Z', light) +
        thread(ink, [at(420, 560), at(400, 420), at(330, 350)], mid, 3) +
        ball +
        fox(ink, 320, 744, 200, dark, light) +
        ink.brush([at(70, 760), at(300, 744), at(570, 764)], 18, mid, 0.5) +
        petals(ink, 9, accent, { left: 60, top: 480, right: 260, bottom: 700 })
      );
    },
  },
  'lian-cheng': {
    palette: 'rose',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const cross = ink.repeat(18, (n) => ink.line(`M${210 + n * 16} 250V650M190 ${266 + n * 22}H520`, mid, 0.8, 0.3));
      const duck = (x: number, y: number, side: number, tone: string) =>
        ink.fill(
          loop([
            at(x - side * 70, y),
            at(x - side * 40, y - 34),
            at(x + side * 20, y - 30),
            at(x + side * 36, y - 70),
            at(x + side * 66, y - 74),
            at(x + side * 62, y - 30),
            at(x + side * 40, y + 18),
            at(x - side * 20, y + 26),
          ]),
          tone,
          0.95,
        ) +
        ink.fill(
          polygon([at(x + side * 64, y - 66), at(x + side * 90, y - 56), at(x + side * 64, y - 50)]),
          '#e0a23c',
        ) +
        `<circle cx="${x + side * 52}" cy="${y - 60}" r="4" fill="${light}"/>`;
      return (
        `<circle cx="356" cy="450" r="212" fill="${light}"/>` +
        `<clipPath id="hoop"><circle cx="356" cy="450" r="206"/></clipPath><g clip-path="url(#hoop)">${cross}</g>` +
        `<circle cx="356" cy="450" r="212" fill="none" stroke="#8a5a34" stroke-width="17"/><circle cx="356" cy="450" r="196" fill="none" stroke="#8a5a34" stroke-width="3"/>` +
        duck(300, 480, 1, '#356a63') +
        duck(430, 520, -1, accent) +
        ink.brush([at(230, 560), at(350, 572), at(480, 560)], 5, mid, 0.6) +
        thread(ink, [at(440, 470), at(540, 340), at(470, 240), at(560, 150), at(590, 60)], accent, 4) +
        ink.brush([at(540, 110), at(572, 220)], 6, dark, 1, tapered) +
        petals(ink, 6, accent, { left: 90, top: 690, right: 300, bottom: 770 })
      );
    },
  },
  'shu-chi': {
    palette: 'paper',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, mid, light, accent } = ink.tones;
      const book = (x: number, y: number, width: number, tone: string, tilt: number) =>
        `<g transform="rotate(${tilt} ${x} ${y})"><rect x="${x}" y="${y}" width="${width}" height="38" rx="3" fill="${tone}"/><rect x="${x + 6}" y="${y + 7}" width="${width - 12}" height="24" fill="${light}"/><path d="M${x + 6} ${y + 13}h${width - 12}M${x + 6} ${y + 19}h${width - 12}M${x + 6} ${y + 25}h${width - 12}" stroke="${mid}" stroke-width="1.2" stroke-opacity=".6"/></g>`;
      return (
        ink.blot(350, 330, 240, 240, '#c9a86a', 0.45, 4) +
        [
          book(210, 730, 320, '#2f4858', 0),
          book(226, 690, 290, '#7a3a2c', -1.5),
          book(206, 650, 310, '#3d5a4c', 1),
          book(236, 610, 268, '#8a6a3a', -1),
        ].join('') +
        ink.fill('M170 604Q270 540 366 596Q462 540 566 604L556 562Q462 500 366 560Q270 500 180 562Z', light) +
        ink.line('M366 560V600M180 562Q270 500 366 560Q462 500 556 562', dark, 3) +
        ink.repeat(8, (n) =>
          ink.line(
            `M${206 + n * 19} ${566 - Math.sin(n / 2.4) * 24}v20M${390 + n * 19} ${548 - Math.sin((n + 1) / 2.6) * 18}v20`,
            dark,
            2.4,
            0.45,
          ),
        ) +
        figure(ink, 366, 562, 300, '#d9c7d2', dark, accent) +
        ink.brush([at(300, 380), at(220, 300), at(260, 190)], 15, '#e8dbe2', 0.85) +
        ink.brush([at(432, 380), at(510, 330), at(490, 220)], 15, '#e8dbe2', 0.85)
      );
    },
  },
  'tou-tao': {
    palette: 'dusk',
    title: 'left',
    draw: (ink) => {
      const { ink: dark, light, accent } = ink.tones;
      const peach = (x: number, y: number, r: number) =>
        ink.fill(
          loop([
            at(x, y - r * 1.05),
            at(x + r * 0.9, y - r * 0.4),
            at(x + r * 0.8, y + r * 0.55),
            at(x, y + r * 0.95),
            at(x - r * 0.8, y + r * 0.55),
            at(x - r * 0.9, y - r * 0.4),
          ]),
          '#f0a08a',
        ) +
        ink.fill(
          loop([
            at(x + r * 0.1, y - r),
            at(x + r * 0.86, y - r * 0.4),
            at(x + r * 0.74, y + r * 0.5),
            at(x + r * 0.2, y + r * 0.3),
          ]),
          '#cf4b41',
          0.6,
        ) +
        leaf(ink, at(x, y - r * 0.9), at(x + r * 1.1, y - r * 1.3), r * 0.28, '#4d6b4a', light);
      return (
        cloud(380, 150, 110, light, 0.9) +
        cloud(240, 220, 74, light, 0.75) +
        cloud(520, 230, 76, light, 0.8) +
        peach(446, 110, 46) +
        peach(356, 92, 36) +
        peach(310, 480, 40) +
        thread(ink, [at(396, 200), at(404, 340), at(392, 480), at(400, 640), at(380, 740)], dark, 8) +
        figure(ink, 402, 430, 112, '#7d1f1c', dark, accent) +
        figure(ink, 300, 752, 200, dark, '#1a0b0c', accent) +
        `<rect x="430" y="690" width="110" height="70" rx="6" fill="#5b3325"/><path d="M430 712h110M470 690v70M505 690v70" stroke="${accent}" stroke-width="2.4" stroke-opacity=".6"/>` +
        ink.brush([at(60, 766), at(300, 756), at(570, 770)], 15, dark, 0.6)
      );
    },
  },
};
